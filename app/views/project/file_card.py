"""A card for a file of the project: its name, a verdict, and a button that removes it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeVar

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.services.theme import Theme
from app.widgets.builders import icon_button
from app.widgets.labels import ElidedLabel, VerdictLine


class FileCard(QFrame):
    """The Delete key removes the file. Subclasses add their widgets to `rows`."""

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
        self.remove = icon_button(
            theme,
            "close",
            f"remove-{kind}-{name}",
            f"Remove {name}",
            "Remove from the project; the file itself is kept",
            clicked=self._remove,
        )
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


def show_text(label: QLabel, text: str) -> None:
    """Show a text, or hide the label if there is none."""
    label.setText(text)
    label.setVisible(bool(text))


Card = TypeVar("Card", bound=FileCard)


def drop_cards(cards: dict[str, Card], wanted: Collection[str]) -> None:
    for source in [source for source in cards if source not in wanted]:
        card = cards.pop(source)
        card.hide()
        card.deleteLater()
