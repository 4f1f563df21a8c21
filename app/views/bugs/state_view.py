"""The state before the selected step: its goals, what the step changes, and all its facts."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QRect, QSize, Slot
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.models.fact_list import LINE_ROLE, FactList, Heading
from app.services.theme import Theme
from app.views.bugs.painting import CENTER, LEFT, RIGHT, elided_action, icon_place
from app.widgets.builders import describe, label
from app.widgets.elision import Elider, Index, texts_near
from app.widgets.layouts import hbox, vbox
from engine.report.state_facts import Change, FactLine, GoalLine, Grouping, StateFacts

PADDING = 8
SIGN = 20


class StateView(QWidget):
    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("state-view")
        self.facts = FactList(self)
        self.title = label(role="heading", name="state-title")
        self._words = QLineEdit()
        describe(self._words, "state-filter", "Filter facts")
        self._words.setPlaceholderText("Filter facts")
        self._words.setClearButtonEnabled(True)
        self._words.textChanged.connect(self.facts.set_words)
        self._grouping = QComboBox()
        describe(self._grouping, "state-grouping", "Group facts by")
        for grouping in Grouping:
            self._grouping.addItem(f"By {grouping.value}", grouping)
        self._grouping.currentIndexChanged.connect(self._group)
        static = QCheckBox("Constant facts")
        describe(static, "state-static", "Show constant facts", "Show facts that no action changes")
        static.toggled.connect(self.facts.set_static)
        bar = hbox((self._words, 1), self._grouping, static, spacing=8)
        self.list = QListView()
        describe(self.list, "state-facts", "Facts of the state")
        self.list.setModel(self.facts)
        self.list.setUniformItemSizes(True)
        self.list.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.list.setItemDelegate(FactDelegate(theme, self.list))
        vbox(self.title, bar, (self.list, 1), parent=self, spacing=8, margins=8)
        theme.changed.connect(self.list.viewport().update)

    def show_state(self, title: str, facts: StateFacts | None) -> None:
        bar = self.list.verticalScrollBar()
        place = bar.value()
        self.title.setText(title)
        self.facts.show_facts(facts)
        bar.setValue(place)

    @Slot(str)
    def filter_by(self, words: str) -> None:
        """Show the facts about an object only; with no words, all of them."""
        self._words.setText(words)

    @Slot()
    def _group(self) -> None:
        self.facts.set_grouping(self._grouping.currentData())


class FactDelegate(QStyledItemDelegate):
    """A sign before each fact: reached or open goals, plus and minus for changes."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._elider = Elider(elided_action)

    def sizeHint(  # noqa: N802  Qt's name
        self, option: QStyleOptionViewItem, index: Index
    ) -> QSize:
        del option, index
        return QSize(80, max(22, self._theme.point_size * 2 + 2))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        line = index.data(LINE_ROLE)
        rect: QRect = option.rect
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, self._theme.color("selection"))
        inner = rect.adjusted(PADDING, 0, -PADDING, 0)
        match line:
            case Heading(text, count):
                self._heading(painter, rect, inner, text, count)
            case GoalLine():
                self._goal(painter, inner, line, index)
            case FactLine():
                self._fact(painter, inner, line, index)
        painter.restore()

    def _heading(self, painter: QPainter, rect: QRect, inner: QRect, text: str, count: str) -> None:
        painter.fillRect(rect, self._theme.color("window"))
        font = self._theme.ui_font
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(self._theme.color("muted"))
        painter.drawText(inner, LEFT, text)
        font.setBold(False)
        painter.setFont(font)
        painter.drawText(inner, RIGHT, count)

    def _goal(self, painter: QPainter, inner: QRect, line: GoalLine, index: Index) -> None:
        name, token = ("optimal", "proven") if line.after else ("open-goal", "undecided")
        self._theme.icon(name, token).paint(painter, icon_place(inner.left(), inner))
        font = self._theme.mono_font
        font.setBold(line.before != line.after)
        painter.setFont(font)
        painter.setPen(self._theme.color("text"))
        room = inner.adjusted(SIGN + 4, 0, 0, 0)
        if line.before != line.after:
            word = "reached" if line.after else "undone"
            painter.setPen(self._theme.color("proven" if line.after else "bad"))
            painter.drawText(inner, RIGHT, word)
            width = painter.fontMetrics().horizontalAdvance(word)
            room.setRight(inner.right() - width - PADDING)
        self._draw(painter, room, line.text, index)

    def _fact(self, painter: QPainter, inner: QRect, line: FactLine, index: Index) -> None:
        font = self._theme.mono_font
        sign, token = {
            Change.ADDED: ("+", "proven"),
            Change.REMOVED: ("\N{MINUS SIGN}", "bad"),
            Change.NONE: ("", "muted" if line.static else "text"),
        }[line.change]
        painter.setPen(self._theme.color(token))
        font.setBold(bool(sign))
        painter.setFont(font)
        painter.drawText(QRect(inner.left(), inner.top(), 16, inner.height()), CENTER, sign)
        font.setBold(False)
        font.setStrikeOut(line.change is Change.REMOVED)
        painter.setFont(font)
        self._draw(painter, inner.adjusted(SIGN + 4, 0, 0, 0), line.text, index)

    def _draw(self, painter: QPainter, room: QRect, text: str, index: Index) -> None:
        near = partial(texts_near, index)
        shown = self._elider.shown(painter.fontMetrics(), text, room.width(), near)
        painter.drawText(room, LEFT, shown)
