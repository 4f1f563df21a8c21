"""Brings the bugs of the workspace into the table: which there are, then the rows in sight.

A short list is made as soon as the user asks for another filter, order or other groups. A long one
takes up to half a second for a million bugs, so it is made beside the window, as everything is that
others change. What later lists need is read ahead when nothing has changed for a while.
"""

from __future__ import annotations

import time
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.models.bug_table import PAGE, BugTable
from app.services.document import Document
from engine.errors import PlumblineError
from engine.workspace.bug_list import BugList, BugOverview, BugQuery
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import BugRow

AT_ONCE = 10_000
"""Bugs of which a list is made while the user waits: that takes some milliseconds."""
PAUSE_MILLISECONDS = 1000
"""The least pause between two readings; a long reading is followed by a longer pause."""
PATIENCE = 4


class _News(NamedTuple):
    query: BugQuery
    bugs: BugList
    overview: BugOverview
    rows: list[BugRow]


def _read(
    query: BugQuery,
    seen: list[int],
    place: int,
    overview: BugOverview | None,
    store: WorkspaceReader,
) -> _News:
    """The list with the rows that were in sight, and those that will be."""
    found = store.bug_list(query)
    near = [int(number) for number in found.bugs[place : place + PAGE]]
    rows = store.bug_rows([*seen, *near])
    return _News(query, found, overview or store.bug_overview(), rows)


class BugFeed(QObject):
    read = Signal()
    """Everything that is in the workspace is in the table."""
    arranged = Signal()
    """The list is as the user wanted it last."""
    failed = Signal(str)

    def __init__(self, document: Document, table: BugTable, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document, self._table = document, table
        self._again = False
        self._reading = 0  # the number of the current reading; 0 if there is none
        self._readings = 0
        self._fresh: set[int] = set()  # bugs that were read after the answer that is to come
        self._began = 0.0
        self.complete = False
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.timeout.connect(self._look_again)
        self._listening = False  # to changes of the document
        document.changed.connect(self._on_document_changed)
        table.asked.connect(self.arrange)
        table.missing.connect(self._bring)

    @Slot(str)
    def _on_document_changed(self, topic: str) -> None:
        if self._listening and topic in ("bugs", "campaigns", "outside"):
            self.refresh()

    def tell_others(self) -> None:
        """Notify other screens of changes that this table already shows."""
        listened, self._listening = self._listening, False
        self._document.notify("bugs")
        self._listening = listened

    @Slot()
    def arrange(self) -> None:
        """Bring the list that the user wants now."""
        if not self.complete:
            return  # what is being read will be followed by it
        if self._table.total <= AT_ONCE:
            self.arrange_now()
        else:
            self._start(self._table.overview)

    def arrange_now(self) -> None:
        """Do not let the user wait: what he does next may depend on it."""
        try:
            news = self._question(self._table.overview)(self._document.store)
        except PlumblineError as error:
            self.failed.emit(str(error))
            return
        self._table.show_list(news.bugs, news.overview, news.rows)
        self.arranged.emit()

    @Slot()
    def refresh(self) -> None:
        """Read changes until `stop`, now or after the current reading."""
        self._listening = True
        if self._reading or self._pause.isActive():
            self._again = True
        else:
            self._start()

    def take(self, bugs: list[int]) -> None:
        """Take changes of single bugs at once."""
        self._fresh.update(bugs)
        self._table.take(self._document.store.bug_rows(bugs))

    def stop(self) -> None:
        """Stop reading; the next `refresh` reads what has changed until then."""
        self._listening = False
        self._pause.stop()
        self._reading, self._again = 0, False

    def _start(self, overview: BugOverview | None = None) -> None:
        """Read another list, and without an overview what holds of all bugs as well."""
        self._again = False
        self._readings += 1
        self._reading = self._readings
        self._began = time.monotonic()
        self._fresh.clear()
        self._document.reader.ask(
            self,
            self._question(overview),
            partial(self._on_news, self._reading),
            partial(self._on_failed, self._reading),
        )

    def _question(self, overview: BugOverview | None) -> partial[_News]:
        seen, place = self._table.in_sight()
        return partial(_read, self._table.query, seen, place, overview)

    def _on_failed(self, reading: int, error: PlumblineError) -> None:
        if reading == self._reading:
            self.stop()
            self.failed.emit(str(error))

    def _on_news(self, reading: int, news: _News) -> None:
        if reading != self._reading:
            return  # stopped, or another list was asked for
        if news.query != self._table.query:
            self.complete = True
            self._start()
            return
        self._reading = 0
        self.complete = True
        late = {bug: row for bug in self._fresh if (row := self._table.kept(bug)) is not None}
        rows = {row.id: row for row in news.rows} | late
        self._table.show_list(news.bugs, news.overview, rows.values())
        self.read.emit()
        self.arranged.emit()
        pause = (time.monotonic() - self._began) * PATIENCE * 1000
        self._pause.start(max(PAUSE_MILLISECONDS, int(pause)))

    @Slot(object)
    def _bring(self, bugs: list[int]) -> None:
        self._document.reader.ask(
            self,
            lambda store: store.bug_rows(bugs),
            self._table.bring,
            lambda error: self.failed.emit(str(error)),
        )

    @Slot()
    def _look_again(self) -> None:
        if self._again:
            self.refresh()
        else:
            self._read_ahead()

    def _read_ahead(self) -> None:
        """Bit by bit, so that questions of the user are answered in between."""
        if self._table.total > AT_ONCE:
            reader, ask = self._document.reader, WorkspaceReader.read_ahead
            reader.ask(self, ask, self._on_read_ahead, lambda _: None)

    def _on_read_ahead(self, is_more: bool) -> None:
        if is_more and self._listening and not self._again:
            self._read_ahead()
