"""What all delegates of the bug browser draw alike."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.theme import Theme

LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
CENTER = Qt.AlignmentFlag.AlignCenter
ICON = 16


def draw_elided(
    painter: QPainter, rect: QRect, text: str, mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight
) -> None:
    """As much of a text as there is room for, with dots where it is cut."""
    shown = painter.fontMetrics().elidedText(text, mode, rect.width())
    painter.drawText(rect, LEFT, shown)


def draw_action(painter: QPainter, rect: QRect, action: str) -> None:
    """Of a long action the middle is left out: what tells it from others is often at its end."""
    draw_elided(painter, rect, action, Qt.TextElideMode.ElideMiddle)


def icon_place(left: int, rect: QRect) -> QRect:
    """Where an icon goes in a row."""
    return QRect(left, rect.top() + (rect.height() - ICON) // 2, ICON, ICON)


class ColourfulDelegate(QStyledItemDelegate):
    """Selected rows keep their colours: they mean something."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        plain = QStyleOptionViewItem(option)
        if plain.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(plain.rect, self._theme.color("selection"))
            plain.state &= ~QStyle.StateFlag.State_Selected
        super().paint(painter, plain, index)
