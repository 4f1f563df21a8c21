"""The rail on the left: one button per screen, an icon over a word."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QKeySequence
from PySide6.QtWidgets import QButtonGroup, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from app.services.theme import Theme
from app.shell.pages import PageEntry

WIDTH = 84
MARGIN = 4
ICON = QSize(24, 24)


class Rail(QWidget):
    chosen = Signal(str)  # the name of a page

    def __init__(
        self, pages: Sequence[PageEntry], theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("rail")
        self.setAccessibleName("Screens")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._theme = theme
        self._icons = {page.name: page.icon for page in pages}
        self._buttons: dict[str, QToolButton] = {}
        group = QButtonGroup(self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 8, 0, 8)
        layout.setSpacing(0)
        for number, page in enumerate(pages, start=1):
            button = self._make_button(page, number)
            group.addButton(button)
            layout.addWidget(button)
        layout.addStretch(1)
        theme.changed.connect(self._restyle)
        self._restyle()

    def show_current(self, name: str) -> None:
        self._buttons[name].setChecked(True)
        self._show_icons()

    def _make_button(self, page: PageEntry, number: int) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName(f"rail-{page.name}")
        button.setAccessibleName(page.title)
        button.setText(page.title)
        keys = QKeySequence(f"Ctrl+{number}").toString(QKeySequence.SequenceFormat.NativeText)
        button.setToolTip(f"{page.title} ({keys})")
        button.setCheckable(True)
        button.setIconSize(ICON)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(self._choose)
        self._buttons[page.name] = button
        return button

    @Slot()
    def _choose(self) -> None:
        sender = self.sender()
        assert sender is not None
        self.chosen.emit(sender.objectName().removeprefix("rail-"))

    @Slot()
    def _restyle(self) -> None:
        """Fit the width to the longest word, also with larger text."""
        self._show_icons()
        words = [button.text() for button in self._buttons.values()]
        font = self._theme.ui_font
        font.setPointSize(font.pointSize() - 1)  # as the style sheet says
        widest = max(map(QFontMetrics(font).horizontalAdvance, words), default=0)
        self.setFixedWidth(max(WIDTH, widest + 2 * MARGIN))

    def _show_icons(self) -> None:
        for name, button in self._buttons.items():
            token = "accent" if button.isChecked() else "muted"
            button.setIcon(self._theme.icon(self._icons[name], token))
