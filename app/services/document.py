"""One open workspace: its store, a reader beside it, and who is to know when it changes.

Others may write to the file at the same time: our own worker processes, or another Plumbline. A
look at SQLite's own change counter once a second finds out.
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
from engine.workspace.lock import Writer
from engine.workspace.reader import WorkspaceReader
from engine.workspace.workspace import Workspace

WATCH_MILLISECONDS = 1000
UNDO_STEPS = 500
"""One of them may remember the old status of many bugs."""

TOPICS = ("project", "campaigns", "bugs", "log", "comparisons", "training", "outside")
"""What can change. `outside`: another process wrote something, told once a second at most."""


class _Look(NamedTuple):
    """The file, as it was found: who it is, how often it was changed, who writes to it."""

    identity: tuple[int, int] | None
    version: int | None  # None: it cannot be read at the moment; whoever reads next will say it
    writer: Writer | None


class Document(QObject):
    """`store` holds up the window: it is for writing, and for what the user waits for anyway.

    Everything else is read by `reader`.
    """

    changed = Signal(str)  # a topic
    lost = Signal()  # the file was deleted or replaced while it was open
    looked = Signal(object)  # once a second: the `Writer` of any process, or None
    shared = Signal(bool)  # once a second: whether another window has the workspace open

    def __init__(self, store: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.store = store
        store.announce()
        reading = store.for_another_thread()
        self._version = reading.data_version()
        self._others_version, self._own_changes = self._changes()
        self.reader = QueryThread(reading, self)
        self.path: Path = store.path.resolve()
        self.read_only = not os.access(self.path, os.W_OK)
        self.undo_stack = QUndoStack(self)
        self.undo_stack.setUndoLimit(UNDO_STEPS)
        self._identity = _identity(self.path)
        self._watch = QTimer(self)
        self._watch.setSingleShot(True)
        self._watch.setInterval(WATCH_MILLISECONDS)
        self._watch.timeout.connect(self._look)
        self._look()

    @classmethod
    def open(cls, path: Path, parent: QObject | None = None) -> Document:
        return cls(Workspace.open(path), parent)

    @classmethod
    def create(cls, path: Path, parent: QObject | None = None) -> Document:
        """A workspace that may exist already."""
        return cls(Workspace.create(path), parent)

    @property
    def name(self) -> str:
        return self.path.stem

    def notify(self, topic: str) -> None:
        """Tell every screen that something of this kind is different now."""
        assert topic in TOPICS, topic
        self.changed.emit(topic)

    def writer(self) -> Writer | None:
        """The campaign of any process that writes to the file at the moment."""
        try:
            return self.store.writer()
        except WorkspaceError:
            return None  # the next reader will say it

    @property
    def is_lost(self) -> bool:
        """Whether nobody else can open the file any more: it was deleted, moved or replaced."""
        return self._identity is None or _identity(self.path) != self._identity

    def refuse_copy(self, path: Path) -> None:
        """A copy must not replace what it is a copy of."""
        if path.resolve() == self.path:
            message = "a copy cannot replace its own workspace"
            raise WorkspaceError(message, Location.of(path), "choose another name")

    def save_copy(self, path: Path) -> None:
        """Through our own connection, which still has the contents of a file that was deleted."""
        self.refuse_copy(path)
        self.store.save_copy(path)

    def close(self) -> None:
        self._watch.stop()
        self.reader.close()
        self.store.close()

    @Slot()
    def _look(self) -> None:
        self.reader.ask(self, partial(_look_at, self.path), self._take_look, self._look_later)

    def _take_look(self, look: _Look) -> None:
        if self._identity is not None and look.identity != self._identity:
            self._identity = None  # said once
            self.lost.emit()
        if look.version is not None:
            if self._version != look.version:
                self._version = look.version
                if self._others_wrote():
                    self.changed.emit("outside")
            self.looked.emit(look.writer)
        self.shared.emit(self.store.is_open_elsewhere())
        self._watch.start()

    def _others_wrote(self) -> bool:
        """Or was it this window alone? Asked only if it has written, too."""
        known, own = self._others_version, self._own_changes
        if own == self.store.change_count:
            return True
        try:
            self._others_version, self._own_changes = self._changes()
        except WorkspaceError:
            return True
        return known != self._others_version

    def _changes(self) -> tuple[int, int]:
        """How often others changed the file, in SQLite's way of counting, and how often we did."""
        return self.store.data_version(), self.store.change_count

    def _look_later(self, _: PlumblineError) -> None:
        """Something unexpected, which is told elsewhere."""
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
