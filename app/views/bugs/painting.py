"""Drawing functions shared by the delegates of the bug browser."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFontMetrics, QPainter

LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
CENTER = Qt.AlignmentFlag.AlignCenter
ICON = 16
MIN_OBJECT_LENGTH = 3
MIN_NAME_LENGTH = 4
"""Of an action, with the bracket before it."""
_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]+")
_BESIDE_LETTER = re.compile(r"(?<=[^\W\d_])[-_]")


def draw_elided(painter: QPainter, rect: QRect, text: str) -> None:
    """Draw as much of a text as there is room for, with dots where it is cut."""
    metrics = painter.fontMetrics()
    shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
    painter.drawText(rect, LEFT, shown)


def elided_action(metrics: QFontMetrics, action: str, width: int) -> str:
    """A long ground action with as much of its name and of its objects as there is room for.

    Objects with numbers become initials, as in `(load p2 t1)`, with more letters where two kinds
    would look the same and there is room; others lose their middles, because names often differ at
    their ends. The name loses its end only when objects have nothing left to lose: it says what
    happens.
    """
    if metrics.horizontalAdvance(action) <= width:
        return action
    name, *objects = action.removesuffix(")").split(" ")
    end = ")" if action.endswith(")") else ""
    longest = max(map(len, objects), default=0)
    least = MIN_OBJECT_LENGTH
    letters = _letters(objects)
    sizes = [(len(name), most, letters) for most in range(max(longest, least), least - 1, -1)]
    sizes += [(most, least, {}) for most in range(len(name), MIN_NAME_LENGTH - 1, -1)]
    for name_length, most, kinds in sizes:
        short = [_short_object(item, most, kinds) for item in objects]
        text = f"{' '.join([_short_name(name, name_length), *short])}{end}"
        if metrics.horizontalAdvance(text) <= width:
            return text
    return metrics.elidedText(action, Qt.TextElideMode.ElideMiddle, width)


def _letters(objects: Sequence[str]) -> dict[str, int]:
    """How many letters of each word tell a kind of objects with numbers from the other kinds."""
    kinds = {_kind(name) for name in objects if name[-1].isdigit()}
    return {kind: _distinguishing(kind, kinds - {kind}) for kind in kinds}


def _distinguishing(kind: str, others: Set[str]) -> int:
    enough = (n for n in range(1, 4) if _initials(kind, n) not in {_initials(o, n) for o in others})
    return next(enough, 1)


def _kind(name: str) -> str:
    return _NUMBER.sub("", name)


def _initials(name: str, letters: int) -> str:
    return _BESIDE_LETTER.sub("", _WORD.sub(lambda word: word[0][:letters], name))


def _short_object(name: str, most: int, letters: Mapping[str, int]) -> str:
    """The initials of its words and its number, as `cl3` of `city-loc-3`; or that many letters."""
    if name[-1].isdigit():
        return _initials(name, letters.get(_kind(name), 1))
    return name if len(name) <= most else f"{name[: most - 3]}…{name[-2:]}"


def _short_name(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def icon_place(left: int, rect: QRect) -> QRect:
    """The place of an icon in a row."""
    return QRect(left, rect.top() + (rect.height() - ICON) // 2, ICON, ICON)
