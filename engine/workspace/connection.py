"""The only way to a workspace file: SQLite, in transactions that hold our lock.

The file is in SQLite's rollback mode: between transactions there is nothing but the file itself,
no lock and no log that could be lost or belong to another file. A committed change is on the disk
(`synchronous = EXTRA` also syncs the folder from which the journal was deleted).
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from engine.errors import Location, WorkspaceError
from engine.files import NO_ROOM
from engine.workspace import companions, seal
from engine.workspace.companions import HEADER_BYTES, Header
from engine.workspace.lock import PATIENCE_SECONDS, FileLock
from engine.workspace.schema import mark_first_page


class Version(NamedTuple):
    """What tells the contents of a file from those before and after a change."""

    header: Header | None
    file: int
    changed: int
    size: int

    def follows(self, before: Version) -> bool:
        """Whether a single transaction has led from there to here."""
        then, now = before.header, self.header
        return then is not None and now is not None and now.counter == then.counter + 1


class Connection:
    """A connection for one thread; a file that can be written is opened for writing.

    The first reader after a writer was killed restores what that one was changing.
    """

    def __init__(self, path: Path, *, writable: bool, any_thread: bool = False) -> None:
        self.path, self.place = path, path.resolve()  # as the user names it, and where it is
        self._name, self._writable = str(self.place), writable
        flags = os.O_RDWR if writable else os.O_RDONLY
        with workspace_errors(path):
            self._descriptor = os.open(self.place, flags | os.O_CLOEXEC | os.O_NONBLOCK)
        self._lock = FileLock(path, self._descriptor)
        self._is_held = self._is_interrupted = False
        self._seen = (0, 0)  # the file as our last transaction left it
        self.is_sound = False  # it was checked and has not been changed by others since
        self.awaits_check = False  # until then it is only read
        self.last_change: tuple[Version, Version]  # of our last transaction that was committed
        self.before_change: Callable[[], None] | None = None  # called before every transaction
        try:
            self._sqlite = sqlite3.connect(
                f"file:{quote(os.fsencode(self._name))}?mode={'rw' if writable else 'ro'}",
                uri=True,
                timeout=PATIENCE_SECONDS,
                isolation_level=None,
                check_same_thread=not any_thread,
            )
        except BaseException:
            os.close(self._descriptor)
            raise
        self._sqlite.set_authorizer(authorize)
        self._sqlite.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)

    def close(self) -> None:
        self._sqlite.close()
        if self._descriptor >= 0:
            status = os.fstat(self._descriptor)
            if self.is_sound and seal.is_large(status) and self._stamp() == self._seen:
                seal.seal(self.place, status)
            os.close(self._descriptor)
            self._descriptor = -1

    def interrupt(self) -> None:
        """End, from another thread, what is being read and any waiting for locks."""
        self._is_interrupted = True
        self._sqlite.interrupt()

    @property
    def change_count(self) -> int:
        """How many rows this connection has changed."""
        return self._sqlite.total_changes

    def version(self) -> Version:
        """Another one after every change of the file by anybody; the same for all connections."""
        status = os.fstat(self._descriptor)
        return Version(self.header(), status.st_ino, status.st_mtime_ns, status.st_size)

    @property
    def size(self) -> int:
        return os.fstat(self._descriptor).st_size

    @property
    def is_large(self) -> bool:
        return seal.is_large(os.fstat(self._descriptor))

    def header(self) -> Header | None:
        """Return None if the file is not a database."""
        return Header.of(os.pread(self._descriptor, HEADER_BYTES, 0))

    def rows(self, query: str, parameters: Sequence[object] = ()) -> list[Any]:
        with self.reading() as connection:
            return connection.execute(query, parameters).fetchall()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Take a turn for queries; the file does not change until its end."""
        with workspace_errors(self.path), self._turn(exclusive=False):
            yield self._sqlite

    @contextmanager
    def writing(self, patience: float = PATIENCE_SECONDS) -> Iterator[sqlite3.Connection]:
        """A transaction: all or nothing."""
        if not self._writable:
            raise WorkspaceError("the file cannot be written", Location.of(self.path), _OWNER)
        if self.awaits_check:
            raise WorkspaceError(
                "the file is still being checked", Location.of(self.path), "try again in a moment"
            )
        if self.before_change is not None:
            self.before_change()
        with workspace_errors(self.path), self._turn(exclusive=True, patience=patience):
            self.refuse_loss()
            self._sqlite.execute("BEGIN IMMEDIATE")
            try:
                before = self.version()
                mark_first_page(self._sqlite)
                yield self._sqlite
                self._sqlite.execute("COMMIT")
            except BaseException:
                if self._sqlite.in_transaction:  # a full disk has undone it already
                    self._sqlite.execute("ROLLBACK")
                raise
            self.last_change = before, self.version()

    @contextmanager
    def _turn(self, *, exclusive: bool, patience: float = PATIENCE_SECONDS) -> Iterator[None]:
        if self._is_held:
            assert not exclusive, "a transaction within another"
            yield
            return
        if self._descriptor < 0:
            raise RuntimeError("the workspace is closed")
        try:
            self._is_held = True
            self._acquire(exclusive, patience)
            yield
        finally:
            self._seen = self._stamp()
            self._lock.release()
            self._is_held = False

    def announce(self) -> None:
        """Let other processes know that the file is open here."""
        with suppress(WorkspaceError):
            self._lock.announce()

    def is_announced_elsewhere(self) -> bool:
        return self._lock.is_announced_elsewhere()

    def _acquire(self, exclusive: bool, patience: float) -> None:
        acquire = partial(
            self._lock.acquire, patience=patience, given_up=lambda: self._is_interrupted
        )
        acquire(exclusive=exclusive)
        if companions.has_any(self._name):  # all writers are done, or dead
            if not exclusive and self._writable:
                self._lock.release()
                acquire(exclusive=True)
            companions.refuse_foreign(self.path, self.place, self.header())
            if not self._writable:
                raise WorkspaceError(
                    "a process was killed while it wrote to the file",
                    Location.of(self.path),
                    "copy it to a folder that can be written, together with its -journal",
                )
        if self._stamp() != self._seen:
            # Another file may have been copied into this one, with the same count of changes.
            self._sqlite.execute("PRAGMA shrink_memory")
            self.is_sound = self.is_sealed()

    def is_sealed(self) -> bool:
        """Whether it is a large file that was checked, by us or another process of the user."""
        status = os.fstat(self._descriptor)
        return seal.is_large(status) and seal.is_sealed(self.place, status)

    def _stamp(self) -> tuple[int, int]:
        status = os.fstat(self._descriptor)
        return status.st_mtime_ns, status.st_size

    def refuse_loss(self) -> None:
        """Refuse to write to a file that has lost its name, because the data would be lost."""
        mine = os.fstat(self._descriptor)
        try:
            named = self.place.stat()
        except OSError:
            named = None
        if named is None or (mine.st_dev, mine.st_ino) != (named.st_dev, named.st_ino):
            raise WorkspaceLostError(
                "the file was deleted, moved or replaced while it was open",
                Location.of(self.path),
                "save a copy of what it held, or open it again",
            )


