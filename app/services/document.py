"""One open workspace: its store, a reader, and a signal for every change.

Others may write to the file at the same time: our own worker processes, or another Plumbline.
SQLite's change counter, read once a second, shows it.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtGui import QUndoStack

from app.services.reader import QueryThread
from engine.errors import Location, PlumblineError, WorkspaceError
from engine.files import real_path
from engine.workspace.lock import Writer
from engine.workspace.reader import WorkspaceReader
from engine.workspace.workspace import Workspace

WATCH_MILLISECONDS = 1000
UNDO_STEPS = 500
"""One of them may remember the old status of many bugs."""

TOPICS = (
    "project",
    "campaigns",
    "experiments",
    "bugs",
    "log",
    "comparisons",
    "training",
    "outside",
)
"""What can change. `outside`: another process wrote something; at most once a second."""


class _Look(NamedTuple):
    """The file as last seen: its identity, its change counter, and its writer."""

    identity: tuple[int, int] | None
    version: int | None  # None: it cannot be read now; the next reader reports why
    writer: Writer | None


class Document(QObject):
    """`store` blocks the window: it is for writing, and for what the user waits for.

    Everything else is read by `reader`.
    """

    changed = Signal(str)  # a topic
    closing = Signal()  # the last chance to write
    lost = Signal()  # the file was deleted or replaced while it was open
    looked = Signal(object)  # once a second: the `Writer` of any process, or None
    writer_changed = Signal()  # another `Writer`, or none: one that was killed says nothing else
    shared = Signal(bool)  # once a second: whether another window has the workspace open
    damaged = Signal(str)  # a large file turned out to be damaged after it was opened

    def __init__(self, store: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.store = store
        store.announce()
        reading = store.for_another_thread()
        self._version = reading.data_version()
        self._others_version, self._own_changes = self._changes()
        self.reader = QueryThread(reading, self, lambda: not store.awaits_check)
        self._checker = self._check() if store.awaits_check else None
        self.path: Path = store.path.resolve()
        self.read_only = not os.access(self.path, os.W_OK)
        self.undo_stack = QUndoStack(self)
        self.undo_stack.setUndoLimit(UNDO_STEPS)
        self._identity = _identity(self.path)
        self._writer: Writer | None = None  # when last looked
        self._watch = QTimer(self)
        self._watch.setSingleShot(True)
        self._watch.setInterval(WATCH_MILLISECONDS)
        self._watch.timeout.connect(self._look)
        self._look()

    @classmethod
    def open(cls, path: Path, parent: QObject | None = None) -> Document:
        return cls(Workspace.open(path, may_wait=True), parent)

    @classmethod
    def create(cls, path: Path, parent: QObject | None = None) -> Document:
        """Create a workspace, or open the one that exists."""
        return cls(Workspace.create(path), parent)

    @property
    def name(self) -> str:
        return self.path.stem

    def notify(self, topic: str) -> None:
        """Tell every screen that something of this kind has changed."""
        assert topic in TOPICS, topic
        self.changed.emit(topic)

    def writer(self) -> Writer | None:
        """The campaign, of any process, that is writing to the file now."""
        try:
            return self.store.writer()
        except WorkspaceError:
            return None  # the next reader reports it

    @property
    def is_lost(self) -> bool:
        """Whether the file was deleted, moved or replaced, so that only this process has it."""
        return self._identity is None or _identity(self.path) != self._identity

    def refuse_copy(self, path: Path) -> None:
        """Refuse to replace the workspace by a copy of itself."""
        if real_path(path) == self.path:
            message = "a copy cannot replace its own workspace"
            raise WorkspaceError(message, Location.of(path), "choose another name")

    def save_copy(self, path: Path) -> None:
        """Copy through our own connection, which still has the contents of a deleted file."""
        self.refuse_copy(path)
        self.store.save_copy(path)

    def close(self) -> None:
        self.closing.emit()
        self._watch.stop()
        if self._checker is not None:
            self._checker.close()
        self.reader.close()
        self.store.close()

    def _check(self) -> QueryThread:
        """Check a large file beside the window, which reads it meanwhile and writes nothing."""
        checker = QueryThread(self.store.for_another_thread(), self)
        checker.ask(self, WorkspaceReader.check_all, self._end_check, self._tell_damage)
        return checker

    def _end_check(self, _: None) -> None:
        assert self._checker is not None
        self._checker.close()  # which seals the file
        self._checker = None
        self.store.end_check()

    def _tell_damage(self, error: PlumblineError) -> None:
        self.damaged.emit(str(error))

    @Slot()
    def _look(self) -> None:
        self.reader.ask(self, partial(_look_at, self.path), self._take_look, self._look_later)

    def _take_look(self, look: _Look) -> None:
        if self._identity is not None and look.identity != self._identity:
            self._identity = None  # reported once
            self.lost.emit()
        if look.version is not None:
            if self._version != look.version:
                self._version = look.version
                if self._others_wrote():
                    self.changed.emit("outside")
            if self._writer != look.writer:
                self._writer = look.writer
                self.writer_changed.emit()
            self.looked.emit(look.writer)
        self.shared.emit(self.store.is_open_elsewhere())
        self._watch.start()

    def _others_wrote(self) -> bool:
        """Whether others wrote, rather than this window alone."""
        known, own = self._others_version, self._own_changes
        if own == self.store.change_count:
            return True
        try:
            self._others_version, self._own_changes = self._changes()
        except WorkspaceError:
            return True
        return known != self._others_version

    def _changes(self) -> tuple[int, int]:
        """Return how often others changed the file, as SQLite counts, and how often we did."""
        return self.store.data_version(), self.store.change_count

    def _look_later(self, _: PlumblineError) -> None:
        """Look again later after an unexpected error, which is reported elsewhere."""
        self._watch.start()


def _look_at(path: Path, store: WorkspaceReader) -> _Look:
    identity = _identity(path)
    try:
        return _Look(identity, store.data_version(), store.writer())
    except WorkspaceError:  # locked for a moment, or a broken disk
        return _Look(identity, None, None)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
