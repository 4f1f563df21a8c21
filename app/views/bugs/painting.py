"""What all delegates of the bug browser draw alike."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter

LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
CENTER = Qt.AlignmentFlag.AlignCenter
ICON = 16


def draw_elided(painter: QPainter, rect: QRect, text: str) -> None:
    """As much of a text as there is room for, with dots where it is cut."""
    metrics = painter.fontMetrics()
    shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
    painter.drawText(rect, LEFT, shown)


def icon_place(left: int, rect: QRect) -> QRect:
    """Where an icon goes in a row."""
    return QRect(left, rect.top() + (rect.height() - ICON) // 2, ICON, ICON)