_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE}
_WRITING = {
    sqlite3.SQLITE_INSERT,
    sqlite3.SQLITE_UPDATE,
    sqlite3.SQLITE_DELETE,
    sqlite3.SQLITE_TRANSACTION,
    sqlite3.SQLITE_PRAGMA,
}
_NAMED_QUERIES = {None, "chain", "json_each"}
"""Names after WITH, and tables that are functions, in our own statements."""
_FORBIDDEN_FUNCTIONS = {"load_extension", "fts3_tokenizer"}


def authorize(
    action: int, _: str | None, function: str | None, __: str | None, within: str | None
) -> int:
    """Let a connection do what our own statements do, and nothing for a view or a trigger.

    A file has none when it is opened, but another program can add some later.
    """
    if within in _NAMED_QUERIES and (
        action in _READING
        or (action in _WRITING and within is None)
        or (action == sqlite3.SQLITE_FUNCTION and function not in _FORBIDDEN_FUNCTIONS)
    ):
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


class WorkspaceLostError(WorkspaceError):
    """The open file has no name anymore; its contents can still be read and copied."""


@contextmanager
def workspace_errors(path: Path) -> Iterator[None]:
    """Report errors of the database in words for the user."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        explanation = _explain(error)
        if explanation is None:
            raise  # a wrong statement is a defect of ours, not damage of the file
        raise WorkspaceError(explanation[0], Location.of(path), explanation[1]) from error
    except OSError as error:
        if error.errno in NO_ROOM:
            message, hint = _EXPLANATIONS["SQLITE_FULL"]
            raise WorkspaceError(message, Location.of(path), hint) from error
        raise WorkspaceError(
            f"the file cannot be opened: {error.strerror}", Location.of(path), _OWNER
        ) from error


_OWNER = "check the permissions of the file and its folder"
NOT_A_WORKSPACE = "this is not a Plumbline workspace"
CHOOSE = "choose a .plumb file that Plumbline has written"
DAMAGED = "the file is damaged"
RESTORE = "restore a backup"
_EXPLANATIONS = {
    "SQLITE_FULL": (
        "the disk is full",
        "free some space and continue with --resume; what was saved before is safe",
    ),
    "SQLITE_IOERR": (
        "the disk cannot be read or written",
        "check that the disk is mounted and has free space",
    ),
    "SQLITE_BUSY": ("another program has locked the file", "close it, then try again"),
    "SQLITE_LOCKED": ("another program has locked the file", "close it, then try again"),
    "SQLITE_NOTADB": (NOT_A_WORKSPACE, CHOOSE),
    "SQLITE_CORRUPT": (DAMAGED, RESTORE),
    "SQLITE_READONLY": ("the file cannot be written", _OWNER),
    "SQLITE_CANTOPEN": ("the file cannot be opened", _OWNER),
    "SQLITE_INTERRUPT": ("reading the file was interrupted", "try again"),
    "SQLITE_PERM": ("the file cannot be opened", _OWNER),
    "SQLITE_AUTH": (
        "another program has added a view or a trigger to the file",
        "do not use it unless you know where it comes from",
    ),
}


def _explain(error: sqlite3.DatabaseError) -> tuple[str, str] | None:
    name = getattr(error, "sqlite_errorname", None) or ""
    for code, (message, hint) in _EXPLANATIONS.items():
        if name.startswith(code):
            return f"{message} ({error})" if code == "SQLITE_AUTH" else message, hint
    return (DAMAGED, RESTORE) if "decode to UTF-8" in str(error) else None
