"""Opens a file of any origin as a workspace, and says what is wrong with it.

A file may come from a stranger: its first bytes are looked at before SQLite sees it, and it has to
have our tables and nothing else, because a trigger or a view would make our own statements do what
its author wants. Then no page of it is used twice, so that a small file holds only few rows, and
indexes have the rows of their tables, so that all questions see the same ones.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from engine.errors import DamagedRecordError, Location, WorkspaceError
from engine.files import replacing
from engine.workspace.backup import BackupWatch
from engine.workspace.connection import (
    CHOOSE,
    DAMAGED,
    NOT_A_WORKSPACE,
    RESTORE,
    Connection,
    authorize,
    workspace_errors,
)
from engine.workspace.schema import (
    APPLICATION_ID,
    FIRST_VERSION,
    VERSION,
    migrate,
    misplaced_value,
    new_workspace,
    objects_of,
    objects_of_version,
    tables_of,
)

CACHE_KILOBYTES = 16 * 1024
"""A transaction that outgrows it writes early and keeps readers waiting longer."""


SCHEMA_STEPS = 1000
"""Ten thousand instructions of SQLite each; ours takes less than one."""


def open_workspace(path: Path, *, may_create: bool = False, may_wait: bool = False) -> Connection:
    """A connection to a workspace of the present version.

    A large file that was checked before is not checked again (`seal.py`). With `may_wait`, a large
    file is opened unchecked (`awaits_check`), and the caller has it checked in the background.
    """
    _refuse_impossible(path, may_create)
    is_new = False
    if may_create:
        with workspace_errors(path):
            is_new = _make_if_empty(path)
    connection = _connect(path)
    connection.before_change = BackupWatch(connection, is_new=is_new).look
    try:
        _prepare(connection, may_wait)
    except BaseException:
        connection.close()
        raise
    return connection


def _make_if_empty(path: Path) -> bool:
    """Put a new workspace into its place as a whole: no failure leaves half a file there."""
    place = path.resolve()
    is_new = not place.exists()
    if not is_new and place.stat().st_size > 0:
        return False
    if path.is_symlink():  # whoever made it would choose where the file goes
        raise WorkspaceError(
            "this is a link, and it leads to no workspace", Location.of(path), CHOOSE
        )
    # Another process that was faster has made the same.
    with suppress(FileExistsError), replacing(place, only_new=is_new) as part:
        part.stream.write(new_workspace())
    return True


def second_connection(path: Path) -> Connection:
    """A connection for any one thread to read a workspace that is open and was checked."""
    connection = _connect(path, any_thread=True)
    try:
        with connection.reading() as sqlite:
            _distrust(sqlite)
            sqlite.execute("PRAGMA query_only = ON")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def stored_records(path: Path, what: str = "") -> Iterator[None]:
    """What the codec refuses is damage of this file."""
    try:
        yield
    except DamagedRecordError as error:
        raise damaged(path, f"{what}: {error}" if what else str(error)) from error


def damaged(path: Path, reason: str) -> WorkspaceError:
    return WorkspaceError(f"{DAMAGED}: {reason}", Location.of(path), RESTORE)


def _connect(path: Path, *, any_thread: bool = False) -> Connection:
    place = path.resolve()
    is_writable = os.access(place, os.W_OK) and os.access(place.parent, os.W_OK)
    return Connection(path, writable=is_writable, any_thread=any_thread)


def _refuse_impossible(path: Path, may_create: bool) -> None:
    where = Location.of(path)
    with workspace_errors(path):
        try:
            status = path.stat()
        except ValueError:
            raise WorkspaceError("invalid file name", where, CHOOSE) from None
        except FileNotFoundError:
            if not path.resolve().parent.is_dir():
                raise WorkspaceError("its folder does not exist", where, "make it first") from None
            if not may_create:
                raise WorkspaceError("the file does not exist", where, CHOOSE) from None
            return
    if stat.S_ISDIR(status.st_mode):
        raise WorkspaceError("this is a folder", where, "name a file")
    if not stat.S_ISREG(status.st_mode):
        raise WorkspaceError(f"{NOT_A_WORKSPACE}: it is not a regular file", where, CHOOSE)
    if status.st_size == 0 and not may_create:
        raise WorkspaceError(f"{NOT_A_WORKSPACE}: it is empty", where, CHOOSE)


def _prepare(connection: Connection, may_wait: bool) -> None:
    version = _refuse_strangers(connection)
    with connection.reading() as sqlite:
        with _bounded_schema(sqlite, connection.path):
            _distrust(sqlite)
            sqlite.execute("PRAGMA foreign_keys = ON")
            sqlite.execute("PRAGMA synchronous = EXTRA")
            sqlite.execute(f"PRAGMA cache_size = -{CACHE_KILOBYTES}")
            _refuse_foreign_objects(sqlite, connection.path, version)
        if not connection.is_sealed():
            connection.awaits_check = may_wait and connection.is_large
            if not connection.awaits_check:
                refuse_damage(connection)
        connection.is_sound = not connection.awaits_check
    if version < VERSION:
        with connection.writing() as sqlite:
            sqlite.set_authorizer(None)  # the tables are ours, now they change
            migrate(sqlite)
            sqlite.set_authorizer(authorize)


def _distrust(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")


@contextmanager
def _bounded_schema(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    """SQLite reads the list of tables, which can have no end if its pages refer to each other."""
    steps = iter(range(SCHEMA_STEPS))
    connection.set_progress_handler(lambda: next(steps, None) is None, 10_000)
    try:
        yield
    except UnicodeDecodeError as error:  # SQLite says what it found there
        raise damaged(path, "its list of tables cannot be read") from error
    except sqlite3.OperationalError as error:
        if next(steps, None) is None:
            raise damaged(path, "its list of tables has no end") from error
        name = getattr(error, "sqlite_errorname", None)
        if name is None:  # Python's own: a text that is not UTF-8
            raise damaged(path, "its list of tables cannot be read") from error
        if name == "SQLITE_ERROR":  # nothing is wrong with our statements
            raise damaged(path, str(error)) from error
        raise
    finally:
        connection.set_progress_handler(None, 0)


def _refuse_strangers(connection: Connection) -> int:
    """Refuse a file that is not a workspace before SQLite reads it; return its version."""
    header, where = connection.header(), Location.of(connection.path)
    if header is None or header.application != APPLICATION_ID:
        raise WorkspaceError(NOT_A_WORKSPACE, where, CHOOSE)
    if header.version < FIRST_VERSION:
        raise WorkspaceError(
            "the workspace was made by Plumbline 0.1",
            where,
            "run the campaign again with this version",
        )
    if header.version > VERSION:
        raise WorkspaceError(
            f"the workspace was made by a newer Plumbline (version {header.version} of the file, "
            f"this one knows {VERSION})",
            where,
            "update Plumbline",
        )
    if header.uses_wal:
        raise WorkspaceError(
            "another program has changed the file to keep a write-ahead log",
            where,
            "undo it with that program: PRAGMA journal_mode = DELETE",
        )
    return header.version


def _refuse_foreign_objects(connection: sqlite3.Connection, path: Path, version: int) -> None:
    found, expected = objects_of(connection), objects_of_version(version)
    for name in sorted(found.keys() | expected.keys()):
        if name not in found:
            raise damaged(path, f"it has no {name}")
        if name not in expected:
            raise WorkspaceError(
                f"the file has a {name} that Plumbline did not make",
                Location.of(path),
                "do not use it unless you know where it comes from",
            )
        if found[name] != expected[name]:
            raise WorkspaceError(
                f"the {name} is not as this version of Plumbline makes it",
                Location.of(path),
                "if the file was made before version 0.2.0 was released, run the campaign again; "
                "otherwise another program has changed it",
            )


def refuse_damage(connection: Connection) -> None:
    """Check the structure of the whole file, then every value: others can write in between."""
    ((verdict,),) = connection.rows("PRAGMA integrity_check(1)")
    if verdict != "ok":
        raise damaged(connection.path, str(verdict).splitlines()[-1])
    for table in tables_of(connection.rows):
        with connection.reading() as sqlite:
            place = misplaced_value(sqlite, table)
        if place:
            reason = f"{place} holds an invalid value"
            raise damaged(connection.path, reason)
