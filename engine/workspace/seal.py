"""Remembers that a large workspace was checked, so that it is not checked at every opening.

To check gigabytes takes many seconds. A seal stands in a file of the user's own, beside the
caches, and says which file it was (device and number), how large, and when it was changed, by the
clock that only the system sets (`st_ctime`). It holds until anybody changes anything; whoever has
opened a file with a seal, or checked it, and is the only one to write to it, seals it anew in the
end. A file that was downloaded, copied or unpacked has none.
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
    """That it cannot be remembered keeps nobody from working."""
    with suppress(OSError):
        keep(_file(place), _text(status), MAX_BYTES)


def _file(place: Path) -> Path:
    name = hashlib.sha256(os.fsencode(place)).hexdigest()[:32]
    return cache_folder() / "checked" / f"{name}.json"


def _text(status: os.stat_result) -> bytes:
    number = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    return json.dumps(number).encode()
