"""Labels: one that shortens text that does not fit, and one that shows a verdict with its icon."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app.services.theme import Theme
from app.widgets.builders import label
from app.widgets.layouts import hbox
from engine.plain_text import printable
from engine.report.policy_text import Verdict

MIN_WIDTH = 40
_SIGN = QSize(16, 16)


class ElidedLabel(QLabel):
    """Its tooltip has the whole text."""

    def __init__(
        self,
        text: str = "",
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle,
        *,
        role: str = "",
        name: str = "",
    ) -> None:
        super().__init__(text)
        self._mode = mode
        self.setProperty("role", role)
        self.setObjectName(name)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setToolTip(text)

    def setText(self, text: str) -> None:  # noqa: N802  Qt's name
        super().setText(text)
        self.setToolTip(text)

    def minimumSizeHint(self) -> QSize:  # noqa: N802  Qt's name
        return QSize(MIN_WIDTH, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802  Qt's name
        del event
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        place = self.contentsRect()
        text = self.fontMetrics().elidedText(printable(self.text()), self._mode, place.width())
        painter.drawText(place, self.alignment() | Qt.AlignmentFlag.AlignVCenter, text)


class VerdictLine(QWidget):
    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._icon, self._token = "", "muted"
        self._sign = QLabel()
        self.words = label(wrap=True, selectable=True)
        hbox((self._sign, 0, Qt.AlignmentFlag.AlignTop), (self.words, 1), parent=self)
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
