"""One condition of the filter as a chip."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QWidget

from app.theme import Theme
from engine.campaign.bug_filter import COLUMNS


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
        cross.setObjectName("filter-chip-remove")
        cross.setAccessibleName(f"Remove {condition}")
        cross.setToolTip("Remove this condition")
        cross.setAutoRaise(True)
        cross.setFixedSize(18, 18)
        cross.clicked.connect(self._remove)
        theme.keep_icon(cross, "close", "muted")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(8, 0, 2, 0)
        layout.setSpacing(2)
        layout.addWidget(label)
        layout.addWidget(cross)
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
    """What the column of a condition is about."""
    name = condition.lstrip("-").partition(":")[0]
    for mark in (">", "<", "="):
        name = name.partition(mark)[0]
    column = COLUMNS.get(name)
    return f"{name}: {column.meaning}" if column else "anywhere in the texts of a bug"
