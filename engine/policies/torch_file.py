"""Policy files from strangers: what they are, and how to load them without running anything.

A torch file is a pickle and could run any program when it is read; only tensors and plain values
are ever accepted from one.
"""

from __future__ import annotations

import ctypes
import pickle
import sys
from enum import Enum
from pathlib import Path
from typing import Any

from engine.errors import Location, PolicyError
from engine.policies.cache_file import is_policy_cache

_SQLITE_START = b"SQLite format 3\x00"
_ZIP_START = b"PK\x03\x04"
_BEGINNING = 2**16
SUFFIXES = (".policy", ".ckpt", ".pt")


class Format(Enum):
    SQLITE = "SQLite"
    CACHE = "policy cache"
    TORCH = "torch"


def recognize(path: Path) -> Format:
    """What kind of file a policy is, told by its first bytes."""
    if path.is_dir():
        raise PolicyError(
            "a directory of checkpoints is a portfolio, not one policy",
            Location.of(path),
            "name one of its files" if portfolio_files(path) else "it has no policy files",
        )
    if path.exists() and not path.is_file():  # a pipe could make us wait for ever
        raise PolicyError("this is not a regular file", Location.of(path), "name a policy file")
    try:
        with path.open("rb") as file:
            start = file.read(_BEGINNING)
    except OSError as error:
        raise PolicyError(
            f"the policy cannot be read: {error.strerror or error}", Location.of(path)
        ) from error
    if start.startswith(_SQLITE_START):
        return Format.SQLITE
    if start.startswith(_ZIP_START):
        return Format.TORCH
    if is_policy_cache(start):
        return Format.CACHE
    raise PolicyError(
        "this is not a policy file",
        Location.of(path),
        "give a .policy file of cpddl, a .ckpt of a GNN, a .pt of Plumbline, or a policy cache",
    )


def portfolio_files(folder: Path) -> list[Path]:
    """The policy files of a directory, by name."""
    try:
        return sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES)
    except OSError as error:
        reason = error.strerror or error
        raise PolicyError(f"the folder cannot be read: {reason}", Location.of(folder)) from error


def load_checkpoint(path: Path) -> dict[str, Any]:
    """The contents of a torch file: tensors and plain values only."""
    import torch

    try:
        contents = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise PolicyError(
            "the file holds more than weights and was not loaded: reading it could run a program",
            Location.of(path),
            "save it again as a state_dict of tensors",
        ) from error
    except (RuntimeError, OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise PolicyError(
            "the file is damaged or not a torch checkpoint",
            Location.of(path),
            "copy it again from where it came",
        ) from error
    if not isinstance(contents, dict):
        raise PolicyError("the file holds no checkpoint", Location.of(path))
    return contents


_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # of glibc's malloc.h
_KEPT_BYTES = 2**28
_LARGEST_ON_HEAP = 2**25


def prepare_torch() -> None:
    """One thread: more are slower on matrices as small as a policy's. And kept memory: a pass
    allocates and frees the same megabytes again and again, and giving them back to the system
    each time costs a third of it.
    """
    import torch

    torch.set_num_threads(1)
    if sys.platform == "linux":
        change = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries have none
        if change is not None:
            change(_M_TRIM_THRESHOLD, _KEPT_BYTES)
            change(_M_MMAP_THRESHOLD, _LARGEST_ON_HEAP)
