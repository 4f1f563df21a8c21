"""A line of text with buttons beside it, or below it if there is no room for both."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from app.widgets.layouts import hbox

SPACE = 8


class Header(QWidget):
    def __init__(
        self, words: Sequence[QWidget], buttons: Sequence[QWidget], parent: QWidget | None = None
    ) -> None:
        """The last of the `words` takes the room that is left."""
        super().__init__(parent)
        *first, last = words
        self._parts = hbox(*first, (last, 1), spacing=SPACE), hbox(*buttons, 1, spacing=SPACE)
        self._box = hbox((self._parts[0], 1), self._parts[1], parent=self, spacing=SPACE)

    def minimumSizeHint(self) -> QSize:  # noqa: N802  Qt's name
        """It can be as narrow as the wider of both."""
        height = self._box.minimumSize().height()
        return QSize(max(part.minimumSize().width() for part in self._parts), height)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802  Qt's name
        super().resizeEvent(event)
        self._arrange()

    def event(self, event: QEvent) -> bool:
        """Buttons come and go, and text grows."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._arrange()
        return super().event(event)

    def _arrange(self) -> None:
        needed = sum(part.minimumSize().width() for part in self._parts) + SPACE
        is_narrow = self.width() < needed
        way = QBoxLayout.Direction.TopToBottom if is_narrow else QBoxLayout.Direction.LeftToRight
        self._box.setDirection(way)
