"""Brings the bugs of the workspace into the table, a few at a time.

Showing a hundred thousand rows takes more than a second, so they are added in portions between
turns of the event loop. New bugs are read at once, changes of known bugs less often the more
there are.
"""

from __future__ import annotations

import time
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.models.bug_table import BugTable
from app.services.document import Document
from engine.errors import PlumblineError
from engine.workspace.rows import BugRow

PORTION = 100
PAUSE_MILLISECONDS = 1000
"""Between two readings at least; a long one is followed by a longer pause."""
PATIENCE = 4
CHANGES_PATIENCE = 20
"""All bugs are read again after this many times the time it took."""


class BugFeed(QObject):
    read = Signal()
    """Everything that is in the workspace is in the table."""
    progressed = Signal()
    failed = Signal(str)

    def __init__(self, document: Document, table: BugTable, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document, self._table = document, table
        self._position = 0
        self._again = False
        self._reading = 0  # the number of the current reading; 0 if there is none
        self._readings = 0
        self._fresh: set[int] = set()  # bugs that were read after the answer that is to come
        self._began = self._all_at = 0.0
        self._all = True
        self.complete = False
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.timeout.connect(self._look_again)
        self._listening = False  # to changes of the document
        document.changed.connect(self._on_document_changed)

    @Slot(str)
    def _on_document_changed(self, topic: str) -> None:
        if self._listening and topic in ("bugs", "campaigns", "outside"):
            self.refresh()

    def tell_others(self) -> None:
        """Tell other screens of changes that are in this table already."""
        listened, self._listening = self._listening, False
        self._document.notify("bugs")
        self._listening = listened

    @Slot()
    def refresh(self) -> None:
        """Look for news until `stop`, now or after what is being read."""
        self._listening = True
        if self._reading or self._pause.isActive():
            self._again = True
            return
        self._again = False
        self._readings += 1
        self._reading = self._readings
        self._began = time.monotonic()
        self._all = self._began >= self._all_at
        if self._all:
            self._position = 0
        self._ask()

    def take(self, bugs: list[int]) -> None:
        """News about single bugs, at once."""
        self._fresh.update(bugs)
        self._table.take(self._document.store.bug_rows(bugs))

    def stop(self) -> None:
        """Stop reading; the next `refresh` reads what has changed until then."""
        self._listening = False
        self._pause.stop()
        self._reading, self._again = 0, False

    def _ask(self) -> None:
        after = self._position
        self._fresh.clear()
        self._document.reader.ask(
            self,
            lambda store: store.bugs(after=after, limit=PORTION),
            partial(self._on_rows, self._reading),
            partial(self._on_failed, self._reading),
        )

    def _on_failed(self, reading: int, error: PlumblineError) -> None:
        if reading == self._reading:
            self.stop()
            self.failed.emit(str(error))

    def _on_rows(self, reading: int, rows: list[BugRow]) -> None:
        if reading != self._reading:
            return  # stopped meanwhile
        self._table.take([row for row in rows if row.id not in self._fresh])
        if rows:
            self._position = rows[-1].id
        if len(rows) == PORTION:
            self.progressed.emit()
            self._ask()
            return
        self._reading = 0
        self.complete = True
        self._table.settle()
        self.read.emit()
        now = time.monotonic()
        if self._all:
            self._all_at = now + CHANGES_PATIENCE * (now - self._began)
        self._again |= not self._all
        self._pause.start(max(PAUSE_MILLISECONDS, int((now - self._began) * PATIENCE * 1000)))

    @Slot()
    def _look_again(self) -> None:
        if self._again:
            self.refresh()
