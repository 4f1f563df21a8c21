"""A table of records: columns say what they show, rows can be added, filtered and sorted.

Sorting is by several keys and stable. Selected rows stay selected, whatever is added or sorted.
Unknown values (None) come last in either order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from PySide6.QtCore import (
    QAbstractItemModel,
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)
from PySide6.QtGui import QColor, QFont, QIcon

from engine.plain_text import printable

Row = TypeVar("Row")
Index = QModelIndex | QPersistentModelIndex
SortKeys = list[tuple[int, Qt.SortOrder]]
"""Columns and directions, the most important first."""
ASCENDING, DESCENDING = Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder
VALUE_ROLE = int(Qt.ItemDataRole.UserRole)
"""The value behind a text: a number where the text is one with a unit."""

_NOWHERE = QModelIndex()
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


class Palette(Protocol):
    """The part of the theme that a model needs."""

    def color(self, token: str) -> QColor: ...
    def icon(self, name: str, token: str = "text") -> QIcon: ...
    @property
    def mono_font(self) -> QFont: ...


def plain_text(value: object) -> str:
    return "" if value is None else str(value)


@dataclass(frozen=True)
class Column(Generic[Row]):
    """`value` is what is sorted by; the rest says how it looks."""

    name: str  # its name in the settings
    title: str
    value: Callable[[Row], Any]
    text: Callable[[Row], str] | None = None  # default: the value
    tip: str = ""  # explains the title
    numeric: bool = False  # right-aligned
    mono: bool = False
    token: Callable[[Row], str] | None = None  # the color of the text
    icon: Callable[[Row], str] | None = None  # "" for none
    row_tip: Callable[[Row], str] | None = None  # default: the text
    shown: bool = True  # before the user chooses

    def text_of(self, row: Row) -> str:
        return printable(self.text(row) if self.text else plain_text(self.value(row)))

    def tip_of(self, row: Row) -> str:
        return printable(self.row_tip(row)) if self.row_tip else self.text_of(row)


class SortableModel(Protocol):
    """What `TableView` asks of a model that can sort by several columns."""

    sort_keys: SortKeys

    def sort_by(self, keys: SortKeys) -> None: ...


class TableModel(QAbstractTableModel, Generic[Row]):
    def __init__(
        self, columns: Sequence[Column[Row]], palette: Palette, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.columns = tuple(columns)
        self.sort_keys: SortKeys = []
        self._palette = palette
        self._rows: list[Row] = []  # all, in the order they came
        self._shown: list[Row] = []
        self._wanted: Callable[[Row], bool] | None = None

    @property
    def rows(self) -> list[Row]:
        return self._rows

    def row(self, number: int) -> Row:
        """The record in a row of the table."""
        return self._shown[number]

    def set_rows(self, rows: Iterable[Row]) -> None:
        """Replace all records."""
        self.beginResetModel()
        self._rows = list(rows)
        self._shown = self._in_order(self._pass(self._rows))
        self.endResetModel()

    def add_rows(self, rows: Iterable[Row]) -> None:
        """Add records in one insertion; a sorted table stays sorted."""
        new = list(rows)
        self._rows += new
        new = self._pass(new)
        if not new:
            return
        count = len(self._shown)
        self.beginInsertRows(_NOWHERE, count, count + len(new) - 1)
        self._shown += new
        self.endInsertRows()
        if self.sort_keys:
            self.sort_by(self.sort_keys)

    def set_filter(self, wanted: Callable[[Row], bool] | None) -> None:
        """Show only records that pass; None shows all."""
        self._wanted = wanted
        self._rearrange(self._in_order(self._pass(self._rows)))

    def sort_by(self, keys: SortKeys) -> None:
        """Sort by some keys; without keys, in the order in which the records came."""
        self.sort_keys = keys
        self._rearrange(self._in_order(self._pass(self._rows)))
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self.columns) - 1)

    def restyle(self) -> None:
        """Update icons and colors after a change of theme."""
        if self._shown:
            last = self.index(len(self._shown) - 1, len(self.columns) - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    def rowCount(self, parent: Index = _NOWHERE) -> int:  # noqa: N802  Qt's name
        return 0 if parent.isValid() else len(self._shown)

    def columnCount(self, parent: Index = _NOWHERE) -> int:  # noqa: N802  Qt's name
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not self.checkIndex(index, QAbstractItemModel.CheckIndexOption.IndexIsValid):
            return None
        row, column = self._shown[index.row()], self.columns[index.column()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return column.text_of(row)
            case Qt.ItemDataRole.ToolTipRole:
                return column.tip_of(row)
            case Qt.ItemDataRole.TextAlignmentRole:
                return _RIGHT if column.numeric else _LEFT
            case Qt.ItemDataRole.UserRole:
                return column.value(row)
            case _:
                return self._look(row, column, role)

    def headerData(  # noqa: N802  Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        column = self.columns[section]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return f"{column.title}{sort_mark(self.sort_keys, section)}"
            case Qt.ItemDataRole.ToolTipRole:
                return column.tip or column.title
            case Qt.ItemDataRole.TextAlignmentRole:
                return _RIGHT if column.numeric else _LEFT
            case Qt.ItemDataRole.UserRole:
                return column.name
        return None

    def _look(self, row: Row, column: Column[Row], role: int) -> QFont | QColor | QIcon | None:
        if role == Qt.ItemDataRole.FontRole and column.mono:
            return self._palette.mono_font
        if role == Qt.ItemDataRole.ForegroundRole and column.token:
            return self._palette.color(column.token(row))
        if role == Qt.ItemDataRole.DecorationRole and column.icon and column.icon(row):
            token = column.token(row) if column.token else "text"
            return self._palette.icon(column.icon(row), token)
        return None

    def _pass(self, rows: list[Row]) -> list[Row]:
        return list(rows) if self._wanted is None else list(filter(self._wanted, rows))

    def _in_order(self, rows: list[Row]) -> list[Row]:
        """Python's sort is stable: the least important key first."""
        for number, order in reversed(self.sort_keys):
            value = self.columns[number].value
            known = [row for row in rows if value(row) is not None]
            unknown = [row for row in rows if value(row) is None]
            known.sort(key=value, reverse=order == DESCENDING)
            rows = known + unknown
        return rows

    def _rearrange(self, shown: list[Row]) -> None:
        """Show the records in another order, or some of them, and keep the selection."""
        with moving_rows(self):
            before = self.persistentIndexList()
            if before:
                place = {id(row): number for number, row in enumerate(shown)}
                places = [place.get(id(self._shown[index.row()]), -1) for index in before]
            self._shown = shown
            if before:
                after = [
                    self.index(number, index.column()) if number >= 0 else QModelIndex()
                    for number, index in zip(places, before, strict=True)
                ]
                self.changePersistentIndexList(before, after)


_LAYOUT = "QList<QPersistentModelIndex>,QAbstractItemModel::LayoutChangeHint"


@contextmanager
def moving_rows(model: QAbstractItemModel) -> Iterator[None]:
    """Rows get other places, and columns keep theirs: headers that are not told so count hidden
    columns as well for a moment.
    """
    hint = QAbstractItemModel.LayoutChangeHint.VerticalSortHint
    model.layoutAboutToBeChanged[_LAYOUT].emit([], hint)  # type: ignore[index]  # a signal can be
    yield
    model.layoutChanged[_LAYOUT].emit([], hint)  # type: ignore[index]  # as above


def sort_mark(keys: SortKeys, section: int) -> str:
    """Return an arrow for the title, with its rank if there are several keys."""
    for rank, (column, order) in enumerate(keys, start=1):
        if column == section:
            arrow = "▴" if order == ASCENDING else "▾"
            return f" {arrow}{rank}" if len(keys) > 1 else f" {arrow}"
    return ""
