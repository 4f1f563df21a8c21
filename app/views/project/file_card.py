"""A file of the project on a card of its own: its name, and a way to remove it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeVar

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from app.services.theme import Theme
from app.widgets.labels import ElidedLabel, VerdictLine


class FileCard(QFrame):
    """Delete removes it. What is special about a kind of file goes into `rows`."""

    remove_requested = Signal(str)

    def __init__(
        self,
        theme: Theme,
        kind: str,
        source: str,
        name: str,
        beside: Sequence[QWidget] = (),
    ) -> None:
        """`source` is the file as the project names it, `name` what the card calls it."""
        super().__init__()
        self.source = source
        self.setProperty("card", True)
        self.setObjectName(f"{kind}-{name}")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setToolTip(source)
        self.name = ElidedLabel(name)
        self.name.setProperty("role", "heading")
        self.verdict = VerdictLine(theme)
        self.remove = card_button(theme, "close", f"remove-{kind}-{name}", f"Remove {name}")
        self.remove.setToolTip("Remove from the project (the file stays)")
        self.remove.clicked.connect(self._remove)
        top = QHBoxLayout()
        top.addWidget(self.name, 1)
        for item in (*beside, self.remove):
            top.addWidget(item)
        self.rows = QVBoxLayout(self)
        self.rows.setContentsMargins(12, 8, 8, 10)
        self.rows.setSpacing(4)
        self.rows.addLayout(top)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802  Qt's name
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.remove_requested.emit(self.source)
        else:
            super().keyPressEvent(event)

    @Slot()
    def _remove(self) -> None:
        self.remove_requested.emit(self.source)


def card_button(theme: Theme, icon: str, name: str, words: str) -> QToolButton:
    button = QToolButton()
    button.setObjectName(name)
    button.setAccessibleName(words)
    button.setAutoRaise(True)
    theme.keep_icon(button, icon, "muted")
    return button


def muted_words() -> QLabel:
    label = QLabel()
    label.setWordWrap(True)
    label.setProperty("role", "muted")
    return label


def show_words(label: QLabel, words: str) -> None:
    """No words take no room."""
    label.setText(words)
    label.setVisible(bool(words))


Card = TypeVar("Card", bound=FileCard)


def drop_cards(cards: dict[str, Card], wanted: Collection[str]) -> None:
    for source in [source for source in cards if source not in wanted]:
        card = cards.pop(source)
        card.hide()
        card.deleteLater()
