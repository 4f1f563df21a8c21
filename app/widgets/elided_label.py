"""A label that gives way: what does not fit is left out in the middle, and told by a tooltip."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

_LEAST_WIDTH = 40


class ElidedLabel(QLabel):
    def __init__(
        self,
        text: str = "",
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, parent)
        self._mode = mode
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setToolTip(text)

    def setText(self, text: str) -> None:  # noqa: N802  Qt's name
        super().setText(text)
        self.setToolTip(text)

    def minimumSizeHint(self) -> QSize:  # noqa: N802  Qt's name
        return QSize(_LEAST_WIDTH, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802  Qt's name
        del event
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        place = self.contentsRect()
        text = self.fontMetrics().elidedText(self.text(), self._mode, place.width())
        painter.drawText(place, self.alignment() | Qt.AlignmentFlag.AlignVCenter, text)
