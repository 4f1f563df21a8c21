"""Elided texts: the parts that several texts have in common are cut first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QFontMetrics

DOTS = "…"
NEAR = 30
"""Rows above and below that can be seen at the same time."""
MAX_KNOWN = 10_000
Index = QModelIndex | QPersistentModelIndex
Fits = Callable[[str], bool]


def middle_cut(metrics: QFontMetrics, text: str, width: int) -> str:
    """Names often differ at their ends."""
    return metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, width)


def end_cut(metrics: QFontMetrics, text: str, width: int) -> str:
    return metrics.elidedText(text, Qt.TextElideMode.ElideRight, width)


def rows_near(index: Index) -> range:
    return range(max(0, index.row() - NEAR), min(index.model().rowCount(), index.row() + NEAR + 1))


def texts_near(index: Index) -> list[str]:
    """What the rows around a cell say in its column."""
    return [str(index.sibling(row, index.column()).data() or "") for row in rows_near(index)]


class Elider:
    """Cuts texts in one way; remembers how, as painting asks for the same ones again and again."""

    def __init__(self, cut: Callable[[QFontMetrics, str, int], str]) -> None:
        self._cut = cut
        self._known: dict[tuple[str, int, int, int], str] = {}

    def shown(
        self, metrics: QFontMetrics, text: str, width: int, others: Callable[[], Iterable[str]]
    ) -> str:
        """The text, cut if it must be; of those that would look the same, what differs."""

        def fits(shown: str) -> bool:
            return metrics.horizontalAdvance(shown) <= width

        if fits(text):
            return text
        alike: dict[str, set[str]] = {}
        for other in {text, *others()}:
            alike.setdefault(self._short(metrics, other, width), set()).add(other)
        short = self._short(metrics, text, width)
        if len(alike[short]) == 1:
            return short
        rivals = {one for group in alike.values() if len(group) > 1 for one in group}
        return _around_the_difference(text, rivals - {text}, fits)

    def _short(self, metrics: QFontMetrics, text: str, width: int) -> str:
        key = (text, width, metrics.height(), metrics.averageCharWidth())
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            found = self._known[key] = self._cut(metrics, text, width)
        return found


def _around_the_difference(text: str, rivals: Iterable[str], fits: Fits) -> str:
    """The first letter that differs from each rival; words around it and a beginning, as they fit.

    If a rival is the text and more, that is the last letter.
    """
    kept = {min(_equal(text, rival), len(text) - 1) for rival in rivals}
    while len(kept) > 1 and not fits(_pieces(text, kept)):
        kept.remove(max(kept))
    words = [match.span() for match in re.finditer(r"[^\W_]+", text)]
    around = [n for begin, end in words for n in range(begin, end) if kept & {*range(begin, end)}]
    for place in (*around, *range(len(text))):
        if not fits(_pieces(text, kept | {place})):
            break
        kept.add(place)
    return _pieces(text, kept)


def _equal(one: str, other: str) -> int:
    """How many of the first letters are."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _pieces(text: str, kept: set[int]) -> str:
    """The letters at these places; dots for what is between them."""
    shown = ""
    for place, letter in enumerate(text):
        if place in kept:
            shown += letter
        elif not shown.endswith(DOTS):
            shown += DOTS
    return shown
