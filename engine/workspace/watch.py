"""Watches a workspace while a campaign writes to it: still ours, and still where it was.

A file that is deleted, moved or replaced lives on without its name as long as it is open, and all
that is written to it would be gone afterwards. So that is noticed, and the contents are saved.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from engine.errors import Location, WorkspaceError
from engine.workspace.backup import copy_workspace
from engine.workspace.connection import RESTORE, Connection, WorkspaceLostError

LAST_RESORT = Path("/var/tmp")
"""Not the folder for temporary files: ours ends with the process."""


class WorkspaceWatch:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._size = 0

    def look(self) -> None:
        """Raise an error if the file is lost; its contents are saved elsewhere then."""
        try:
            self._connection.refuse_loss()
        except WorkspaceLostError as error:
            raise self.rescued(error) from None
        size = self._connection.size
        if size < self._size:
            self._refuse_cut()
        self._size = size

    def rescued(self, error: WorkspaceLostError) -> WorkspaceError:
        """The same error, after the contents were saved."""
        for folder in self._folders():
            with suppress(WorkspaceError, OSError):  # that folder may be closed to us
                if folder.is_dir():
                    path = self._free_name(folder)
                    copy_workspace(self._connection, path)
                    return WorkspaceError(
                        str(error.message), error.location, f"what was found is in {path}"
                    )
        return WorkspaceError(
            str(error.message), error.location, "check that the disk is still mounted"
        )

    def _refuse_cut(self) -> None:
        """SQLite would not notice before it reads what is missing."""
        try:
            ((verdict,),) = self._connection.rows("PRAGMA quick_check(1)")
        except WorkspaceError:
            verdict = ""
        if verdict != "ok":
            raise WorkspaceError(
                "another program has cut the file while the campaign was writing to it",
                Location.of(self._connection.path),
                RESTORE,
            )

    def _free_name(self, folder: Path) -> Path:
        place = self._connection.place
        name = f"{place.stem}-rescued"
        path = folder / f"{name}{place.suffix}"
        number = 2
        while path.exists():
            path = folder / f"{name}-{number}{place.suffix}"
            number += 1
        return path

    def _folders(self) -> Iterator[Path]:
        yield self._connection.place.parent
        with suppress(RuntimeError):  # not every user has a home
            yield Path.home()
        yield LAST_RESORT
