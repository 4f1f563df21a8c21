"""Caches and backups on disk: where they are, how large they are, and how large they may become.

A limit that a user has chosen stands in a small file beside the caches, so that the window, the
command line and the workers of campaigns keep the same one.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from engine.files import replacing


def read_kept(path: Path) -> bytes | None:
    """The contents of a file, which counts as used now; None if the file does not exist."""
    try:
        data = path.read_bytes()
        with contextlib.suppress(PermissionError):  # a folder of another user can still be read
            path.touch()
    except FileNotFoundError:
        return None
    return data


def keep(path: Path, data: bytes, max_bytes: int) -> None:
    """Write a file and remove others until its folder is small enough; OSError if that fails."""
    if len(data) > max_bytes:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        part.stream.write(data)
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
    """Return when each file was last used, and how large it is."""
    entries = []
    with contextlib.suppress(FileNotFoundError):  # there is no folder yet
        for path in folder.iterdir():
            with contextlib.suppress(FileNotFoundError):  # another process shrinks it too
                status = path.stat()
                entries.append((status.st_mtime, status.st_size, path))
    return entries


FOLDER_VARIABLE = "PLUMBLINE_CACHE_DIR"
BACKUP_VARIABLE = "PLUMBLINE_BACKUP_DIR"
DEFAULT_MEGABYTES = 500
MAX_MEGABYTES = 10**6
_LIMITS = "limits.json"


def cache_folder() -> Path:
    """Return the folder for what Plumbline can compute again."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen or platformdirs.user_cache_dir("plumbline", appauthor=False))


def backup_folder() -> Path:
    """Return the folder for copies of workspaces."""
    chosen = os.environ.get(BACKUP_VARIABLE)
    data = Path(platformdirs.user_data_dir("plumbline", appauthor=False))
    return Path(chosen) if chosen else data / "backups"


@dataclass(frozen=True, slots=True)
class DiskCache:
    name: str
    holds: str  # in words
    place: Callable[[], Path] | None = None  # default: a folder of its name beside other caches

    @property
    def folder(self) -> Path:
        return self.place() if self.place else cache_folder() / self.name

    def size(self) -> int:
        """Bytes of all its files."""
        return size_of(self.folder)

    def limit_megabytes(self) -> int:
        limit = _limits().get(self.name)
        if type(limit) is int and 0 <= limit <= MAX_MEGABYTES:
            return limit
        return DEFAULT_MEGABYTES

    def max_bytes(self) -> int:
        return self.limit_megabytes() * 1_000_000

    def set_limit(self, megabytes: int) -> None:
        """Set the limit and remove what exceeds it at once; OSError if it cannot be written."""
        path = cache_folder() / _LIMITS
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part:
            part.stream.write(json.dumps({**_limits(), self.name: megabytes}).encode())
        shrink(self.folder, self.max_bytes())

    def clear(self) -> None:
        shrink(self.folder, 0)


TRANSLATIONS = DiskCache("translations", "translated tasks")
DOMINANCE = DiskCache("dominance", "dominance functions")
BACKUPS = DiskCache("backups", "backups of workspaces", backup_folder)
DISK_CACHES = (TRANSLATIONS, DOMINANCE, BACKUPS)


def _limits() -> dict[str, object]:
    with contextlib.suppress(OSError, ValueError, RecursionError):
        limits = json.loads((cache_folder() / _LIMITS).read_text(encoding="utf-8"))
        if isinstance(limits, dict):
            return limits
    return {}
