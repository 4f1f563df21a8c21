"""Opening the SQLite file of a workspace, and saying clearly what is wrong with it.

Write-ahead logging lets others read while a campaign writes, and loses nothing that was committed
when the process is killed. A file may come from a stranger: it has to have our tables and nothing
else, for a trigger or a view would make our own statements do what its author wants.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import quote

from engine.errors import Location, WorkspaceError
from engine.workspace.schema import (
    APPLICATION_ID,
    MIGRATIONS,
    is_empty,
    migrate,
    misplaced_value,
    objects_of,
    objects_of_version,
    version_of,
)

BUSY_SECONDS = 10.0

_NOT_A_WORKSPACE = "this is not a Plumbline workspace"
_CHOOSE = "name a .plumb file that 'plumbline campaign' has written"


READ_ONLY = "ro&immutable=1"
Prepare = Callable[..., None]

COMPANIONS = ("-wal", "-shm", "-journal")
"""How the names of files end that SQLite keeps beside one that is open."""


def is_open_workspace(path: Path) -> bool:
    """Whether somebody has a workspace open, perhaps this very process.

    Such a file, and what goes with it, must be read by SQLite alone. Reading it in any other way
    drops all locks of this process on it, and the next one that closes it takes its log away.
    """
    if not path.with_name(f"{path.name}-wal").exists():
        return False
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as connection:
            (number,) = connection.execute("PRAGMA application_id").fetchone()
    except sqlite3.Error:
        return False
    return bool(number == APPLICATION_ID)


def open_workspace(path: Path, *, create: bool = False) -> sqlite3.Connection:
    """A connection to a workspace of the present version, made or brought up to date."""
    _refuse_impossible(path, create)
    return _open_as_possible(path, partial(_prepare, path=path, create=create), create=create)


def second_connection(path: Path) -> sqlite3.Connection:
    """For reading a workspace that is open and was looked through; any one thread may have it."""
    return _open_as_possible(path, _prepare_for_reading, any_thread=True)


def _open_as_possible(
    path: Path, prepare: Prepare, *, create: bool = False, any_thread: bool = False
) -> sqlite3.Connection:
    writable = create or _is_writable(path)
    mode = "rwc" if create else "rw" if writable else READ_ONLY
    try:
        return _open(path, mode, any_thread, partial(prepare, writable=writable))
    except WorkspaceError as error:
        if create or not _can_be_read_anyway(path, error):
            raise
        return _open(path, READ_ONLY, any_thread, partial(prepare, writable=False))


def _can_be_read_anyway(path: Path, error: WorkspaceError) -> bool:
    """On a full disk there is no room for the files that go with writing.

    Without them a log of what was written last would be overlooked: there must be none.
    """
    name = getattr(error.__cause__, "sqlite_errorname", None) or ""
    log = path.with_name(f"{path.name}-wal")
    return name.startswith(("SQLITE_FULL", "SQLITE_IOERR")) and not (
        log.exists() and log.stat().st_size
    )


def _open(
    path: Path, mode: str, any_thread: bool, prepare: Callable[[sqlite3.Connection], None]
) -> sqlite3.Connection:
    with workspace_errors(path):
        connection = sqlite3.connect(
            f"file:{quote(str(path.resolve()))}?mode={mode}",
            uri=True,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=not any_thread,
        )
        try:
            prepare(connection)
        except BaseException:
            connection.close()
            raise
    return connection


@contextmanager
def workspace_errors(path: Path) -> Iterator[None]:
    """Errors of the database in the user's words."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        name = getattr(error, "sqlite_errorname", "") or ""
        message, hint = _explain(name, str(error))
        raise WorkspaceError(message, Location.of(path), hint) from error


_EXPLANATIONS = {
    "SQLITE_FULL": (
        "the disk is full",
        "make room and go on with --resume: what was saved before is safe",
    ),
    "SQLITE_IOERR": ("the disk cannot be written or read", "see that it is there and has room"),
    "SQLITE_BUSY": (
        f"another program has kept the file locked for {BUSY_SECONDS:g} s",
        "end it and try again",
    ),
    "SQLITE_LOCKED": ("another program keeps the file locked", "end it and try again"),
    "SQLITE_NOTADB": (_NOT_A_WORKSPACE, _CHOOSE),
    "SQLITE_CORRUPT": ("the file is damaged", "take a copy from before"),
    "SQLITE_READONLY": ("the file cannot be written", "see who owns the file and its folder"),
    "SQLITE_CANTOPEN": ("the file cannot be opened", "see who owns the file and its folder"),
    "SQLITE_PERM": ("the file cannot be opened", "see who owns the file and its folder"),
}


def _explain(name: str, text: str) -> tuple[str, str]:
    for code, explanation in _EXPLANATIONS.items():
        if name.startswith(code):
            return explanation
    return f"the file is not as expected: {text}", "take a copy from before"


def _is_writable(path: Path) -> bool:
    return os.access(path, os.W_OK) and os.access(path.resolve().parent, os.W_OK)


def _refuse_impossible(path: Path, create: bool) -> None:
    if path.is_dir():
        raise WorkspaceError("this is a folder", Location.of(path), "name a file")
    if not path.resolve().parent.is_dir():
        raise WorkspaceError("its folder does not exist", Location.of(path), "make it first")
    if not create and not path.exists():
        raise WorkspaceError("there is no such file", Location.of(path), _CHOOSE)
    if not create and path.stat().st_size == 0:
        raise WorkspaceError(f"{_NOT_A_WORKSPACE}: it is empty", Location.of(path), _CHOOSE)


def _prepare(connection: sqlite3.Connection, path: Path, create: bool, writable: bool) -> None:
    _distrust(connection)
    if not (create and is_empty(connection)):
        _refuse_strangers(connection, path)
    if not writable:
        return
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    if version_of(connection) < len(MIGRATIONS):
        migrate(connection)


def _prepare_for_reading(connection: sqlite3.Connection, writable: bool) -> None:
    """Reading needs to write, too: the files beside the workspace."""
    _distrust(connection)
    if writable:
        connection.execute("PRAGMA query_only = ON")
    version_of(connection)


def _distrust(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")


def _refuse_strangers(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID:
        raise WorkspaceError(_NOT_A_WORKSPACE, Location.of(path), _CHOOSE)
    if version_of(connection) > len(MIGRATIONS):
        raise WorkspaceError(
            f"the workspace was made by a newer Plumbline (version {version_of(connection)} of "
            f"the file, this one knows {len(MIGRATIONS)})",
            Location.of(path),
            "update Plumbline",
        )
    _refuse_foreign_parts(connection, path)


def _refuse_foreign_parts(connection: sqlite3.Connection, path: Path) -> None:
    found, expected = objects_of(connection), objects_of_version(version_of(connection))
    for name in sorted(found.keys() | expected.keys()):
        if name not in found:
            raise WorkspaceError(
                f"the file is damaged: it has no {name}",
                Location.of(path),
                "take a copy from before",
            )
        if found[name] != expected.get(name):
            raise WorkspaceError(
                f"the file has a {name} that Plumbline did not make",
                Location.of(path),
                "do not use it unless you know where it comes from",
            )
    if place := misplaced_value(connection):
        raise WorkspaceError(
            f"the file is damaged: there is a value in {place} that cannot be there",
            Location.of(path),
            "take a copy from before",
        )
