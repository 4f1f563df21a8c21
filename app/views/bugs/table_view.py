"""The table of bugs: groups drawn across it, keys to open them, and files when it is dragged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import (
    QItemSelectionModel,
    QMimeData,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    Qt,
    QUrl,
    Slot,
)
from PySide6.QtGui import QDrag, QKeyEvent, QPainter
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyleOptionViewItem

from app.models.bug_table import GROUP_ROLE, BugTable, Group
from app.theme import Theme
from app.views.bugs.painting import LEFT, ColourfulDelegate
from app.widgets.table_view import TableView
from engine.campaign.reading import BugRow

Exporter = Callable[[list[int]], list[Path]]

WIDTHS = {
    "id": 6,
    "status": 12,
    "kind": 17,
    "problem": 11,
    "cost": 12,
    "bound": 12,
    "gap": 6,
    "action": 28,
    "oracle": 11,
    "evidence": 11,
    "region": 9,
    "root": 12,
    "time": 8,
}


class BugTableView(TableView):
    def __init__(self, theme: Theme, table: BugTable, exporter: Exporter) -> None:
        super().__init__("bugs-table", "Bugs")
        self.bugs = table
        self._exporter = exporter
        self.setModel(table)
        self.setItemDelegate(_BugDelegate(theme, self))
        self.setDragEnabled(True)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)
        self.doubleClicked.connect(self._double_click)
        self._set_widths()

    def _set_widths(self) -> None:
        """In characters, until the user chooses others."""
        character = self.fontMetrics().averageCharWidth()
        for number, column in enumerate(self.bugs.columns):
            self.setColumnWidth(number, WIDTHS.get(column.name, 10) * character + 16)

    def selected_bugs(self) -> list[BugRow]:
        """In the order of the table; groups are left out."""
        rows = [self.bugs.bug_at(row) for row in self.selected_rows()]
        return [row for row in rows if row is not None]

    def current_bug(self) -> BugRow | None:
        return self.bugs.bug_at(self.currentIndex().row())

    def select_bug(self, bug: int) -> bool:
        """Whether it is in the table as it is filtered now."""
        row = self.bugs.place_of(bug)
        if row is None:
            return False
        self.select_row(row)
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
    def _double_click(self, index: QModelIndex) -> None:
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


class _BugDelegate(ColourfulDelegate):
    """A group's title runs through all columns: each cell draws its part of it."""

    def __init__(self, theme: Theme, parent: BugTableView) -> None:
        super().__init__(theme, parent)
        self._view = parent

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        group = index.data(GROUP_ROLE)
        if isinstance(group, Group):
            self._paint_group(painter, option, group)
        else:
            super().paint(painter, option, index)

    def _paint_group(self, painter: QPainter, option: QStyleOptionViewItem, group: Group) -> None:
        rect: QRect = option.rect
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setClipRect(rect)
        painter.fillRect(rect, self._theme.color("selection" if selected else "window"))
        header = self._view.horizontalHeader()
        left = -header.offset() + 8
        whole = QRect(left, rect.top(), header.length(), rect.height())
        font = self._theme.ui_font
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(self._theme.color("text"))
        arrow = "▸" if group.collapsed else "▾"
        painter.drawText(whole, LEFT, f"{arrow}  {group.title}")
        width = painter.fontMetrics().horizontalAdvance(f"{arrow}  {group.title}   ")
        font.setBold(False)
        painter.setFont(font)
        painter.setPen(self._theme.color("muted"))
        count = f"{group.count} {'bug' if group.count == 1 else 'bugs'}"
        painter.drawText(whole.adjusted(width, 0, 0, 0), LEFT, count)
        painter.restore()
