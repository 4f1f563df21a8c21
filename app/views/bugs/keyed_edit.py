"""A line of text in which some keys mean more than text."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget


class KeyedLineEdit(QLineEdit):
    focus_changed = Signal()

    def __init__(self, takes: Callable[[QKeyEvent], bool], parent: QWidget | None = None) -> None:
        """`takes` is asked about every key first, and says whether it was meant for it."""
        super().__init__(parent)
        self._takes = takes

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802  Qt's name
        if not self._takes(event):
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802  Qt's name
        super().focusInEvent(event)
        self.focus_changed.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802  Qt's name
        super().focusOutEvent(event)
        self.focus_changed.emit()
