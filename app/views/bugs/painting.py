"""Drawing functions shared by the delegates of the bug browser."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFontMetrics, QPainter

LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
CENTER = Qt.AlignmentFlag.AlignCenter
ICON = 16
MIN_OBJECT_LENGTH = 3
MIN_NAME_LENGTH = 4
"""Of an action, with the bracket before it."""


def draw_elided(painter: QPainter, rect: QRect, text: str) -> None:
    """Draw as much of a text as there is room for, with dots where it is cut."""
    metrics = painter.fontMetrics()
    shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
    painter.drawText(rect, LEFT, shown)


def elided_action(metrics: QFontMetrics, action: str, width: int) -> str:
    """A long ground action with as much of its name and of its objects as there is room for.

    Objects lose their middles, because names often differ at their ends; long ones lose more. The
    name loses its end only when objects have nothing left to lose: it says what happens.
    """
    if metrics.horizontalAdvance(action) <= width:
        return action
    name, *objects = action.removesuffix(")").split(" ")
    end = ")" if action.endswith(")") else ""
    longest = max(map(len, objects), default=0)
    least = MIN_OBJECT_LENGTH
    sizes = [(len(name), most) for most in range(longest, least - 1, -1)]
    sizes += [(most, least) for most in range(len(name), MIN_NAME_LENGTH - 1, -1)]
    for name_length, most in sizes:
        short = [_shortened(item, most) for item in objects]
        text = f"{' '.join([_shortened(name, name_length, ends=False), *short])}{end}"
        if metrics.horizontalAdvance(text) <= width:
            return text
    return metrics.elidedText(action, Qt.TextElideMode.ElideMiddle, width)


def _shortened(name: str, most: int, *, ends: bool = True) -> str:
    """Shorten a text to a number of letters, with dots for the rest."""
    if len(name) <= most:
        return name
    return f"{name[: most - 3]}…{name[-2:]}" if ends else f"{name[: most - 1]}…"


def icon_place(left: int, rect: QRect) -> QRect:
    """The place of an icon in a row."""
    return QRect(left, rect.top() + (rect.height() - ICON) // 2, ICON, ICON)
