"""What an empty screen or pane shows: why it is empty, and the one thing to do next."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from app.services.theme import Theme
from app.widgets.builders import describe, paragraph
from app.widgets.layouts import hbox, vbox

WIDTH = 480
ICON = QSize(48, 48)


class EmptyState(QWidget):
    """An icon, a title, a sentence or two, and at most one button."""

    def __init__(
        self,
        theme: Theme,
        icon: str,
        title: str,
        text: str,
        *,
        action_text: str = "",
        on_action: Callable[[], None] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme, self._icon = theme, icon
        self._on_action = on_action
        self._picture = QLabel()
        self.title = _centered(title, "title")
        self.text = _centered(text, "muted")
        self.button = QPushButton(action_text)
        describe(self.button, "empty-action", action_text or title)
        self.button.setProperty("primary", True)
        self.button.setVisible(bool(action_text))
        self.button.clicked.connect(self._act)
        layout = vbox(
            2,
            (self._picture, 0, Qt.AlignmentFlag.AlignHCenter),
            parent=self,
            spacing=8,
            margins=None,
        )
        for label in (self.title, self.text):
            # Aligned by itself, a label that wraps would not get the height it needs.
            row = hbox(1, label, 1)
            layout.addLayout(row)
        layout.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(3)
        theme.changed.connect(self._show_icon)
        self._show_icon()

    def set_action(self, text: str) -> None:
        """Give the button another text."""
        self.button.setText(text)
        self.button.setAccessibleName(text)

    @Slot()
    def _act(self) -> None:
        if self._on_action is not None:
            self._on_action()

    @Slot()
    def _show_icon(self) -> None:
        ratio = self.devicePixelRatioF()
        self._picture.setPixmap(self._theme.icon(self._icon, "disabled").pixmap(ICON, ratio))


def _centered(text: str, role: str) -> QLabel:
    made = paragraph(text, role)
    made.setAlignment(Qt.AlignmentFlag.AlignHCenter)
    made.setFixedWidth(WIDTH)
    return made
