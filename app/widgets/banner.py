"""Banners above the screen: what happened and what to do about it."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from app.services.messages import Action, Message, Messages
from app.services.theme import Theme
from app.widgets.builders import describe, label
from app.widgets.layouts import hbox, vbox

MAX_BANNERS = 3
"""Banners shown at once; the log has all messages."""
INFO_MILLISECONDS = 10_000
"""How long a message without a button stays."""
OFFER_MILLISECONDS = 20_000
"""How long a message with a button stays."""
DETAILS_HEIGHT = 160
ICON = QSize(20, 20)
_TOKENS = {"info": "accent", "warning": "undecided", "error": "bad"}


class BannerArea(QWidget):
    """Shows what is posted, the newest on top."""

    def __init__(self, messages: Messages, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("banners")
        self._theme = theme
        self._layout = vbox(parent=self, spacing=0)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        messages.posted.connect(self.post)
        messages.withdrawn.connect(self.withdraw)

    def banners(self) -> list[Banner]:
        """The newest first."""
        found = self.findChildren(Banner, options=Qt.FindChildOption.FindDirectChildrenOnly)
        return sorted(found, key=lambda banner: -banner.message.time)

    @Slot(object)
    def post(self, message: Message) -> None:
        for banner in self._same(message):
            banner.dismiss()
        for banner in self.banners()[MAX_BANNERS - 1 :]:
            banner.dismiss()
        self._layout.insertWidget(0, Banner(message, self._theme, self))

    @Slot(object)
    def withdraw(self, message: Message) -> None:
        for banner in self.banners():
            if banner.message is message:
                banner.dismiss()

    def _same(self, message: Message) -> list[Banner]:
        """Find banners that say the same, so that it is shown once."""
        wanted = (message.level, message.text)
        return [
            item for item in self.banners() if (item.message.level, item.message.text) == wanted
        ]


class Banner(QFrame):
    def __init__(self, message: Message, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.message = message
        self._theme = theme
        describe(self, "banner", f"{message.level}: {message.text}")
        self.setProperty("level", message.level)
        self._picture = QLabel()
        self._picture.setFixedWidth(ICON.width())
        self._text = label(message.text, wrap=True)
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._details: QPlainTextEdit | None = None
        self._copy = self._button("Copy", "banner-copy", "Copy the message and its details")
        self._build(message)
        theme.changed.connect(self._show_icon)
        self._show_icon()
        if message.level == "info" and not (message.lasting or message.details):
            timer = QTimer(self)
            timer.timeout.connect(self._go_unless_used)
            timer.start(OFFER_MILLISECONDS if message.actions else INFO_MILLISECONDS)

    @Slot()
    def _go_unless_used(self) -> None:
        """Stay while the user may be about to press a button of the banner."""
        focus = QApplication.focusWidget()
        if not (self.underMouse() or (focus is not None and self.isAncestorOf(focus))):
            self.dismiss()

    @Slot()
    def dismiss(self) -> None:
        self.hide()
        self.setParent(None)
        self.deleteLater()

    def _build(self, message: Message) -> None:
        line = hbox(self._picture, (self._text, 1), spacing=8)
        for number, action in enumerate(message.actions):
            line.addWidget(self._action_button(action, number))
        if message.details:
            more = self._button("Details", "banner-details", "Show the details")
            more.setCheckable(True)
            more.toggled.connect(self._show_details)
            line.addWidget(more)
        line.addWidget(self._copy)
        self._copy.clicked.connect(self._copy_all)
        close = self._button("", "banner-close", "Dismiss this message")
        close.setToolTip("Dismiss (kept in the log)")
        self._theme.keep_icon(close, "close", "muted")
        close.clicked.connect(self.dismiss)
        line.addWidget(close)
        vbox(line, parent=self, margins=(12, 6, 8, 6))
        self._copy.setVisible(message.level != "info")

    def _button(self, text: str, name: str, accessible: str) -> QPushButton:
        button = QPushButton(text, self)
        describe(button, name, accessible)
        button.setProperty("flat", True)
        return button

    def _action_button(self, action: Action, number: int) -> QPushButton:
        text, _ = action
        button = QPushButton(text, self)
        describe(button, f"banner-action-{number}", text)
        button.clicked.connect(self._act)
        return button

    @Slot()
    def _act(self) -> None:
        sender = self.sender()
        assert sender is not None
        _, do = self.message.actions[int(sender.objectName().rpartition("-")[2])]
        self.dismiss()
        do()

    @Slot(bool)
    def _show_details(self, shown: bool) -> None:
        if self._details is None:
            self._details = QPlainTextEdit(self.message.details, self)
            describe(self._details, "banner-text", "Details")
            self._details.setReadOnly(True)
            self._details.setFont(self._theme.mono_font)
            self._details.setFixedHeight(DETAILS_HEIGHT)
            layout = self.layout()
            assert layout is not None
            layout.addWidget(self._details)
        self._details.setVisible(shown)

    @Slot()
    def _copy_all(self) -> None:
        text = f"{self.message.text}\n\n{self.message.details}".strip()
        QGuiApplication.clipboard().setText(text)

    @Slot()
    def _show_icon(self) -> None:
        level = self.message.level
        icon = self._theme.icon(level, _TOKENS[level])
        self._picture.setPixmap(icon.pixmap(ICON, self.devicePixelRatioF()))
