"""The figures of a campaign in one row: a number and what it counts."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.theme import Theme


class Figures(QFrame):
    """`captions` by name, with the sentence that explains each."""

    def __init__(
        self, theme: Theme, captions: Mapping[str, str], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setProperty("card", True)
        self._theme = theme
        self.numbers: dict[str, QLabel] = {}
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 8)
        layout.setSpacing(24)
        for caption, meaning in captions.items():
            number = QLabel("–")  # noqa: RUF001  a dash, not a minus
            number.setProperty("role", "title")
            number.setObjectName(f"figure-{caption.replace(' ', '-')}")
            number.setAccessibleName(caption)
            words = QLabel(caption)
            words.setProperty("role", "muted")
            cell = QVBoxLayout()
            cell.setSpacing(0)
            for label in (number, words):
                label.setToolTip(meaning)
                cell.addWidget(label)
            self.numbers[caption] = number
            layout.addLayout(cell)
        layout.addStretch(1)

    def show_number(self, caption: str, text: str) -> None:
        self.numbers[caption].setText(text)
