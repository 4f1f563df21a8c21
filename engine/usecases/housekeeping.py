"""Copies workspaces, restores backups of them, and keeps caches within their limits."""

from __future__ import annotations

import os
from pathlib import Path

from engine.caches import DISK_CACHES
from engine.errors import CancelledError, PlumblineError, UsageError
from engine.workers.link import Link
from engine.workspace.backup import Backup, free_place
from engine.workspace.workspace import Workspace

MEGABYTE = 2**20


def save_copy(link: Link, workspace: Path, path: Path) -> Path:
    def tell(done: int, total: int) -> None:
        if link.cancelled():
            raise CancelledError
        link.progress(done, total, f"{done // MEGABYTE:,} of {total // MEGABYTE:,} MB")

    with Workspace.open(workspace) as store:
        store.save_copy(path, tell)
    return path


def restore_backup(link: Link, backup: Backup, path: Path | None = None) -> Path:
    """Save a backup under a name that is free, by default where the workspace was."""
    place = path or free_place(backup)
    if os.path.exists(place):
        raise UsageError(f"{place} already exists", hint="choose another name")
    return save_copy(link, backup.file, place)


Sizes = tuple[int, ...]
"""Bytes of every cache, in their order."""


def measure_caches(link: Link) -> Sizes:
    del link
    return tuple(cache.size() for cache in DISK_CACHES)


def limit_caches(link: Link, megabytes: tuple[int, ...]) -> Sizes:
    """Set the limits of caches, and remove what exceeds them at once."""
    try:
        for cache, limit in zip(DISK_CACHES, megabytes, strict=True):
            if limit != cache.limit_megabytes():
                cache.set_limit(limit)
    except OSError as error:
        raise PlumblineError(f"cannot save the limit: {error.strerror}") from error
    return measure_caches(link)


def clear_cache(link: Link, number: int) -> Sizes:
    try:
        DISK_CACHES[number].clear()
    except OSError as error:
        raise PlumblineError(f"cannot clear the cache: {error.strerror}") from error
    return measure_caches(link)
