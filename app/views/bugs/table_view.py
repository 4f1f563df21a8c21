"""The view of the bug table: group rows across all columns, keys, and drag and drop of files."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionModel,
    QItemSelectionRange,
    QMimeData,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    Qt,
    QUrl,
    Slot,
)
from PySide6.QtGui import QDrag, QFont, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.models.bug_table import BugTable, Group
from app.models.table_model import Column
from app.services.theme import COLORS, Theme
from app.views.bugs.painting import ICON, LEFT, RIGHT, elided_action, icon_place
from app.widgets.table_view import TableView
from engine.report.words import count_text
from engine.workspace.rows import BugRow

Exporter = Callable[[list[int]], list[Path]]

PADDING = 8
WIDTHS = {
    "status": 15,
    "kind": 17,
    "problem": 15,
    "action": 32,
    "oracle": 9,
}
NAMES = ("problem", "policy")
"""Columns of names, which often differ at their end."""
END = Qt.TextElideMode.ElideRight


class BugTableView(TableView):
    def __init__(self, theme: Theme, table: BugTable, exporter: Exporter) -> None:
        super().__init__("bugs-table", "Bugs")
        self.bugs = table
        self._exporter = exporter
        self.setModel(table)
        self.setItemDelegate(_BugDelegate(theme, self))
        self.setDragEnabled(True)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)
        self.doubleClicked.connect(self._on_double_clicked)
        self._set_widths()

    def _set_widths(self) -> None:
        """Room for titles and for usual values, until the user chooses others."""
        bold = QFont(self.font())
        bold.setBold(True)
        titles, character = QFontMetrics(bold), self.fontMetrics().averageCharWidth()
        for number, column in enumerate(self.bugs.columns):
            values = WIDTHS.get(column.name, 4) * character
            title = titles.horizontalAdvance(column.title)
            self.setColumnWidth(number, max(values, title + PADDING) + 2 * PADDING)

    def selected_bugs(self) -> list[BugRow]:
        """In the order of the table; groups are left out."""
        rows = [self.bugs.bug_at(row) for row in self.selected_rows()]
        return [row for row in rows if row is not None]

    def current_bug(self) -> BugRow | None:
        return self.bugs.bug_at(self.currentIndex().row())

    def select_bug(self, bug: int) -> bool:
        """Whether it is in the table as it is filtered now."""
        return self.select_bugs([bug])

    def select_bugs(self, bugs: Collection[int]) -> bool:
        """Select these bugs alone; whether one of them is in the table as it is filtered now."""
        rows = self.bugs.places_of(bugs)
        if not rows:
            return False
        current = self.currentIndex().row()
        self.select_row(current if current in rows else rows[0])
        if len(rows) > 1:
            chosen, last = QItemSelection(), self.bugs.columnCount() - 1
            for row in rows:
                chosen.append(
                    QItemSelectionRange(self.bugs.index(row, 0), self.bugs.index(row, last))
                )
            self.selectionModel().select(chosen, QItemSelectionModel.SelectionFlag.Select)
        self.scrollTo(self.currentIndex(), QAbstractItemView.ScrollHint.EnsureVisible)
        return True

    def step(self, by: int) -> bool:
        """To the next or the previous bug; False at the end."""
        row = self.currentIndex().row() + by
        while 0 <= row < self.bugs.rowCount():
            if self.bugs.bug_at(row) is not None:
                self.select_row(row)
                return True
            row += by
        return False

    def select_near(self, row: int) -> None:
        """The bug in a row or, if there is none, the nearest."""
        last = self.bugs.rowCount() - 1
        for candidate in (*range(max(row, 0), last + 1), *range(min(row, last), -1, -1)):
            if self.bugs.bug_at(candidate) is not None:
                self.select_row(candidate)
                return
        self.selectionModel().setCurrentIndex(
            QModelIndex(), QItemSelectionModel.SelectionFlag.Clear
        )

    @Slot()
    def sort_by_current(self) -> None:
        """As a click on its title would; with Shift it is one more key."""
        if self.currentIndex().isValid():
            self._sort_by_click(self.currentIndex().column())

    @Slot()
    def choose_columns(self) -> None:
        header = self.horizontalHeader()
        self.column_menu().popup(header.mapToGlobal(header.rect().bottomLeft()))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802  Qt's name
        row = self.currentIndex().row()
        group = self.bugs.line(row) if 0 <= row < self.bugs.rowCount() else None
        if isinstance(group, Group) and self._toggles(group, event.key()):
            self.bugs.toggle(row)
            self.select_row(row)
        else:
            super().keyPressEvent(event)

    def _toggles(self, group: Group, key: int) -> bool:
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            return True
        return key == (Qt.Key.Key_Right if group.collapsed else Qt.Key.Key_Left)

    @Slot(QModelIndex)
    def _on_double_clicked(self, index: QModelIndex) -> None:
        self.bugs.toggle(index.row())

    def startDrag(self, actions: Qt.DropAction) -> None:  # noqa: N802  Qt's name
        """The bug states as PDDL problems, for file managers and editors."""
        del actions
        mime = self.drag_data()
        if mime is None:
            return
        drag = QDrag(self)
        drag.setMimeData(mime)
        drag.exec(Qt.DropAction.CopyAction)

    def drag_data(self) -> QMimeData | None:
        bugs = [row.id for row in self.selected_bugs()]
        paths = self._exporter(bugs) if bugs else []
        if not paths:
            return None
        mime = QMimeData()
        mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
        mime.setText("\n".join(map(str, paths)))
        return mime


class _BugDelegate(QStyledItemDelegate):
    """Draws cells straight from the model's lines: asking for eight roles per cell takes too long.

    A group's title runs through all columns: each cell draws its part of it.
    """

    def __init__(self, theme: Theme, parent: BugTableView) -> None:
        super().__init__(parent)
        self._theme, self._view = theme, parent
        theme.changed.connect(self._restyle)
        self._restyle()

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        rect: QRect = option.rect
        line = self._view.bugs.line(index.row())
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, self._colors["selection"])
        elif isinstance(line, Group):
            painter.fillRect(rect, self._colors["window"])
        if isinstance(line, Group):
            self._paint_group(painter, rect, line)
        else:
            self._paint_cell(painter, rect, line, self._view.bugs.columns[index.column()])
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(self._colors["accent"])
            painter.drawRect(rect.adjusted(0, 0, -1, -1))
        painter.restore()

    def _paint_cell(self, painter: QPainter, rect: QRect, row: BugRow, column: Column[Any]) -> None:
        token = column.token(row) if column.token else "text"
        inner = rect.adjusted(PADDING, 0, -PADDING, 0)
        icon = column.icon(row) if column.icon else ""
        if icon:
            self._theme.icon(icon, token).paint(painter, icon_place(inner.left(), rect))
            inner.setLeft(inner.left() + ICON + PADDING)
        font, metrics = self._mono if column.mono else self._plain
        painter.setFont(font)
        painter.setPen(self._colors[token])
        text = column.text_of(row)
        if column.mono:
            text = elided_action(metrics, text, inner.width())
        else:
            mode = Qt.TextElideMode.ElideMiddle if column.name in NAMES else END
            text = metrics.elidedText(text, mode, inner.width())
        painter.drawText(inner, RIGHT if column.numeric else LEFT, text)

    def _paint_group(self, painter: QPainter, rect: QRect, group: Group) -> None:
        painter.setClipRect(rect)
        header = self._view.horizontalHeader()
        whole = QRect(PADDING - header.offset(), rect.top(), header.length(), rect.height())
        font = QFont(self._plain[0])
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(self._colors["text"])
        title = f"{'▸' if group.collapsed else '▾'}  {group.title}"
        painter.drawText(whole, LEFT, title)
        width = painter.fontMetrics().horizontalAdvance(f"{title}   ")
        painter.setFont(self._plain[0])
        painter.setPen(self._colors["muted"])
        count = count_text(group.count, "bug")
        painter.drawText(whole.adjusted(width, 0, 0, 0), LEFT, count)

    @Slot()
    def _restyle(self) -> None:
        self._colors = {token: self._theme.color(token) for token in COLORS}
        plain, mono = self._theme.ui_font, self._theme.mono_font
        self._plain, self._mono = (plain, QFontMetrics(plain)), (mono, QFontMetrics(mono))
