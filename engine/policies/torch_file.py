"""Torch files from strangers, loaded without running anything.

A torch file holds a pickle, which could run any program when Python reads it; `torch_archive.py`
takes only tensors and plain values from one.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

from engine.errors import Location, PolicyError
from engine.files import read_bytes

ZIP_START = b"PK\x03\x04"
"""How a torch file begins."""


def load_checkpoint(path: Path) -> dict[str, Any]:
    """The contents of a torch file: tensors and plain values only."""
    from engine.policies.torch_archive import DamagedArchiveError, ForeignCodeError, read_archive

    try:
        contents = read_archive(read_bytes(path, "a torch checkpoint"))
    except ForeignCodeError as error:
        raise PolicyError(
            "the file holds more than weights and was not loaded: reading it could run a program",
            Location.of(path),
            "save it again as a state_dict of tensors",
        ) from error
    except DamagedArchiveError as error:
        raise PolicyError(
            f"the file is damaged or not a torch checkpoint ({error})",
            Location.of(path),
            "copy it again from its source",
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
