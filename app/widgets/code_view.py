"""A file to read: line numbers, colors, and marks where something is wrong.

Nothing is edited here. Marks stand in the gutter as a sign, under the offending word as a wave,
and in a tooltip as a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Slot
from PySide6.QtGui import (
    QColor,
    QFont,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QToolTip, QWidget

from app.services.theme import Theme
from app.widgets.builders import describe

_VARIABLE = ("#7A3E9D", "#CBA6F7")  # a hue of its own: no token of the theme means a variable
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


class PddlColors(QSyntaxHighlighter):
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


_MARKED = re.compile(r"\(?\s*[^\s()]+|[()]")
"""What a wave goes under: a word, with the parenthesis before it if the mark is there."""
_MARGIN = 6
_SIGN = 16
MAX_MATCHED_CHARACTERS = 200_000
"""Characters that are searched for the other parenthesis."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Something about a place; lines and columns count from 1."""

    line: int
    column: int
    text: str
    is_error: bool = True


class CodeView(QPlainTextEdit):
    def __init__(self, theme: Theme, name: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        describe(self, name, title)
        self.setReadOnly(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTabChangesFocus(True)
        self._theme = theme
        self._marks: tuple[Mark, ...] = ()
        self._numbers: tuple[int | None, ...] = ()
        self._tinted: dict[int, str] = {}
        self._gutter = _Gutter(self)
        self._colors = PddlColors(self.document(), theme)
        self.blockCountChanged.connect(self._make_room)
        self.updateRequest.connect(self._scroll_gutter)
        self.cursorPositionChanged.connect(self._show_selections)
        theme.changed.connect(self._restyle)
        self._restyle()

    @property
    def marks(self) -> tuple[Mark, ...]:
        return self._marks

    def show_text(self, text: str, marks: Sequence[Mark] = ()) -> None:
        """Another text, from its beginning."""
        self._numbers, self._tinted = (), {}
        self.setPlainText(text)
        self.set_marks(marks)

    def show_aligned(
        self, text: str, numbers: Sequence[int | None], tinted: dict[int, str]
    ) -> None:
        """A text with filling lines, which have no number; `tinted` lines get a token's color."""
        self.setPlainText(text)
        self._numbers, self._tinted = tuple(numbers), tinted
        self.set_marks(())

    def set_marks(self, marks: Sequence[Mark]) -> None:
        self._marks = tuple(marks)
        self._show_selections()
        self._gutter.update()

    def jump_to(self, line: int, column: int = 1) -> None:
        """Put the cursor there, in the middle of the view."""
        block = self.document().findBlockByNumber(max(line, 1) - 1)
        if not block.isValid():
            block = self.document().lastBlock()
        cursor = QTextCursor(block)
        step = min(max(column - 1, 0), max(block.length() - 1, 0))
        cursor.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.MoveAnchor, step)
        self.setTextCursor(cursor)
        self.centerCursor()

    @property
    def place(self) -> tuple[int, int]:
        """Line and column of the cursor."""
        cursor = self.textCursor()
        return cursor.blockNumber() + 1, cursor.positionInBlock() + 1

    def marks_at(self, line: int) -> list[Mark]:
        return [mark for mark in self._marks if mark.line == line]

    def line_at(self, y: int) -> int:
        """The line shown at a height."""
        return self.cursorForPosition(QPoint(0, y)).blockNumber() + 1

    def gutter_width(self) -> int:
        digits = max(3, len(str(self.blockCount())))
        return 2 * _MARGIN + _SIGN + digits * self.fontMetrics().horizontalAdvance("9")

    def paint_gutter(self, event: QPaintEvent) -> None:
        painter = QPainter(self._gutter)
        color = self._theme.color
        painter.fillRect(event.rect(), color("window"))
        height = self.fontMetrics().height()
        current = self.textCursor().blockNumber()
        for block, top in self._visible_blocks(event.rect()):
            line = block.blockNumber() + 1
            marks = self.marks_at(line)
            is_error = any(mark.is_error for mark in marks)
            token = "muted" if not marks else "bad" if is_error else "undecided"
            font = QFont(self.font())
            font.setBold(bool(marks) or block.blockNumber() == current)
            painter.setFont(font)
            painter.setPen(color("text") if font.bold() and not marks else color(token))
            width = self._gutter.width() - _MARGIN
            painter.drawText(0, top, width, height, Qt.AlignmentFlag.AlignRight, self._label(line))
            if marks:
                icon = self._theme.icon("error" if is_error else "warning", token)
                icon.paint(painter, QRect(_MARGIN // 2, top + (height - _SIGN) // 2, _SIGN, _SIGN))
        painter.end()

    def _label(self, line: int) -> str:
        number = self._numbers[line - 1] if line <= len(self._numbers) else line
        return "" if number is None else str(number)

    def show_tip(self, place: QPoint, line: int) -> None:
        texts = [mark.text for mark in self.marks_at(line)]
        QToolTip.showText(place, "\n".join(texts), self) if texts else QToolTip.hideText()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802  Qt's name
        super().resizeEvent(event)
        inside = self.contentsRect()
        self._gutter.setGeometry(inside.x(), inside.y(), self.gutter_width(), inside.height())

    def viewportEvent(self, event: QEvent) -> bool:  # noqa: N802  Qt's name
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            self.show_tip(event.globalPos(), self.line_at(event.pos().y()))
            return True
        return super().viewportEvent(event)

    def _visible_blocks(self, area: QRect) -> list[tuple[QTextBlock, int]]:
        found = []
        block = self.firstVisibleBlock()
        while block.isValid():
            shape = self.blockBoundingGeometry(block).translated(self.contentOffset())
            if shape.top() > area.bottom():
                break
            if block.isVisible() and shape.bottom() >= area.top():
                found.append((block, round(shape.top())))
            block = block.next()
        return found

    @Slot()
    def _restyle(self) -> None:
        self.setFont(self._theme.mono_font)
        self._make_room()
        self._show_selections()
        self._gutter.update()

    @Slot()
    def _make_room(self) -> None:
        self.setViewportMargins(self.gutter_width(), 0, 0, 0)
        inside = self.contentsRect()
        self._gutter.setGeometry(inside.x(), inside.y(), self.gutter_width(), inside.height())

    @Slot(QRect, int)
    def _scroll_gutter(self, area: QRect, by: int) -> None:
        if by:
            self._gutter.scroll(0, by)
        else:
            self._gutter.update(0, area.y(), self._gutter.width(), area.height())

    @Slot()
    def _show_selections(self) -> None:
        tints = [self._tint(line, token) for line, token in self._tinted.items()]
        waves = [self._wave(mark) for mark in self._marks]
        self.setExtraSelections([*tints, self._current_line(), *waves, *self._parentheses()])
        self._gutter.update()

    def _current_line(self) -> QTextEdit.ExtraSelection:
        marks = self.marks_at(self.textCursor().blockNumber() + 1)
        token = "hover"
        if marks:
            token = "bad_surface" if any(mark.is_error for mark in marks) else "warning_surface"
        return self._tint(self.textCursor().blockNumber() + 1, token)

    def _tint(self, line: int, token: str) -> QTextEdit.ExtraSelection:
        """A whole line in the color of a token."""
        selection = QTextEdit.ExtraSelection()
        style = QTextCharFormat()
        style.setBackground(self._theme.color(token))
        style.setProperty(QTextCharFormat.Property.FullWidthSelection, True)
        selection.format = style
        selection.cursor = QTextCursor(self.document().findBlockByNumber(line - 1))
        return selection

    def _wave(self, mark: Mark) -> QTextEdit.ExtraSelection:
        block = self.document().findBlockByNumber(mark.line - 1)
        found = _MARKED.search(block.text(), max(mark.column - 1, 0))
        start, end = found.span() if found else (0, len(block.text()))
        style = QTextCharFormat()
        style.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
        style.setUnderlineColor(self._theme.color("bad" if mark.is_error else "undecided"))
        return self._selection(block.position() + start, block.position() + end, style)

    def _parentheses(self) -> list[QTextEdit.ExtraSelection]:
        """The pair at the cursor."""
        place = self.textCursor().position()
        text = (
            self.toPlainText() if self.document().characterCount() < MAX_MATCHED_CHARACTERS else ""
        )
        here = next((p for p in (place, place - 1) if 0 <= p < len(text) and text[p] in "()"), -1)
        there = _partner(text, here) if here >= 0 else -1
        if there < 0:
            return []
        style = QTextCharFormat()
        style.setBackground(self._theme.color("selection"))
        return [self._selection(p, p + 1, style) for p in (here, there)]

    def _selection(self, start: int, end: int, style: QTextCharFormat) -> QTextEdit.ExtraSelection:
        selection = QTextEdit.ExtraSelection()
        cursor = QTextCursor(self.document())
        cursor.setPosition(start)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        selection.format = style
        selection.cursor = cursor
        return selection


class _Gutter(QWidget):
    def __init__(self, view: CodeView) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self) -> QSize:  # noqa: N802  Qt's name
        return QSize(self._view.gutter_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802  Qt's name
        self._view.paint_gutter(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802  Qt's name
        """A click goes to the line, and to what is marked in it."""
        line = self._view.line_at(event.position().toPoint().y())
        marks = self._view.marks_at(line)
        self._view.jump_to(line, marks[0].column if marks else 1)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802  Qt's name
        event.accept()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            self._view.show_tip(event.globalPos(), self._view.line_at(event.pos().y()))
            return True
        return super().event(event)


def _partner(text: str, place: int) -> int:
    """Where the other parenthesis of a pair stands, or -1; comments are not looked through."""
    step = 1 if text[place] == "(" else -1
    depth = 0
    while 0 <= place < len(text):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return place
        place += step
    return -1
