"""The filter of the bug table: finished conditions are chips, the one being edited is text.

Space or Enter finishes a condition, Backspace edits the last chip. The filter applies while the
user types; an invalid condition is explained below and does not filter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QSize, QStringListModel, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCompleter, QFrame, QLabel, QSizePolicy, QToolButton, QWidget

from app.services.theme import Theme
from app.widgets.builders import describe, label
from app.widgets.fields import KeyedLineEdit
from app.widgets.layouts import hbox, vbox
from engine.workspace.filter import (
    COLUMNS,
    FilterError,
    Term,
    completions,
    parse_terms,
    split_words,
)

DELAY_MILLISECONDS = 120
Values = Callable[[], Mapping[str, Sequence[str]]]
HELP = "\n".join(
    (
        "Show bugs that satisfy all conditions:",
        "  gap>5   cost:10..20   region:none   compare numbers",
        "  oracle:bmo|aras   kind:fails   contain one of these texts",
        '  note:"wrong truck"   quote texts with spaces',
        "  -status:ignored   negate a condition",
        "  crane   contain this text in any column",
        "",
        *(f"  {column.name}: {column.meaning}" for column in COLUMNS.values()),
    )
)


class FilterChip(QFrame):
    """A finished condition, with a cross to remove it."""

    removed = Signal(object)

    def __init__(self, condition: str, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.condition = condition
        self.setObjectName("filter-chip")
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        label = QLabel(condition)
        label.setToolTip(_meaning(condition))
        cross = QToolButton()
        describe(
            cross, "filter-chip-remove", f"Remove condition {condition}", "Remove this condition"
        )
        cross.setAutoRaise(True)
        cross.setFixedSize(18, 18)
        cross.clicked.connect(self._remove)
        theme.keep_icon(cross, "close", "muted")
        hbox(label, cross, parent=self, spacing=2, margins=(8, 0, 2, 0))
        self._theme, self._label = theme, label
        theme.changed.connect(self._restyle)
        self._restyle()

    @Slot()
    def _remove(self) -> None:
        self.removed.emit(self)

    @Slot()
    def _restyle(self) -> None:
        color = self._theme.color
        self._label.setFont(self._theme.mono_font)
        self.setStyleSheet(
            f"QFrame#filter-chip {{ background: {color('selection').name()}; border: none; "
            "border-radius: 9px; }"
            f"QLabel {{ color: {color('text').name()}; background: transparent; }}"
            "QToolButton { border: none; background: transparent; }"
        )


def _meaning(condition: str) -> str:
    """Return what the column of a condition means."""
    name = condition.lstrip("-").partition(":")[0]
    for mark in (">", "<", "="):
        name = name.partition(mark)[0]
    column = COLUMNS.get(name)
    return f"{name}: {column.meaning}" if column else "this text in any column"


class FilterBar(QWidget):
    changed = Signal(object)
    """The conditions, as a tuple of `Term`."""
    left = Signal()
    """The user leaves the filter for the table."""

    def __init__(self, theme: Theme, values: Values, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("bug-filter")
        self._theme, self._values = theme, values
        self._chips: list[FilterChip] = []
        self._terms: tuple[Term, ...] = ()
        self.edit = KeyedLineEdit(self._on_key)
        describe(self.edit, "bug-filter-text", "Filter bugs")
        self.edit.setFrame(False)
        self.edit.setToolTip(HELP)
        self.edit.focus_changed.connect(self._restyle)
        self.edit.textEdited.connect(self._on_edited)
        self.problem = label(role="bad", name="bug-filter-problem")
        self.problem.hide()
        self._frame = QFrame()
        self._frame.setObjectName("filter-frame")
        glass = label(name="filter-glass")
        self._glass = glass
        self._row = hbox(glass, (self.edit, 1), parent=self._frame, spacing=4, margins=(6, 2, 6, 2))
        vbox(self._frame, self.problem, parent=self, spacing=2)
        self._names = QStringListModel(self)
        self._completer = QCompleter(self._names, self)
        self._completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self._completer.setWidget(self.edit)
        self._completer.activated.connect(self._complete)
        popup = self._completer.popup()
        assert popup is not None  # a completer with a popup mode has one
        self._popup = popup
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DELAY_MILLISECONDS)
        self._timer.timeout.connect(self._apply)
        theme.changed.connect(self._restyle)
        self._restyle()
        self._apply()

    @property
    def text(self) -> str:
        """The whole filter, as it would be written on the command line."""
        return " ".join([*(chip.condition for chip in self._chips), self.edit.text()]).strip()

    def set_text(self, text: str) -> None:
        """Set the whole filter; every valid condition becomes a chip."""
        self._clear_chips()
        self.edit.clear()
        good = []
        for _, word in split_words(text):
            if self._problem_with(word):
                self.edit.setText(f"{self.edit.text()} {word}".strip())
            else:
                good.append(word)
        for word in good:
            self._add_chip(word)
        self._apply(finished=True)

    def focus(self) -> None:
        self.edit.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.edit.selectAll()

    def _on_key(self, event: QKeyEvent) -> bool:
        """Return whether a key was handled."""
        key, text = event.key(), self.edit.text()
        if key in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            return self._finish(text, leave=key != Qt.Key.Key_Space)
        if key == Qt.Key.Key_Backspace and not text and self._chips:
            self.edit.setText(self._remove_chip(self._chips[-1]))
            self._apply()
            return True
        if key == Qt.Key.Key_Escape:
            if text:
                self.edit.clear()
                self._apply()
            self.left.emit()
            return True
        if key == Qt.Key.Key_Down and not self._popup.isVisible():
            self._suggest()
            if not self._names.stringList():
                self.left.emit()
            return True
        return False

    def _finish(self, text: str, leave: bool) -> bool:
        if text.count('"') % 2 and not leave:
            return False  # a space inside quotes
        words = [word for _, word in split_words(text)]
        if not words and not leave:
            return True
        if self._problem_with(text):
            self._apply(finished=True)
            return True
        for word in words:
            self._add_chip(word)
        self.edit.clear()
        self._apply()
        if leave:
            self.left.emit()
        return True

    def _problem_with(self, text: str) -> bool:
        try:
            parse_terms(text)
        except FilterError:
            return True
        return False

    @Slot()
    def _on_edited(self) -> None:
        if len(split_words(self.edit.text())) > 1 and self.edit.text().count('"') % 2 == 0:
            self._finish(self.edit.text(), leave=False)  # several conditions were pasted
            return
        self._suggest()
        self._timer.start()

    def _suggest(self) -> None:
        word = self.edit.text()
        found = completions(word, self._values())[:12]
        self._names.setStringList(found)
        if found and self.edit.hasFocus():
            self._completer.complete()
        else:
            self._popup.hide()

    @Slot(str)
    def _complete(self, text: str) -> None:
        self.edit.setText(text)
        if not text.endswith((":", ">")):
            self._finish(text, leave=False)
        self._apply()

    @Slot()
    def _apply(self, finished: bool = False) -> None:
        """Apply the valid conditions; explain an invalid one once it is finished.

        A word that may still become the name of a column does not filter before it is finished.
        """
        self._timer.stop()
        terms: list[Term] = []
        problem = ""
        for chip in self._chips:
            terms += parse_terms(chip.condition)
        text = self.edit.text()
        try:
            if finished or not _may_become_name(text):
                terms += parse_terms(text)
        except FilterError as error:
            problem = str(error).removeprefix("filter: ") if finished else ""
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        self.edit.setPlaceholderText("" if self._chips else "Filter: gap>5 oracle:bmo status:new")
        if [term.text for term in terms] != [term.text for term in self._terms]:
            self._terms = tuple(terms)
            self.changed.emit(self._terms)

    def _add_chip(self, condition: str) -> None:
        chip = FilterChip(condition, self._theme, self)
        chip.removed.connect(self._on_chip_removed)
        self._chips.append(chip)
        self._row.insertWidget(self._row.count() - 1, chip)

    def _remove_chip(self, chip: FilterChip) -> str:
        self._chips.remove(chip)
        self._row.removeWidget(chip)
        chip.hide()
        chip.deleteLater()
        return chip.condition

    def _clear_chips(self) -> None:
        for chip in list(self._chips):
            self._remove_chip(chip)

    @Slot(object)
    def _on_chip_removed(self, chip: FilterChip) -> None:
        self._remove_chip(chip)
        self.edit.setFocus()
        self._apply()

    @Slot()
    def _restyle(self) -> None:
        color = self._theme.color
        border = color("accent" if self.edit.hasFocus() else "border").name()
        self._frame.setStyleSheet(
            f"QFrame#filter-frame {{ background: {color('surface').name()}; "
            f"border: 1px solid {border}; border-radius: 6px; }}"
            "QLineEdit { background: transparent; border: none; padding: 0; }"
        )
        self._glass.setPixmap(
            self._theme.icon("search", "muted").pixmap(QSize(16, 16), self.devicePixelRatioF())
        )


def _may_become_name(text: str) -> bool:
    word = text.lstrip("-")
    return bool(word) and any(name.startswith(word) for name in COLUMNS)
