"""Colours PDDL text: comments, sections, connectives, variables, numbers."""

from __future__ import annotations

import re

from PySide6.QtCore import Slot
from PySide6.QtGui import QColor, QFont, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from app.theme import Theme

_VARIABLE = ("#7A3E9D", "#CBA6F7")  # a hue of its own: variables mean none of the theme's tokens
_CONNECTIVES = "define|domain|problem|and|or|not|imply|forall|exists|when|either|increase|assign"

_PATTERN = re.compile(
    r"(?P<comment>;.*)"
    r"|(?P<section>(?<![^\s(]):[\w-]+)"
    r"|(?P<variable>\?[\w-]+)"
    rf"|(?P<connective>(?<=\()\s*(?:{_CONNECTIVES})(?![\w-]))"
    r"|(?P<number>(?<![\w-])\d+(?:\.\d+)?(?![\w-]))"
    r"|(?P<bracket>[()])",
    re.IGNORECASE,
)


class PddlColours(QSyntaxHighlighter):
    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        super().__init__(document)
        self._theme = theme
        self._formats: dict[str, QTextCharFormat] = {}
        theme.changed.connect(self.restyle)
        self.restyle()

    @Slot()
    def restyle(self) -> None:
        color = self._theme.color
        self._formats = {
            "comment": _format(color("muted"), italic=True),
            "section": _format(color("accent"), bold=True),
            "connective": _format(color("accent")),
            "variable": _format(QColor(_VARIABLE[self._theme.is_dark])),
            "number": _format(color("text")),
            "bracket": _format(color("muted")),
        }
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:  # noqa: N802  Qt's name
        for found in _PATTERN.finditer(text):
            assert found.lastgroup is not None
            length = found.end() - found.start()
            self.setFormat(found.start(), length, self._formats[found.lastgroup])


def _format(color: QColor, *, bold: bool = False, italic: bool = False) -> QTextCharFormat:
    result = QTextCharFormat()
    result.setForeground(color)
    result.setFontItalic(italic)
    if bold:
        result.setFontWeight(QFont.Weight.DemiBold)
    return result
