"""A file of the project with its errors and warnings; selecting one jumps to its line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from app.services.theme import Theme
from app.widgets.builders import describe, heading, label
from app.widgets.code_view import CodeView, Mark
from app.widgets.layouts import hbox, vbox
from engine.errors import PlumblineError
from engine.pddl import Diagnostic, Severity
from engine.pddl.reader import read_text
from engine.report.words import count_text

MAX_SHOWN_DIAGNOSTICS = 5
MAX_SHOWN_CHARACTERS = 2_000_000
"""Longer files are cut here."""


class SourceView(QWidget):
    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.path = ""
        self._diagnostics: tuple[Diagnostic, ...] = ()
        self.name = heading("")
        self.summary = label(role="muted")
        self.code = CodeView(theme, "project-code", "Contents of the file")
        self.list = QListWidget()
        describe(self.list, "project-diagnostics", "Errors and warnings")
        self.list.setWordWrap(True)
        self.list.currentRowChanged.connect(self._jump)
        self.list.itemActivated.connect(self._enter)
        top = hbox(self.name, (self.summary, 1))
        vbox(top, (self.code, 1), self.list, parent=self, spacing=6)
        theme.changed.connect(self._fill_list)
        self._fill_list()

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return self._diagnostics

    def show_file(self, path: str, diagnostics: Sequence[Diagnostic]) -> None:
        """The file as it is now; if it is the one that is shown, the cursor stays."""
        place = self.code.place if path == self.path else None
        text = self._text(path)
        is_news = text != self.code.toPlainText() or path != self.path
        self.path = path
        self.name.setText(Path(path).name)
        self.name.setToolTip(path)
        if is_news:
            self.code.show_text(text)
            if place is not None:
                self.code.jump_to(*place)
        if is_news or tuple(diagnostics) != self._diagnostics:
            self._diagnostics = tuple(diagnostics)
            self.code.set_marks([_mark(item) for item in diagnostics if item.location.line])
            self._fill_list()
            self.show_first_error()

    def show_first_error(self) -> None:
        for row, item in enumerate(self._diagnostics):
            if item.severity is Severity.ERROR:
                self.list.setCurrentRow(row)
                self._jump(row)
                return

    def next_mark(self, step: int) -> None:
        """Go to the next error or warning, and around at the end."""
        if self._diagnostics:
            row = self.list.currentRow()
            start = row if row >= 0 else (-1 if step > 0 else 0)
            self.list.setCurrentRow((start + step) % len(self._diagnostics))

    def _text(self, path: str) -> str:
        """Return the text; the list shows why a file cannot be read."""
        try:
            return read_text(path)[:MAX_SHOWN_CHARACTERS]
        except PlumblineError:
            return ""

    @Slot()
    def _fill_list(self) -> None:
        row = self.list.currentRow()
        self.list.blockSignals(True)
        self.list.clear()
        for item in self._diagnostics:
            is_error = item.severity is Severity.ERROR
            icon = self._theme.icon(
                "error" if is_error else "warning", "bad" if is_error else "undecided"
            )
            entry = QListWidgetItem(icon, _words(item))
            entry.setToolTip(str(item))
            self.list.addItem(entry)
        self.list.setCurrentRow(row)
        self.list.blockSignals(False)
        row = self.list.sizeHintForRow(0)
        self.list.setFixedHeight(
            row * min(max(len(self._diagnostics), 1), MAX_SHOWN_DIAGNOSTICS) + 6
        )
        self.list.setVisible(bool(self._diagnostics))
        self.summary.setText(self._count())

    def _count(self) -> str:
        errors = sum(item.severity is Severity.ERROR for item in self._diagnostics)
        warnings = len(self._diagnostics) - errors
        parts = [(errors, "error"), (warnings, "warning")]
        words = [count_text(number, noun) for number, noun in parts if number]
        return f"{', '.join(words)} · press F8 for the next" if words else ""

    @Slot(int)
    def _jump(self, row: int) -> None:
        if 0 <= row < len(self._diagnostics):
            place = self._diagnostics[row].location
            if place.line:
                self.code.jump_to(place.line, place.column or 1)

    @Slot(QListWidgetItem)
    def _enter(self, item: QListWidgetItem) -> None:
        self._jump(self.list.row(item))
        self.code.setFocus(Qt.FocusReason.OtherFocusReason)


def _mark(item: Diagnostic) -> Mark:
    text = f"{item.message}\n{item.hint}" if item.hint else item.message
    is_error = item.severity is Severity.ERROR
    return Mark(item.location.line or 1, item.location.column or 1, text, is_error)


def _words(item: Diagnostic) -> str:
    place = item.location
    where = f"{place.line}:{place.column}  " if place.line else ""
    return f"{where}{item.message}; {item.hint}" if item.hint else f"{where}{item.message}"
