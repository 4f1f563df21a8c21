"""Keeping a workspace while a campaign writes to it: still ours, and still where it was.

A file that is deleted, moved or replaced lives on without its name as long as it is open, and all
that is written to it would be gone afterwards. So that is noticed, and the contents are saved.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from engine.campaign.store import Store
from engine.campaign.workspace_copy import copy_workspace
from engine.campaign.writer import HEARTBEAT_SECONDS
from engine.errors import Location, WorkspaceError

Identity = tuple[int, int]


def file_identity(path: Path) -> Identity | None:
    """What stays the same as long as it is the same file; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


class Keeper:
    """To be asked to look often; it does so every few seconds."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._path = store.path.resolve()
        self._identity = file_identity(self._path)
        self._next = 0.0

    def look(self) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + HEARTBEAT_SECONDS
            self._store.apply([])  # others see that we are there even if nothing happens
            self.refuse_loss()

    def refuse_loss(self) -> None:
        if file_identity(self._path) == self._identity:
            return
        rescued = self._rescue()
        hint = f"what was found is in {rescued}" if rescued else "see that the disk is still there"
        raise WorkspaceError(
            "the file was deleted, moved or replaced while the campaign was writing to it",
            Location.of(self._path),
            hint,
        )

    def _rescue(self) -> Path | None:
        """A copy in the first place that takes one."""
        for path in self._places():
            with suppress(WorkspaceError, OSError):
                copy_workspace(self._store.connection, path)
                return path
        return None

    def _places(self) -> Iterator[Path]:
        for folder in (self._path.parent, Path.home(), Path(tempfile.gettempdir())):
            name = f"{self._path.stem}-rescued"
            path = folder / f"{name}{self._path.suffix}"
            number = 2
            while path.exists():
                path = folder / f"{name}-{number}{self._path.suffix}"
                number += 1
            if folder.is_dir():
                yield path
