"""Whole copies of a workspace: backups, and what is rescued of a file that was lost.

A process makes a backup before it first changes a workspace and every ten minutes while it changes
it, unless there is one that young. Backups have a folder of their own with a limit
(`engine/caches.py`). A name tells the workspace, by its place and its identity, and the time.

A file that is deleted, moved or replaced lives on without its name as long as it is open, and all
that is written to it would be gone afterward. So a campaign watches its workspace and saves the
contents elsewhere.
"""

from __future__ import annotations

import calendar
import hashlib
import logging
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from engine.caches import BACKUPS, shrink
from engine.errors import Location, PlumblineError, WorkspaceError
from engine.files import replacing, write_text
from engine.workspace.connection import RESTORE, Connection, WorkspaceLostError, workspace_errors
from engine.workspace.schema import set_identity

PAGES_AT_ONCE = 256
"""About a megabyte, so that progress is reported often."""

BACKUP_SECONDS = 600.0
RECENT, DAYS = 4, 6
"""Of each workspace the last few backups are kept, and the last one of some days before."""

_NAME = re.compile(r"([0-9a-f]{16})-([0-9]{8}T[0-9]{6})\.plumb")
_TIME = "%Y%m%dT%H%M%S"
_log = logging.getLogger("engine.workspace.backup")

Progress = Callable[[int, int], None]
"""Told how many bytes are copied, and how many there are; may raise to end the copy."""


def copy_workspace(connection: Connection, path: Path, progress: Progress | None = None) -> None:
    """Copy to `path`, which holds either all of it in the end or what it held before.

    The copy has no writer, and an identity of its own.
    """
    try:
        with (
            replacing(path) as part,
            workspace_errors(path),
            closing(sqlite3.connect(part.path)) as target,
        ):
            target.execute("PRAGMA synchronous = OFF")  # campaigns wait until all is read
            with connection.reading() as source:
                tell = _in_bytes(progress, source)
                source.backup(target, pages=PAGES_AT_ONCE, progress=tell)
            target.execute("PRAGMA synchronous = EXTRA")
            target.execute("DELETE FROM writer")
            set_identity(target)
            target.commit()
    except OSError as error:
        message = f"the copy cannot be written: {error.strerror}"
        raise WorkspaceError(message, Location.of(path), "choose another location") from error


def _in_bytes(
    progress: Progress | None, connection: sqlite3.Connection
) -> Callable[[int, int, int], None] | None:
    if progress is None:
        return None
    (page,) = connection.execute("PRAGMA page_size").fetchone()

    def tell(status: int, remaining: int, total: int) -> None:
        del status
        progress((total - remaining) * page, total * page)

    return tell


@dataclass(frozen=True, slots=True)
class Backup:
    file: Path
    workspace: Path  # where it was
    seconds: float  # when, as a time of the system's clock
    size: int


def backups() -> list[Backup]:
    """All that there are, the newest first."""
    found = []
    with suppress(FileNotFoundError):
        for file in BACKUPS.folder.iterdir():
            with suppress(OSError):  # it was removed meanwhile
                if parts := _NAME.fullmatch(file.name):
                    place = file.with_name(f"{parts[1]}.path").read_text(encoding="utf-8")
                    seconds = _seconds(parts[2])
                    found.append(Backup(file, Path(place), seconds, file.stat().st_size))
    return sorted(found, key=lambda backup: (backup.seconds, backup.file.name), reverse=True)


def free_place(backup: Backup) -> Path:
    """Where it can be restored: where it was, or beside what is there now."""
    place = backup.workspace
    name = f"{place.stem}-{time.strftime('%Y-%m-%d-%H%M', time.localtime(backup.seconds))}"
    number = 1
    while os.path.exists(place):
        ending = f"-{number}" if number > 1 else ""
        place = backup.workspace.with_name(f"{name}{ending}{backup.workspace.suffix}")
        number += 1
    return place


class BackupWatch:
    """Makes backups of one open workspace; a failure to make one does not stop work."""

    def __init__(self, connection: Connection, *, is_new: bool) -> None:
        self._connection = connection
        self._due = time.monotonic() + BACKUP_SECONDS if is_new else 0.0

    def look(self) -> None:
        """Called before every change."""
        if time.monotonic() < self._due:
            return
        self._due = time.monotonic() + BACKUP_SECONDS
        try:
            self._keep()
        except (OSError, PlumblineError) as error:
            _log.warning("no backup of %s was made: %s", self._connection.path, error)

    def _keep(self) -> None:
        connection, folder = self._connection, BACKUPS.folder
        header = connection.header()
        if header is None or connection.size > BACKUPS.max_bytes():
            return
        if self._is_blank():
            self._due = 0.0
            return
        text = f"{connection.place}\n{header.identity}"
        key = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        now = time.time()
        known = sorted((_seconds(name[2]), file) for name, file in _files_of(folder, key))
        if known and abs(now - known[-1][0]) < BACKUP_SECONDS:
            return
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = folder / f"{key}-{time.strftime(_TIME, time.gmtime(now))}.plumb"
        write_text(folder / f"{key}.path", str(connection.place))
        copy_workspace(connection, file)
        for old in _superfluous([*known, (now, file)]):
            old.unlink(missing_ok=True)
        shrink(folder, BACKUPS.max_bytes())

    def _is_blank(self) -> bool:
        """Whether there is nothing to lose yet."""
        query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'writer'"
        tables = [name for (name,) in self._connection.rows(query)]
        return not any(self._connection.rows(f'SELECT 1 FROM "{name}" LIMIT 1') for name in tables)


def _files_of(folder: Path, key: str) -> Iterator[tuple[re.Match[str], Path]]:
    for file in folder.glob(f"{key}-*.plumb"):
        if name := _NAME.fullmatch(file.name):
            yield name, file


def _superfluous(known: Sequence[tuple[float, Path]]) -> list[Path]:
    """All but the last few, and the last one of each of some days before."""
    older = [(int(seconds // 86400), file) for seconds, file in known[:-RECENT]]
    last_of_day = dict(older)
    kept = [last_of_day[day] for day in sorted(last_of_day)[-DAYS:]]
    return [file for _, file in older if file not in kept]


def _seconds(text: str) -> float:
    try:
        return float(calendar.timegm(time.strptime(text, _TIME)))
    except ValueError:  # a file that was not made here
        return 0.0


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
