"""Drawing functions shared by the delegates of the bug browser."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.services.theme import Theme

LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
CENTER = Qt.AlignmentFlag.AlignCenter
ICON = 16
MIN_NAME_LENGTH = 4
"""Of an action, with the bracket before it."""


def draw_elided(painter: QPainter, rect: QRect, text: str) -> None:
    """As much of a text as there is room for, with dots where it is cut."""
    metrics = painter.fontMetrics()
    shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
    painter.drawText(rect, LEFT, shown)


def draw_action(painter: QPainter, rect: QRect, action: str) -> None:
    painter.drawText(rect, LEFT, elided_action(painter.fontMetrics(), action, rect.width()))


def elided_action(metrics: QFontMetrics, action: str, width: int) -> str:
    """A long ground action loses the end of its name first: objects tell one from the other."""
    if metrics.horizontalAdvance(action) <= width:
        return action
    name, space, objects = action.partition(" ")
    room = width - metrics.horizontalAdvance(space + objects)
    if room >= metrics.horizontalAdvance(name[:MIN_NAME_LENGTH] + "…"):
        return metrics.elidedText(name, Qt.TextElideMode.ElideRight, room) + space + objects
    return metrics.elidedText(action, Qt.TextElideMode.ElideMiddle, width)


def icon_place(left: int, rect: QRect) -> QRect:
    """Where an icon goes in a row."""
    return QRect(left, rect.top() + (rect.height() - ICON) // 2, ICON, ICON)


class ColorfulDelegate(QStyledItemDelegate):
    """Selected rows keep their colors: they mean something."""

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
