"""A verdict in a card: an icon in the colour of what it means, and words."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from app.models.task_fit import Verdict
from app.theme import Theme

_SIGN = QSize(16, 16)


class VerdictLine(QWidget):
    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._icon, self._token = "", "muted"
        self._sign = QLabel()
        self.words = QLabel()
        self.words.setWordWrap(True)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(self.words, 1)
        theme.changed.connect(self._show_sign)
        self._show_sign()

    def text(self) -> str:
        return self.words.text()

    def show_verdict(self, verdict: Verdict, tip: str = "") -> None:
        self._icon, self._token, text = verdict
        self.words.setText(text)
        self.words.setToolTip(tip)
        self._show_sign()

    @Slot()
    def _show_sign(self) -> None:
        self._sign.setVisible(bool(self._icon))
        if self._icon:
            icon = self._theme.icon(self._icon, self._token)
            self._sign.setPixmap(icon.pixmap(_SIGN, self.devicePixelRatioF()))
