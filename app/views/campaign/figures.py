"""The figures of a campaign in one row: a number and what it counts."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.theme import Theme

MARGIN, SPACE = 12, 24


class Figures(QFrame):
    """`captions` by name, with the sentence that explains each."""

    def __init__(
        self, theme: Theme, captions: Mapping[str, str], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setProperty("card", True)
        self._theme = theme
        self.numbers: dict[str, QLabel] = {}
        self._cells: list[QWidget] = []
        layout = QHBoxLayout(self)
        layout.setContentsMargins(MARGIN, 8, MARGIN, 8)
        layout.setSpacing(SPACE)
        for caption, meaning in captions.items():
            number = QLabel("–")  # noqa: RUF001  a dash, not a minus
            number.setProperty("role", "title")
            number.setObjectName(f"figure-{caption.replace(' ', '-')}")
            number.setAccessibleName(caption)
            words = QLabel(caption)
            words.setProperty("role", "muted")
            cell = QWidget()
            lines = QVBoxLayout(cell)
            lines.setContentsMargins(0, 0, 0, 0)
            lines.setSpacing(0)
            for label in (number, words):
                label.setToolTip(meaning)
                lines.addWidget(label)
            self.numbers[caption] = number
            self._cells.append(cell)
            layout.addWidget(cell)
        layout.addStretch(1)

    def minimumSizeHint(self) -> QSize:  # noqa: N802  Qt's name
        """The first of them is enough."""
        hint = super().minimumSizeHint()
        return QSize(self._cells[0].sizeHint().width() + 2 * MARGIN, hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802  Qt's name
        super().resizeEvent(event)
        self._fit()

    def event(self, event: QEvent) -> bool:
        """Numbers and text grow."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return super().event(event)

    def _fit(self) -> None:
        """What has no room is left out, the last first: half a word says nothing."""
        end = self.width() - MARGIN
        place = MARGIN
        for cell in self._cells:
            place += cell.sizeHint().width()
            cell.setVisible(place <= end or cell is self._cells[0])
            place += SPACE

    def show_number(self, caption: str, text: str) -> None:
        self.numbers[caption].setText(text)
