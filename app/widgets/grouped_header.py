"""Titles of columns in two rows: groups above the columns that share them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import ceil

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QHeaderView, QWidget

GAP = 6
"""Pixels beside a group, so that two of them look like two."""
LINE_OPACITY = 0.35


class GroupedHeader(QHeaderView):
    def __init__(self, groups: Sequence[str], parent: QWidget) -> None:
        """`groups` has a title for each column; columns without one have an empty title."""
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._groups = groups
        for signal in (self.sectionResized, self.sectionMoved):
            signal.connect(self.viewport().update)

    def sizeHint(self) -> QSize:  # noqa: N802  Qt's name
        size = super().sizeHint()
        return QSize(size.width(), 2 * size.height())

    def widen(self) -> None:
        """Give columns that are narrower than the title of their group more room."""
        metrics = QFontMetrics(self._bold)
        for title, columns in self._runs():
            missing = metrics.horizontalAdvance(title) + 4 * GAP - self._width(columns)
            for column in columns if missing > 0 else ():
                self.resizeSection(column, self.sectionSize(column) + ceil(missing / len(columns)))

    def paintSection(self, painter: QPainter, rect: QRect, column: int) -> None:  # noqa: N802  Qt's name
        super().paintSection(painter, rect.adjusted(0, rect.height() // 2, 0, 0), column)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802  Qt's name
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        painter.setFont(self._bold)
        for title, columns in self._runs():
            left = self.sectionViewportPosition(columns[0]) + GAP
            rect = QRect(left, 0, self._width(columns) - 2 * GAP, self.height() // 2)
            right = Qt.TextElideMode.ElideRight
            text = painter.fontMetrics().elidedText(title, right, rect.width())
            painter.setOpacity(1.0)
            painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)
            painter.setOpacity(LINE_OPACITY)
            painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        painter.end()

    @property
    def _bold(self) -> QFont:
        font = QFont(self.font())
        font.setBold(True)
        return font

    def _width(self, columns: Sequence[int]) -> int:
        return sum(map(self.sectionSize, columns))

    def _runs(self) -> Iterator[tuple[str, list[int]]]:
        """Neighbors of one group, in the order in which they are shown."""
        places = map(self.logicalIndex, range(self.count()))
        shown = [column for column in places if not self.isSectionHidden(column)]
        for title, members in groupby(shown, key=lambda column: self._groups[column]):
            if title:
                yield title, list(members)
