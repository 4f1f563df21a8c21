"""The log screen: campaign events, warnings and errors, filtered by level and text."""

from __future__ import annotations

import time
from dataclasses import dataclass

from PySide6.QtCore import Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QStackedLayout,
    QWidget,
)

from app.models.table_model import Column, TableModel
from app.services.context import Context
from app.services.messages import Message
from app.services.reader import LatestQuery
from app.widgets.builders import action, button, describe, label
from app.widgets.empty_state import EmptyState
from app.widgets.layouts import hbox, pane, remember_division, vsplit
from app.widgets.page import Page
from app.widgets.table_view import TableView
from engine.workspace.rows import LogRow

LEVELS = ("info", "warning", "error")
_TOKENS = {"info": "muted", "warning": "undecided", "error": "bad"}


@dataclass(frozen=True, eq=False)
class LogEntry:
    """`source` is the unit of a campaign, the workspace or the window."""

    time: float
    level: str
    source: str
    text: str
    details: str = ""

    @classmethod
    def of_workspace(cls, row: LogRow) -> LogEntry:
        source = "workspace" if row.unit is None else f"unit {row.unit}"
        return cls(row.time, row.level, source, row.text)

    @classmethod
    def of_window(cls, message: Message) -> LogEntry:
        return cls(message.time, message.level, "window", message.text, message.details)

    def passes(self, level: str, words: str) -> bool:
        """At least as bad as the level, and all words occur somewhere."""
        text = f"{self.source} {self.text}".casefold()
        return _rank(self.level) >= _rank(level) and all(
            word in text for word in words.casefold().split()
        )


def _rank(level: str) -> int:
    return LEVELS.index(level) if level in LEVELS else 0


def clock(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


COLUMNS: tuple[Column[LogEntry], ...] = (
    Column("time", "Time", lambda entry: entry.time, lambda entry: clock(entry.time), mono=True),
    Column(
        "level",
        "Level",
        lambda entry: _rank(entry.level),
        lambda entry: entry.level,
        token=lambda entry: _TOKENS.get(entry.level, "text"),
        icon=lambda entry: entry.level if entry.level in LEVELS else "",
    ),
    Column(
        "source",
        "Source",
        lambda entry: entry.source,
        tip="The unit of a campaign, the workspace or the window",
    ),
    Column("text", "Message", lambda entry: entry.text),
)


_LEVEL_TEXTS = ("Everything", "Warnings and errors", "Errors")
_WIDTHS = (24, 12, 12)
_DETAILS_HEIGHT = 120


class LogPage(Page):
    name, title, icon = "log", "Log", "log"

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self._of_workspace = 0
        """How many entries of the workspace are shown already."""
        self._is_read = False
        failed = context.messages.failure("Cannot read the log")
        self._query = LatestQuery(context.document.reader, self, self._on_rows, failed)
        self.model: TableModel[LogEntry] = TableModel(COLUMNS, context.theme, self)
        self._make_controls()
        self._make_table()
        self._lay_out()
        self.setFocusProxy(self.table)
        messages = context.messages
        self.model.add_rows(map(LogEntry.of_window, messages.history))
        messages.posted.connect(self._on_posted)
        context.document.changed.connect(self._on_document_changed)
        context.theme.changed.connect(self._restyle)
        self._show_count()
        self._read_workspace()

    def page_actions(self) -> list[QAction]:
        return [self._find, self._follow_action]

    def _make_controls(self) -> None:
        self.level = QComboBox()
        describe(self.level, "log-level", "Level")
        for text, level in zip(_LEVEL_TEXTS, LEVELS, strict=True):
            self.level.addItem(text, level)
        self.words = QLineEdit()
        describe(self.words, "log-words", "Filter log")
        self.words.setPlaceholderText("Filter log")
        self.words.setClearButtonEnabled(True)
        self.count = label(role="muted")
        self.follow = QCheckBox("Follow")
        describe(self.follow, "log-follow", "Follow", "Keep the newest entry visible")
        self.follow.setChecked(True)
        self.copy = button("Copy", "log-copy", "Copy the selected entries, or all of them")
        self._find = action(self, "Filter log", self._focus_words, "Ctrl+F")
        self._follow_action = QAction("Follow", self, checkable=True, checked=True)
        self._follow_action.toggled.connect(self.follow.setChecked)
        self.follow.toggled.connect(self._follow_action.setChecked)
        self.level.currentIndexChanged.connect(self._filter)
        self.words.textChanged.connect(self._filter)

    def _make_table(self) -> None:
        self.table = TableView("log-table", "Log entries")
        self.table.setModel(self.model)
        self.table.set_widths(*_WIDTHS)
        self.table.remember(self.context.settings)
        self.table.selectionModel().selectionChanged.connect(self._show_details)
        self.copy.clicked.connect(self.table.copy_tsv)
        self.details = QPlainTextEdit()
        describe(self.details, "log-details", "Details of the selected entry")
        self.details.setPlaceholderText("Select an entry to see its details")
        self.details.setReadOnly(True)

    def _lay_out(self) -> None:
        bar = hbox(self.level, (self.words, 1), self.count, self.follow, self.copy, spacing=8)
        sizes = 600, _DETAILS_HEIGHT
        split = vsplit(self.table, self.details, stretch=(1,), sizes=sizes, collapsible=True)
        remember_division(split, "log-details", self.context.settings)
        full = pane(bar, (split, 1), margins=(16, 12, 16, 12))
        text = "Campaign events, warnings and errors appear here."
        empty = EmptyState(self.context.theme, "log", "No entries yet", text)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(empty)
        self._stack.addWidget(full)

    @Slot(str)
    def _on_document_changed(self, topic: str) -> None:
        if topic in ("log", "outside"):
            self._read_workspace()

    def _read_workspace(self) -> None:
        self._query.ask(lambda store: store.log(skip=self._of_workspace))

    def _on_rows(self, rows: list[LogRow]) -> None:
        self._is_read = True
        self._of_workspace += len(rows)  # no query for it is under way
        self._add(list(map(LogEntry.of_workspace, rows)))

    @Slot(object)
    def _on_posted(self, message: Message) -> None:
        self._add([LogEntry.of_window(message)])

    def _add(self, entries: list[LogEntry]) -> None:
        """Keep entries in the order of time, also those that arrive late."""
        newest = max((entry.time for entry in self.model.rows), default=0.0)
        if any(entry.time < newest for entry in entries):
            self.model.set_rows(sorted([*self.model.rows, *entries], key=lambda entry: entry.time))
        else:
            self.model.add_rows(entries)
        self._show_count()
        if self.follow.isChecked():
            self.table.scrollToBottom()

    @Slot()
    def _filter(self) -> None:
        level, words = str(self.level.currentData()), self.words.text()
        self.model.set_filter(lambda entry: entry.passes(level, words))
        self._show_count()

    def _show_count(self) -> None:
        shown, total = self.model.rowCount(), len(self.model.rows)
        self._stack.setCurrentIndex(int(total > 0 or not self._is_read))
        self.count.setText(str(total) if shown == total else f"{shown} of {total}")

    @Slot()
    def _show_details(self) -> None:
        entries = [self.model.row(number) for number in self.table.selected_rows()]
        texts = [
            f"{clock(entry.time)}  {entry.level}  {entry.source}\n{entry.text}\n{entry.details}"
            for entry in entries[:100]
        ]
        self.details.setPlainText("\n".join(texts).strip())

    @Slot()
    def _focus_words(self) -> None:
        self.words.setFocus()
        self.words.selectAll()

    @Slot()
    def _restyle(self) -> None:
        self.model.restyle()
