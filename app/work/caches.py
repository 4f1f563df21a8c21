"""Looks after the caches on disk in the worker process: folders may be large, and disks slow."""

from __future__ import annotations

from app.work.link import Link
from engine.errors import PlumblineError
from engine.task.disk_caches import DISK_CACHES

Sizes = tuple[int, ...]
"""Bytes of every cache, in their order."""


def measure_caches(link: Link) -> Sizes:
    del link
    return tuple(cache.size() for cache in DISK_CACHES)


def limit_caches(link: Link, megabytes: tuple[int, ...]) -> Sizes:
    """Other limits; what is too much goes at once."""
    try:
        for cache, limit in zip(DISK_CACHES, megabytes, strict=True):
            if limit != cache.limit_megabytes():
                cache.set_limit(limit)
    except OSError as error:
        raise PlumblineError(f"the limit cannot be kept: {error.strerror}") from error
    return measure_caches(link)


def clear_cache(link: Link, number: int) -> Sizes:
    try:
        DISK_CACHES[number].clear()
    except OSError as error:
        raise PlumblineError(f"the cache cannot be cleared: {error.strerror}") from error
    return measure_caches(link)
