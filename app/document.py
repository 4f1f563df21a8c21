"""One open workspace: its store in the window's thread, and who is to know when it changes.

Others may write to the file at the same time: our own worker processes, or another Plumbline. A
look at SQLite's own change counter once a second finds out.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtGui import QUndoStack

from engine.campaign import writer
from engine.campaign.store import Store
from engine.campaign.workspace_copy import copy_workspace
from engine.campaign.workspace_file import workspace_errors
from engine.errors import Location, WorkspaceError

WATCH_MILLISECONDS = 1000
UNDO_STEPS = 500
"""One of them may remember the old status of many bugs."""

TOPICS = ("project", "campaigns", "bugs", "log", "comparisons", "training", "outside")
"""What can change. `outside`: another process wrote something, told once a second at most."""


class Document(QObject):
    """Use `store` for quick reads and quick writes only: it holds up the window."""

    changed = Signal(str)  # a topic
    lost = Signal()  # the file was deleted or replaced while it was open
    looked = Signal()  # another look at the file was taken, once a second

    def __init__(self, store: Store, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.store = store
        # Moving the log of changes into the file waits for the disk: the worker processes do it.
        store.connection.execute("PRAGMA wal_autocheckpoint = 0")
        self.path: Path = store.path.resolve()
        self.read_only = not os.access(self.path, os.W_OK)
        self.undo_stack = QUndoStack(self)
        self.undo_stack.setUndoLimit(UNDO_STEPS)
        self._inode = self._file_identity()
        self._version = self._data_version()
        self._watch = QTimer(self)
        self._watch.setInterval(WATCH_MILLISECONDS)
        self._watch.timeout.connect(self._look)
        self._watch.start()

    @classmethod
    def open(cls, path: Path, parent: QObject | None = None) -> Document:
        return cls(Store.open(path), parent)

    @classmethod
    def create(cls, path: Path, parent: QObject | None = None) -> Document:
        """A workspace that may exist already."""
        return cls(Store.create(path), parent)

    @property
    def name(self) -> str:
        return self.path.stem

    def notify(self, topic: str) -> None:
        """Tell every screen that something of this kind is different now."""
        assert topic in TOPICS, topic
        self.changed.emit(topic)

    def writer(self) -> writer.Writer | None:
        """The campaign of any process that writes to the file at the moment."""
        with workspace_errors(self.path):
            return writer.current(self.store.connection)

    def is_blank(self) -> bool:
        """Nothing was ever put into it."""
        connection = self.store.connection
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return not any(
            connection.execute(f'SELECT 1 FROM "{name}" LIMIT 1').fetchone()
            for (name,) in tables.fetchall()
        )

    @property
    def is_lost(self) -> bool:
        """Whether nobody else can open the file any more: it was deleted, moved or replaced."""
        return self._inode is None or self._file_identity() != self._inode

    def refuse_copy(self, path: Path) -> None:
        """A copy must not replace what it is a copy of."""
        if path.resolve() == self.path:
            message = "this is the workspace itself"
            raise WorkspaceError(message, Location.of(path), "choose another name")

    def save_copy(self, path: Path) -> None:
        """Through our own connection, which still has the contents of a file that was deleted."""
        self.refuse_copy(path)
        copy_workspace(self.store.connection, path)

    def close(self) -> None:
        self._watch.stop()
        self.store.close()

    def _file_identity(self) -> tuple[int, int] | None:
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _data_version(self) -> int:
        (version,) = self.store.connection.execute("PRAGMA data_version").fetchone()
        return int(version)

    @Slot()
    def _look(self) -> None:
        if self._inode is not None and self._file_identity() != self._inode:
            self._inode = None  # said once
            self.lost.emit()
        try:
            version = self._data_version()
        except sqlite3.Error:
            return  # locked for a moment, or a broken disk: whoever reads next will say it
        if version != self._version:
            self._version = version
            self.changed.emit("outside")
        self.looked.emit()
