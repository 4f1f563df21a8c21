"""Untrusted torch files, loaded without running anything.

A torch file holds a pickle, which could run any program when Python reads it; `torch_archive.py`
takes only tensors and plain values from one.
"""

from __future__ import annotations

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
