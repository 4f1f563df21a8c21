"""A table with copying, a column menu, sorting by several columns and remembered widths."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from math import ceil
from typing import cast

from PySide6.QtCore import (
    QAbstractItemModel,
    QByteArray,
    QEvent,
    QItemSelectionModel,
    QItemSelectionRange,
    QModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QAction,
    QFont,
    QFontMetrics,
    QGuiApplication,
    QKeySequence,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from app.models.table_model import ASCENDING, DESCENDING, SortableModel, SortKeys
from app.services.settings import Settings
from app.widgets.builders import describe
from app.widgets.elision import Elider, Index, end_cut, middle_cut, texts_near
from engine.plain_text import plain_cell

GAP = 6
"""Pixels beside a group, to separate it from the next one."""
LINE_OPACITY = 0.35


class GroupedHeader(QHeaderView):
    """Titles of columns in two rows: groups above the columns that share them."""

    def __init__(self, groups: Sequence[str], parent: QWidget) -> None:
        """`groups` has a title for each column; columns without one have an empty title."""
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._groups = groups
        for signal in (self.sectionResized, self.sectionMoved):
            signal.connect(self.viewport().update)

    def sizeHint(self) -> QSize:  # noqa: N802  Qt's name
        size = super().sizeHint()
        return QSize(size.width(), 2 * size.height())

    def widen(self) -> None:
        """Give columns that are narrower than the title of their group more room."""
        metrics = QFontMetrics(self._bold)
        for title, columns in self._runs():
            missing = metrics.horizontalAdvance(title) + 4 * GAP - self._width(columns)
            for column in columns if missing > 0 else ():
                self.resizeSection(column, self.sectionSize(column) + ceil(missing / len(columns)))

    def paintSection(self, painter: QPainter, rect: QRect, column: int) -> None:  # noqa: N802  Qt's name
        super().paintSection(painter, rect.adjusted(0, rect.height() // 2, 0, 0), column)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802  Qt's name
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        painter.setFont(self._bold)
        for title, columns in self._runs():
            left = self.sectionViewportPosition(columns[0]) + GAP
            rect = QRect(left, 0, self._width(columns) - 2 * GAP, self.height() // 2)
            right = Qt.TextElideMode.ElideRight
            text = painter.fontMetrics().elidedText(title, right, rect.width())
            painter.setOpacity(1.0)
            painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)
            painter.setOpacity(LINE_OPACITY)
            painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        painter.end()

    @property
    def _bold(self) -> QFont:
        font = QFont(self.font())
        font.setBold(True)
        return font

    def _width(self, columns: Sequence[int]) -> int:
        return sum(map(self.sectionSize, columns))

    def _runs(self) -> Iterator[tuple[str, list[int]]]:
        """Neighbors of one group, in the order in which they are shown."""
        places = map(self.logicalIndex, range(self.count()))
        shown = [column for column in places if not self.isSectionHidden(column)]
        for title, members in groupby(shown, key=lambda column: self._groups[column]):
            if title:
                yield title, list(members)


CUTS = {Qt.TextElideMode.ElideMiddle: middle_cut, Qt.TextElideMode.ElideRight: end_cut}
ROW_HEIGHT = 26
PADDING = 10
_MARKUP = re.compile(r"[\\`*\[<|]")
"""What Markdown would obey in a cell."""


class TableView(QTableView):
    """Set the model first, then call `remember`. The model sorts (`SortableModel`)."""

    columns_chosen = Signal()
    """The user has shown or hidden a column."""

    def __init__(self, name: str, title: str, parent: QWidget | None = None) -> None:
        """`name` is the object's and the settings' name, `title` what screen readers say."""
        super().__init__(parent)
        describe(self, name, title)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setWordWrap(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # names often differ at their end
        self.setItemDelegate(_Cells(self))
        self.setShowGrid(False)
        self.setCornerButtonEnabled(False)
        self.setTabKeyNavigation(False)  # Tab leaves the table
        rows = self.verticalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self._settings: Settings | None = None
        self._font_height = self.fontMetrics().height()
        self.set_min_row_height(ROW_HEIGHT)
        self._widths: dict[int, float] = {}  # of columns, in heights of the text
        self._is_growing = False
        self._empty: set[int] = set()  # columns that are hidden because they say nothing
        self._wanted: set[int] = set()  # columns that the user has asked for
        self._groups: Sequence[str] = ()  # titles above the columns, if there are any
        self._prepare_header()
        self._add_action("Copy", self.copy_tsv, QKeySequence.StandardKey.Copy)
        self._add_action("Copy as Markdown", self.copy_markdown)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)

    def setModel(self, model: QAbstractItemModel | None) -> None:  # noqa: N802  Qt's name
        """The header gets a selection of its own, which is empty.

        To know whether a column is selected it asks for every row of it, minutes for a million.
        """
        super().setModel(model)
        self.horizontalHeader().setSelectionModel(QItemSelectionModel(self.model(), self))

    def remember(self, settings: Settings) -> None:
        """Restore what the user chose for this table, and keep it from now on."""
        self._settings = settings
        header = self.horizontalHeader()
        state = settings.get(self._key("columns"), "")
        if not (state and header.restoreState(QByteArray.fromBase64(state.encode()))):
            self._hide_optional_columns()
        for column in settings.get(self._key("empty"), cast("list[int]", [])):
            if isinstance(column, int) and 0 <= column < header.count():
                header.setSectionHidden(column, False)  # they may have values now
        self._measure_all(settings.get(self._key("text"), self._font_height))
        self._grow()
        keys = settings.get(self._key("sort"), cast("list[list[object]]", []))
        self._sort([(c, DESCENDING if d else ASCENDING) for c, d in keys if isinstance(c, int)])
        for signal in (header.sectionResized, header.sectionMoved):
            signal.connect(self._keep_columns)

    def set_groups(self, groups: Sequence[str]) -> None:
        """Put titles above neighboring columns that share them; empty ones are left out."""
        self._groups = groups
        self.setHorizontalHeader(GroupedHeader(groups, self))
        self._prepare_header()

    def fit_columns(self) -> None:
        """Make all columns as wide as what they hold and what stands above them."""
        self.horizontalHeader().setStretchLastSection(False)
        self.resizeColumnsToContents()
        header = self.horizontalHeader()
        if isinstance(header, GroupedHeader):
            header.widen()

    def hide_empty_columns(self, columns: set[int]) -> None:
        """Hide columns that say nothing until they do, but none that the user has asked for."""
        header = self.horizontalHeader()
        for column in self._empty - columns:
            header.setSectionHidden(column, False)
        self._empty &= columns
        for column in columns - self._empty - self._wanted:
            if not header.isSectionHidden(column):
                self._empty.add(column)
                header.setSectionHidden(column, True)

    def selected_rows(self) -> list[int]:
        """The selected rows in the order of the table."""
        ranges = cast("Iterable[QItemSelectionRange]", self.selectionModel().selection())
        return sorted({row for item in ranges for row in range(item.top(), item.bottom() + 1)})

    def select_row(self, row: int) -> None:
        """Make a row current and select it alone, whichever keys are down."""
        if 0 <= row < self.model().rowCount():
            index = self.model().index(row, self._first_column())
            flags = QItemSelectionModel.SelectionFlag
            self.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)

    @Slot()
    def copy_tsv(self) -> None:
        rows = [map(plain_cell, row) for row in self._cells()]
        QGuiApplication.clipboard().setText("\n".join(map("\t".join, rows)))

    @Slot()
    def copy_markdown(self) -> None:
        head, *rows = [[_MARKUP.sub(r"\\\g<0>", cell) for cell in row] for row in self._cells()]
        lines = [head, ["---"] * len(head), *rows]
        text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        QGuiApplication.clipboard().setText(text)

    def set_widths(self, *characters: int) -> None:
        """Set the default widths of the first columns, in characters."""
        for column, count in enumerate(characters):
            width = count * self.fontMetrics().averageCharWidth() + 2 * PADDING
            self.setColumnWidth(column, width)

    def set_min_row_height(self, height: int) -> None:
        """Set the least height of all rows; they are higher where the text needs it."""
        self._min_row_height = height
        rows = self.verticalHeader()
        rows.setDefaultSectionSize(max(height, self._font_height + PADDING))

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802  Qt's name
        """Rows and columns grow with the text."""
        super().changeEvent(event)
        height = self.fontMetrics().height()
        if event.type() == QEvent.Type.FontChange and height != self._font_height:
            self._font_height = height
            self.set_min_row_height(self._min_row_height)
            self._grow()

    def _grow(self) -> None:
        """Scale the chosen widths, not the current ones, which may have been squeezed."""
        self._is_growing = True
        for column in self._visible_columns()[:-1]:  # the last takes what is left
            if column in self._widths:
                self.setColumnWidth(column, round(self._widths[column] * self._font_height))
        self._is_growing = False

    def _measure_all(self, font_height: int) -> None:
        for column in self._visible_columns():
            self._widths[column] = self.columnWidth(column) / max(1, font_height)

    @Slot(int, int, int)
    def _measure(self, column: int, _: int, width: int) -> None:
        if not self._is_growing and width:  # a column without a width is hidden
            self._widths[column] = width / self._font_height

    def _prepare_header(self) -> None:
        header = self.horizontalHeader()
        header.setSectionsMovable(True)
        header.setSectionsClickable(True)
        header.setHighlightSections(False)
        header.setStretchLastSection(True)
        header.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # the arrow of the sorting stays
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.sectionClicked.connect(self._sort_by_click)
        header.sectionResized.connect(self._measure)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._show_column_menu)

    def _add_action(
        self, text: str, slot: object, shortcut: QKeySequence.StandardKey | None = None
    ) -> None:
        action = QAction(text, self)
        action.triggered.connect(slot)
        if shortcut is not None:
            action.setShortcut(QKeySequence(shortcut))
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        self.addAction(action)

    def _key(self, what: str) -> str:
        return f"table/{self.objectName()}/{what}"

    def _visible_columns(self) -> list[int]:
        header = self.horizontalHeader()
        logical = [header.logicalIndex(place) for place in range(header.count())]
        return [column for column in logical if not header.isSectionHidden(column)]

    def _first_column(self) -> int:
        return next(iter(self._visible_columns()), 0)

    def _title(self, column: int) -> str:
        """The title without the arrow of the sorting, with its group."""
        text = str(self.model().headerData(column, Qt.Orientation.Horizontal) or "")
        title = text.partition(" ▴")[0].partition(" ▾")[0]
        group = self._groups[column] if self._groups else ""
        return f"{group}: {title}" if group else title

    def _cells(self) -> list[list[str]]:
        """The titles and the selected rows, or all rows if none is selected."""
        model, columns = self.model(), self._visible_columns()
        rows = self.selected_rows() or range(model.rowCount())
        head = [self._title(column) for column in columns]
        body = [[_one_line(model.index(row, column)) for column in columns] for row in rows]
        return [head, *body]

    @Slot(int)
    def _sort_by_click(self, column: int) -> None:
        """A click sorts by a column, up, down and not at all; with Shift it is one more key."""
        keys = list(cast("SortableModel", self.model()).sort_keys)
        order = next((order for number, order in keys if number == column), None)
        turned = {None: ASCENDING, ASCENDING: DESCENDING, DESCENDING: None}[order]
        several = QGuiApplication.keyboardModifiers() & Qt.KeyboardModifier.ShiftModifier
        if not several:
            keys = [(column, turned)] if turned is not None else []
        elif order is None:
            keys.append((column, ASCENDING))
        else:
            keys = [
                (number, turned if number == column and turned is not None else other)
                for number, other in keys
                if number != column or turned is not None
            ]
        self._sort(keys)
        self._show_end_of(column)
        if self._settings is not None:
            state = [[number, order == DESCENDING] for number, order in keys]
            self._settings.set(self._key("sort"), state)

    def _sort(self, keys: SortKeys) -> None:
        count = self.model().columnCount()
        model = self.model()
        if hasattr(model, "sort_by"):
            cast("SortableModel", model).sort_by([key for key in keys if key[0] < count])
            self._show_arrows()

    def _show_arrows(self) -> None:
        """Make columns that are sorted by wide enough for their title with its arrow."""
        header = self.horizontalHeader()
        for column, _ in cast("SortableModel", self.model()).sort_keys:
            if not header.isSectionHidden(column):
                width = max(header.sectionSize(column), header.sectionSizeHint(column))
                header.resizeSection(column, width)

    def _show_end_of(self, column: int) -> None:
        """Scroll to where the arrow of a column at the edge is, which has become wider."""
        self.updateGeometries()  # else the scroll bar follows later
        left = self.columnViewportPosition(column)
        beyond = left + self.columnWidth(column) - self.viewport().width()
        if beyond > 0:
            bar = self.horizontalScrollBar()
            bar.setValue(bar.value() + min(beyond, left))

    @Slot(QPoint)
    def _show_column_menu(self, place: QPoint) -> None:
        self.column_menu().popup(self.horizontalHeader().mapToGlobal(place))

    def column_menu(self) -> QMenu:
        """Which columns are shown."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        header = self.horizontalHeader()
        for column in range(header.count()):
            action = menu.addAction(self._title(column))
            action.setCheckable(True)
            action.setChecked(not header.isSectionHidden(column))
            action.setData(column)
            action.toggled.connect(self._show_column)
        return menu

    @Slot(bool)
    def _show_column(self, shown: bool) -> None:
        action = self.sender()
        assert isinstance(action, QAction)
        if shown or len(self._visible_columns()) > 1:
            column = int(action.data())
            self._empty.discard(column)
            if shown:
                self._wanted.add(column)
            self.horizontalHeader().setSectionHidden(column, not shown)
            self._keep_columns()
            self.columns_chosen.emit()

    def _hide_optional_columns(self) -> None:
        for number, column in enumerate(getattr(self.model(), "columns", ())):
            self.horizontalHeader().setSectionHidden(number, not column.shown)

    @Slot()
    def _keep_columns(self) -> None:
        if self._settings is not None:
            state = self.horizontalHeader().saveState().toBase64().data()
            self._settings.set(self._key("columns"), bytes(state).decode())
            self._settings.set(self._key("text"), self._font_height)
            self._settings.set(self._key("empty"), sorted(self._empty))


class _Cells(QStyledItemDelegate):
    """Elided cells still distinguish their rows."""

    def __init__(self, table: TableView) -> None:
        super().__init__(table)
        self._table = table
        self._eliders = {mode: Elider(cut) for mode, cut in CUTS.items()}

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        shown = QStyleOptionViewItem(option)
        self.initStyleOption(shown, index)
        style = self._table.style()
        margin = 2 * (style.pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin) + 1)
        element = QStyle.SubElement.SE_ItemViewItemText
        room = style.subElementRect(element, shown, self._table).width() - margin
        elider = self._eliders.get(shown.textElideMode)
        if elider is not None:
            metrics, near = shown.fontMetrics, partial(texts_near, index)
            shown.text = elider.shown(metrics, shown.text, room, near)
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, shown, painter, self._table)


def _one_line(index: QModelIndex) -> str:
    text = str(index.data() or "")
    return " ".join(text.split()) if "\n" in text or "\t" in text else text
