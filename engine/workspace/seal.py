"""Remembers that a large workspace was checked, so that it is not checked at every opening.

Checking gigabytes takes many seconds. A seal is a file in the user's cache folder. It identifies
the workspace by device and inode, and records its size and its time of change (`st_ctime`, which
only the system sets), so any change breaks it. A process that opened a sealed file, or checked it,
and was the only writer seals it again at the end. A copied or downloaded file has no seal.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path

from engine.caches import cache_folder, keep, read_kept

LARGE_BYTES = 64 * 2**20
"""Files that are smaller are always checked: that takes less than half a second."""
MAX_BYTES = 2**20  # of all seals


def is_large(status: os.stat_result) -> bool:
    return status.st_size > LARGE_BYTES


def is_sealed(place: Path, status: os.stat_result) -> bool:
    """Whether this very file was checked and has not been changed since."""
    try:
        return read_kept(_file(place)) == _text(status)
    except OSError:
        return False


def seal(place: Path, status: os.stat_result) -> None:
    """Remember that the file was checked; if that fails, it is checked again next time."""
    with suppress(OSError):
        keep(_file(place), _text(status), MAX_BYTES)


def _file(place: Path) -> Path:
    name = hashlib.sha256(os.fsencode(place)).hexdigest()[:32]
    return cache_folder() / "checked" / f"{name}.json"


def _text(status: os.stat_result) -> bytes:
    number = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    return json.dumps(number).encode()
