"""Folders of files that can be made again: bounded, and those not used for longest go first.

Files appear by rename, so that nobody ever reads half of one; another process may read, write and
remove at the same time.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def read_kept(path: Path) -> bytes | None:
    """The contents of a file, which counts as used now; None if there is no such file."""
    try:
        data = path.read_bytes()
        with contextlib.suppress(PermissionError):  # somebody else's folder can still be read
            path.touch()
    except FileNotFoundError:
        return None
    return data


def keep(path: Path, data: bytes, max_bytes: int) -> None:
    """Write a file and remove others until its folder is small enough; OSError if that fails."""
    if len(data) > max_bytes:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with open(handle, "wb") as stream:
            stream.write(data)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    shrink(path.parent, max_bytes)


def size_of(folder: Path) -> int:
    """Bytes of all files of a folder."""
    return sum(size for _, size, _ in _entries(folder))


def shrink(folder: Path, max_bytes: int) -> None:
    """Remove files until the folder is small enough."""
    entries = _entries(folder)
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= max_bytes:
            return
        path.unlink(missing_ok=True)
        total -= size


def _entries(folder: Path) -> list[tuple[float, int, Path]]:
    """When each file was used last, and how large it is."""
    entries = []
    with contextlib.suppress(FileNotFoundError):  # there is no folder yet
        for path in folder.iterdir():
            with contextlib.suppress(FileNotFoundError):  # another process shrinks it too
                status = path.stat()
                entries.append((status.st_mtime, status.st_size, path))
    return entries
