"""Keeping a workspace while a campaign writes to it: still ours, and still where it was.

A file that is deleted, moved or replaced lives on without its name as long as it is open, and all
that is written to it would be gone afterwards. So that is noticed, and the contents are saved.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from engine.errors import Location, WorkspaceError
from engine.workspace.backup import copy_workspace
from engine.workspace.lock import HEARTBEAT_SECONDS
from engine.workspace.workspace import Workspace

LAST_RESORT = Path("/var/tmp")
"""Not the folder for temporary files: ours ends with the process."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """A file as it was at the last look."""

    device: int
    number: int
    size: int

    @classmethod
    def of(cls, path: Path) -> _Seen | None:
        try:
            status = path.stat()
        except OSError:
            return None
        return cls(status.st_dev, status.st_ino, status.st_size)

    def is_same_as(self, other: _Seen | None) -> bool:
        return other is not None and (self.device, self.number) == (other.device, other.number)


class WorkspaceWatch:
    """To be asked to look often; it does so every few seconds."""

    def __init__(self, store: Workspace) -> None:
        self._store = store
        self._path = store.path.resolve()
        # What was written last is in the write-ahead log, and nowhere else.
        self._files = (self._path, self._path.with_name(f"{self._path.name}-wal"))
        self._seen = {file: _Seen.of(file) for file in self._files}
        self._next = 0.0

    def look(self) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + HEARTBEAT_SECONDS
            self._store.apply([])  # others see that we are there even if nothing happens
            self.refuse_loss()

    def refuse_loss(self) -> None:
        for file in self._files:
            before, now = self._seen[file], _Seen.of(file)
            if before is not None and not before.is_same_as(now):
                raise self._loss()
            if before is not None and now is not None and now.size < before.size:
                self._refuse_cut()
            self._seen[file] = now

    def _loss(self) -> WorkspaceError:
        rescued = self._rescue()
        return WorkspaceError(
            "the file was deleted, moved or replaced while the campaign was writing to it",
            Location.of(self._path),
            f"what was found is in {rescued}" if rescued else "see that the disk is still there",
        )

    def _refuse_cut(self) -> None:
        """SQLite would not notice before it reads what is missing."""
        try:
            (verdict,) = self._store.connection.execute("PRAGMA quick_check(1)").fetchone()
        except sqlite3.DatabaseError:
            verdict = ""
        if verdict != "ok":
            raise WorkspaceError(
                "another program has cut the file while the campaign was writing to it",
                Location.of(self._path),
                "take a copy from before",
            )

    def _rescue(self) -> Path | None:
        """A copy in the first place that takes one."""
        for folder in self._folders():
            with suppress(WorkspaceError, OSError):  # nobody may even look there
                if folder.is_dir():
                    path = self._free_name(folder)
                    copy_workspace(self._store.connection, path)
                    return path
        return None

    def _free_name(self, folder: Path) -> Path:
        name = f"{self._path.stem}-rescued"
        path = folder / f"{name}{self._path.suffix}"
        number = 2
        while path.exists():
            path = folder / f"{name}-{number}{self._path.suffix}"
            number += 1
        return path

    def _folders(self) -> Iterator[Path]:
        yield self._path.parent
        with suppress(RuntimeError):  # not every user has a home
            yield Path.home()
        yield LAST_RESORT
