"""Names are shown as they are: no label and no tooltip takes text for HTML by itself.

Qt looks at a text and guesses, so a problem called `<img src=...>` would become a picture, loaded
from wherever its author wants. Labels that are meant to be rich say so themselves.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QLabel, QProxyStyle, QWidget

STYLE = "Fusion"


class PlainTextStyle(QProxyStyle):
    """Sees every widget once, before it is first shown; tooltips are labels, too."""

    def __init__(self) -> None:
        super().__init__(STYLE)

    def polish(self, item: QWidget | QApplication | QPalette) -> None:  # type: ignore[override]
        super().polish(item)
        if isinstance(item, QLabel) and item.textFormat() == Qt.TextFormat.AutoText:
            item.setTextFormat(Qt.TextFormat.PlainText)
