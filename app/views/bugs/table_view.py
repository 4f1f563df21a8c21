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
    QPoint,
    QRect,
    Qt,
    QUrl,
    Slot,
)
from PySide6.QtGui import QDrag, QFont, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.models.bug_table import PICTURE, BugTable, Group
from app.models.table_model import Column
from app.services.settings import Settings
from app.services.theme import COLORS, Theme
from app.views.bugs.painting import ICON, LEFT, RIGHT, elided_action, icon_place
from app.views.bugs.thumbnails import HEIGHT as PICTURE_HEIGHT
from app.views.bugs.thumbnails import Thumbnails
from app.widgets.elision import Elider, Index, end_cut, middle_cut, rows_near
from app.widgets.table_view import ROW_HEIGHT, TableView
from engine.report.words import count_text
from engine.workspace.rows import BugRow

Exporter = Callable[[list[int]], list[Path]]

PADDING = 8
WIDTHS = {
    "id": 7,
    PICTURE: 20,
    "status": 14,
    "kind": 18,
    "problem": 15,
    "loss": 5,
    "worst": 32,
    "action": 32,
    "oracle": 9,
}
NAMES = ("problem", "policy")
"""Columns of names, which often differ at their end."""


class BugTableView(TableView):
    def __init__(self, theme: Theme, table: BugTable, exporter: Exporter) -> None:
        super().__init__("bugs-table", "Bugs")
        self.bugs = table
        self.thumbnails: Thumbnails | None = None
        self._exporter = exporter
        self._picture = next(i for i, item in enumerate(table.columns) if item.name == PICTURE)
        self.setModel(table)
        table.lines_in_sight = self._lines_in_sight
        self.setItemDelegate(_BugDelegate(theme, self))
        self.setDragEnabled(True)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)
        self.doubleClicked.connect(self._on_double_clicked)
        self._set_widths()
        self.setColumnHidden(self._picture, True)
        self.columns_chosen.connect(self._make_room)

    def remember(self, settings: Settings) -> None:
        super().remember(settings)
        self._make_room()

    def use_thumbnails(self, thumbnails: Thumbnails) -> None:
        self.thumbnails = thumbnails
        thumbnails.drawn.connect(self._on_thumbnail_drawn)

    def bugs_in_sight(self) -> list[BugRow]:
        """Return the bugs whose pictures are visible; none while the column is hidden."""
        if not self.isVisible() or self.isColumnHidden(self._picture):
            return []
        lines = map(self.bugs.peek, self._lines_in_sight())
        return [line for line in lines if isinstance(line, BugRow)]

    def _lines_in_sight(self) -> range:
        first, last = self.rowAt(0), self.rowAt(self.viewport().height() - 1)
        return range(max(first, 0), (last if last >= 0 else self.bugs.rowCount() - 1) + 1)

    @Slot()
    def _on_thumbnail_drawn(self) -> None:
        left, width = self.columnViewportPosition(self._picture), self.columnWidth(self._picture)
        self.viewport().update(left, 0, width, self.viewport().height())

    @Slot()
    def _make_room(self) -> None:
        """Make rows higher while they show pictures."""
        hidden = self.isColumnHidden(self._picture)
        self.set_min_row_height(ROW_HEIGHT if hidden else PICTURE_HEIGHT + PADDING)
        self.scrollTo(self.currentIndex())

    def _set_widths(self) -> None:
        """Set default widths for titles and usual values."""
        bold = QFont(self.font())
        bold.setBold(True)
        titles, character = QFontMetrics(bold), self.fontMetrics().averageCharWidth()
        for number, column in enumerate(self.bugs.columns):
            values = WIDTHS.get(column.name, 4) * character
            title = titles.horizontalAdvance(column.title)
            self.setColumnWidth(number, max(values, title + PADDING) + 2 * PADDING)

    def selected_bugs(self) -> list[BugRow]:
        """The selected bugs in the order of the table, without groups."""
        return self.bugs.bugs_at(self.selected_rows())

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
        """Go to the next or the previous bug; False at the end."""
        row = self.currentIndex().row() + by
        while 0 <= row < self.bugs.rowCount():
            if self.bugs.is_bug(row):
                self.select_row(row)
                return True
            row += by
        return False

    def select_near(self, row: int) -> None:
        """The bug in a row or, if there is none, the nearest."""
        last = self.bugs.rowCount() - 1
        for candidate in (*range(max(row, 0), last + 1), *range(min(row, last), -1, -1)):
            if self.bugs.is_bug(candidate):
                self.select_row(candidate)
                return
        self.selectionModel().setCurrentIndex(
            QModelIndex(), QItemSelectionModel.SelectionFlag.Clear
        )

    @Slot()
    def sort_by_current(self) -> None:
        """Sort as a click on the title would; with Shift it is one more key."""
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
        self._actions, self._names = Elider(elided_action), Elider(middle_cut)
        self._words = Elider(end_cut)
        theme.changed.connect(self._restyle)
        self._restyle()

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        rect: QRect = option.rect
        line = self._view.bugs.peek(index.row())
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, self._colors["selection"])
        elif isinstance(line, Group):
            painter.fillRect(rect, self._colors["window"])
        if isinstance(line, Group):
            self._paint_group(painter, rect, line)
        elif line is not None:  # else it is being read
            column = self._view.bugs.columns[index.column()]
            if column.name == PICTURE:
                self._paint_picture(painter, rect, line)
            else:
                self._paint_cell(painter, rect, line, column, index)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(self._colors["accent"])
            painter.drawRect(rect.adjusted(0, 0, -1, -1))
        painter.restore()

    def _paint_cell(
        self, painter: QPainter, rect: QRect, row: BugRow, column: Column[Any], index: Index
    ) -> None:
        token = column.token(row) if column.token else "text"
        inner = rect.adjusted(PADDING, 0, -PADDING, 0)
        icon = column.icon(row) if column.icon else ""
        if icon:
            self._theme.icon(icon, token).paint(painter, icon_place(inner.left(), rect))
            inner.setLeft(inner.left() + ICON + PADDING)
        font, metrics = self._mono if column.mono else self._plain
        painter.setFont(font)
        painter.setPen(self._colors[token])
        elider = self._actions if column.mono else self._names
        if column.name not in NAMES and not column.mono:
            elider = self._words

        def near() -> list[str]:
            lines = map(self._view.bugs.peek, rows_near(index))
            return [column.text_of(line) for line in lines if isinstance(line, BugRow)]

        text = elider.shown(metrics, column.text_of(row), inner.width(), near)
        painter.drawText(inner, RIGHT if column.numeric else LEFT, text)

    def _paint_picture(self, painter: QPainter, rect: QRect, row: BugRow) -> None:
        thumbnails = self._view.thumbnails
        image = None if thumbnails is None else thumbnails.get(row)
        if image is not None:
            place = QRect(QPoint(), image.deviceIndependentSize().toSize())
            place.moveCenter(rect.center())
            painter.setClipRect(rect)
            painter.drawImage(place, image)

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
