"""A large button with an icon, a title and a sentence."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy, QWidget

from app.services.theme import Theme
from app.widgets.builders import heading, paragraph
from app.widgets.layouts import hbox, vbox

_ICON = QSize(20, 20)


class LinkCard(QPushButton):
    def __init__(
        self, theme: Theme, icon: str, title: str, text: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme, self._icon = theme, icon
        self.setAccessibleName(f"{title}: {text}")
        self.setToolTip(text)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        self._picture = QLabel()
        head, body = heading(title), paragraph(text)
        body.setAlignment(Qt.AlignmentFlag.AlignTop)
        words = vbox(head, body, 1, spacing=2)
        self._content = hbox(
            (self._picture, 0, Qt.AlignmentFlag.AlignTop),
            (words, 1),
            parent=self,
            spacing=12,
            margins=(12, 8, 12, 8),
        )
        for label in (self._picture, head, body):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        theme.changed.connect(self._show_icon)
        self._show_icon()

    def sizeHint(self) -> QSize:  # noqa: N802  Qt's name
        return self._content.sizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802  Qt's name
        """A narrow card is higher."""
        super().resizeEvent(event)
        self.setMinimumHeight(self._content.heightForWidth(self.width()))

    @Slot()
    def _show_icon(self) -> None:
        icon = self._theme.icon(self._icon, "accent")
        self._picture.setPixmap(icon.pixmap(_ICON, self.devicePixelRatioF()))
