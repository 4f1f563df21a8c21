"""Who opens a file, told by the system: also code that is not Python."""

from __future__ import annotations

import ctypes
import os
import struct
from pathlib import Path

_OPEN = 0x20  # IN_OPEN of sys/inotify.h


class Opened:
    """Counts how often a file is opened, by any process."""

    def __init__(self, path: Path) -> None:
        library = ctypes.CDLL(None, use_errno=True)
        self._descriptor = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        watch = library.inotify_add_watch(self._descriptor, os.fsencode(path), _OPEN)
        assert self._descriptor >= 0
        assert watch >= 0

    def count(self) -> int:
        """Since it was asked last."""
        found = 0
        while True:
            try:
                data = os.read(self._descriptor, 65536)
            except BlockingIOError:
                return found
            position = 0
            while position < len(data):
                _, _, _, length = struct.unpack_from("iIII", data, position)
                position += 16 + length
                found += 1

    def close(self) -> None:
        os.close(self._descriptor)


def locks(path: Path) -> set[str]:
    """The kinds of locks that there are on a file, by any process."""
    number = f":{path.stat().st_ino} "
    lines = Path("/proc/locks").read_text().splitlines()
    return {line.split()[1] for line in lines if number in line}
