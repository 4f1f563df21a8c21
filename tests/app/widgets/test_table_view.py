"""Tables: sorted by several columns, copied, with columns of one's choice; selections stay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, Qt
from PySide6.QtGui import QFont, QFontMetrics, QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot
from reference.amount import amount

from app.models.table_model import ASCENDING, DESCENDING, VALUE_ROLE, Column, TableModel
from app.services.settings import Settings
from app.services.theme import Theme
from app.widgets.table_view import GroupedHeader, TableView


@dataclass(frozen=True, eq=False)
class Item:
    name: str
    gap: int | None
    note: str = ""


COLUMNS = (
    Column[Item]("name", "Name", lambda item: item.name, mono=True),
    Column[Item](
        "gap",
        "Gap",
        lambda item: item.gap,
        lambda item: "" if item.gap is None else f"{item.gap} km",
        tip="How much too expensive",
        numeric=True,
        token=lambda item: "bad",
        icon=lambda item: "error" if item.gap else "",
    ),
    Column[Item]("note", "Note", lambda item: item.note, shown=False),
)
ITEMS = [
    Item("b", 3),
    Item("a", None, "x|y\nz <b> [A*](w)"),
    Item("c", 3),
    Item("d", 10),
    Item("e", 1),
]


@pytest.fixture
def model(theme: Theme) -> Iterator[TableModel[Item]]:
    model = TableModel(COLUMNS, theme)
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.set_rows(ITEMS)
    yield model
    tester.deleteLater()
    model.deleteLater()


@pytest.fixture
def table(qtbot: QtBot, model: TableModel[Item], settings: Settings) -> TableView:
    table = TableView("items", "Items")
    qtbot.addWidget(table)
    table.setModel(model)
    table.remember(settings)
    table.resize(600, 300)
    table.show()
    return table


def names(model: TableModel[Item]) -> str:
    return "".join(model.row(number).name for number in range(model.rowCount()))


def test_several_keys_sort_and_the_unknown_comes_last(model: TableModel[Item]) -> None:
    model.sort_by([(1, DESCENDING), (0, ASCENDING)])
    assert names(model) == "dbcea"
    model.sort_by([(1, ASCENDING), (0, DESCENDING)])
    assert names(model) == "ecbda"
    assert model.headerData(1, Qt.Orientation.Horizontal) == "Gap ▴1"
    model.sort_by([])
    assert names(model) == "bacde"


@given(st.lists(st.tuples(st.integers(0, 3) | st.none(), st.integers(0, 3))), st.booleans())
@hypothesis_settings(
    max_examples=amount(30, 12), suppress_health_check=[HealthCheck.function_scoped_fixture]
)  # the theme does not change
def test_sorting_agrees_with_sorting_tuples(
    theme: Theme, values: list[tuple[int | None, int]], reverse: bool
) -> None:
    columns = [Column[tuple[int | None, int]](str(i), "", lambda row, i=i: row[i]) for i in (0, 1)]
    model = TableModel(columns, theme)
    model.set_rows(values)
    model.sort_by([(0, DESCENDING if reverse else ASCENDING), (1, ASCENDING)])
    shown = [model.row(number) for number in range(model.rowCount())]
    sign = -1 if reverse else 1
    last = float("inf")
    assert shown == sorted(values, key=lambda v: (last if v[0] is None else sign * v[0], v[1]))


def test_a_cell_knows_its_text_value_and_look(model: TableModel[Item], theme: Theme) -> None:
    gap = model.index(0, 1)
    assert gap.data() == "3 km"
    assert gap.data(VALUE_ROLE) == 3
    assert gap.data(Qt.ItemDataRole.ForegroundRole) == theme.color("bad")
    assert not gap.data(Qt.ItemDataRole.DecorationRole).isNull()
    assert isinstance(model.index(0, 0).data(Qt.ItemDataRole.FontRole), QFont)
    tip = model.headerData(1, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
    assert tip == "How much too expensive"


def test_the_selection_stays_whatever_happens(table: TableView, model: TableModel[Item]) -> None:
    table.select_row(2)
    model.add_rows([Item("f", 2), Item("g", None)])
    assert [model.row(row).name for row in table.selected_rows()] == ["c"]
    model.sort_by([(0, DESCENDING)])
    assert [model.row(row).name for row in table.selected_rows()] == ["c"]
    model.add_rows([Item("z", 2)])
    assert names(model) == "zgfedcba"
    assert [model.row(row).name for row in table.selected_rows()] == ["c"]
    model.set_filter(lambda item: item.name in "acz")
    assert names(model) == "zca"
    assert [model.row(row).name for row in table.selected_rows()] == ["c"]
    model.set_filter(lambda item: item.name == "a")
    assert table.selected_rows() == []


def test_all_rows_are_selected_without_asking_for_each(qtbot: QtBot, theme: Theme) -> None:
    """There may be a million."""
    asked: list[int] = []

    class Asked(TableModel[Item]):
        def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
            asked.append(index.row())
            return super().flags(index)

    view = TableView("table", "Many")
    qtbot.addWidget(view)
    model = Asked(COLUMNS, theme, view)
    model.set_rows([Item(str(number), number) for number in range(1000)])
    view.setModel(model)
    view.resize(600, 200)
    view.show()
    view.selectAll()
    view.grab()
    assert view.selected_rows() == list(range(1000))
    assert max(asked) < 100, "only those in sight"


def test_clicks_on_titles_sort(
    qtbot: QtBot, table: TableView, model: TableModel[Item], settings: Settings
) -> None:
    header = table.horizontalHeader()

    def click(column: int, modifier: Qt.KeyboardModifier) -> None:
        place = QPoint(header.sectionViewportPosition(column) + 10, header.height() // 2)
        qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, modifier, place)

    click(1, Qt.KeyboardModifier.NoModifier)
    assert model.sort_keys == [(1, ASCENDING)]
    click(0, Qt.KeyboardModifier.ShiftModifier)
    assert model.sort_keys == [(1, ASCENDING), (0, ASCENDING)]
    click(0, Qt.KeyboardModifier.ShiftModifier)
    assert model.sort_keys == [(1, ASCENDING), (0, DESCENDING)]
    assert settings.get("table/items/sort", []) == [[1, False], [0, True]]
    click(1, Qt.KeyboardModifier.ShiftModifier)
    click(1, Qt.KeyboardModifier.ShiftModifier)
    assert model.sort_keys == [(0, DESCENDING)]
    click(0, Qt.KeyboardModifier.NoModifier)
    assert model.sort_keys == []


def test_the_arrow_of_a_narrow_column_is_seen(table: TableView, settings: Settings) -> None:
    """Also where the user has made the column as narrow as its title, and after a restart."""
    header = table.horizontalHeader()
    bare = header.sectionSizeHint(0)
    header.resizeSection(0, bare)
    header.sectionClicked.emit(0)
    assert header.sectionSize(0) == header.sectionSizeHint(0) > bare
    header.resizeSection(0, bare)
    table.remember(settings)
    assert header.sectionSize(0) == header.sectionSizeHint(0)
    wide = header.sectionSize(0) + 50
    header.resizeSection(0, wide)
    header.sectionClicked.emit(0)
    assert header.sectionSize(0) == wide


def test_the_arrow_of_a_column_at_the_edge_is_seen(table: TableView) -> None:
    """The column grows beyond the edge when its title is clicked."""
    header = table.horizontalHeader()
    table.column_menu().actions()[2].setChecked(True)  # a column to the right of it
    header.resizeSection(0, 200)
    header.resizeSection(1, header.sectionSizeHint(1))
    table.resize(table.width() - table.viewport().width() + 200 + header.sectionSize(1), 300)
    header.sectionClicked.emit(1)
    end = header.sectionViewportPosition(1) + header.sectionSize(1)
    assert end <= table.viewport().width()
    header.sectionClicked.emit(0)
    assert header.sectionViewportPosition(0) + 200 <= table.viewport().width()


def test_the_arrow_of_a_narrow_column_stays(qtbot: QtBot, theme: Theme) -> None:
    title = "A title that is much wider than its column"
    model = TableModel((Column[Item]("name", title, lambda item: item.name), COLUMNS[1]), theme)
    table = TableView("narrow", "Narrow")
    qtbot.addWidget(table)
    table.setModel(model)
    table.setColumnWidth(0, 90)
    header = table.horizontalHeader()
    pictures = []
    for order in (ASCENDING, DESCENDING):
        model.sort_by([(0, order)])
        pictures.append(header.grab().toImage())
    assert pictures[0] != pictures[1]


def test_cut_rows_look_different(table: TableView, model: TableModel[Item]) -> None:
    model.set_rows([Item(f"pack-of-problem-{n}-with-a-long-name", 1) for n in (1, 2, 1)])
    table.setColumnWidth(0, 90)
    cells = [table.visualRect(model.index(row, 0)) for row in range(3)]
    first, other, again = (table.viewport().grab(cell).toImage() for cell in cells)
    assert first != other
    assert first == again


def test_rows_are_copied_as_tsv_and_markdown(qtbot: QtBot, table: TableView) -> None:
    clipboard = QGuiApplication.clipboard()
    table.select_row(0)
    qtbot.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert clipboard.text() == "Name\tGap\nb\t3 km"
    table.clearSelection()
    table.copy_tsv()
    assert clipboard.text().count("\n") == 5
    table.column_menu().actions()[2].setChecked(True)
    table.select_row(1)
    table.copy_markdown()
    head, line, row = clipboard.text().split("\n")
    assert (head, line) == ("| Name | Gap | Note |", "| --- | --- | --- |")
    assert row == r"| a |  | x\|y z \<b> \[A\*](w) |"


def test_columns_are_chosen_and_remembered(
    qtbot: QtBot, table: TableView, model: TableModel[Item], settings: Settings
) -> None:
    header = table.horizontalHeader()
    assert header.isSectionHidden(2)
    menu = table.column_menu()
    assert [action.text() for action in menu.actions()] == ["Name", "Gap", "Note"]
    menu.actions()[2].setChecked(True)
    menu.actions()[0].setChecked(False)
    header.resizeSection(1, 222)
    again = TableView("items", "Items")
    qtbot.addWidget(again)
    again.setModel(model)
    again.remember(settings)
    assert [again.isColumnHidden(column) for column in range(3)] == [True, False, False]
    assert again.columnWidth(1) == 222
    menu.deleteLater()


def test_one_column_is_always_left(table: TableView) -> None:
    menu = table.column_menu()
    for action in menu.actions():
        action.setChecked(False)
    assert sum(not table.isColumnHidden(column) for column in range(3)) == 1
    menu.deleteLater()


def test_rows_and_columns_grow_with_the_text(table: TableView, theme: Theme) -> None:
    assert table.rowHeight(0) == 26
    width = table.columnWidth(0)
    theme.set_point_size(20)
    assert table.rowHeight(0) > 26
    assert table.columnWidth(0) > width


def test_columns_are_remembered_for_another_size_of_the_text(
    qtbot: QtBot, table: TableView, model: TableModel[Item], settings: Settings, theme: Theme
) -> None:
    table.horizontalHeader().resizeSection(0, 150)
    table.close()
    theme.set_point_size(20)
    again = TableView("items", "Items")
    qtbot.addWidget(again)
    again.setModel(model)
    again.remember(settings)
    again.show()
    assert 220 < again.columnWidth(0) < 380
    assert again.rowHeight(0) > 26
    theme.set_point_size(10)
    assert again.columnWidth(0) == pytest.approx(150, abs=8)


GROUPS = ("", "recall of all oracles", "recall of all oracles", "")
TITLES = ("domain", "a", "b", "n")


@pytest.fixture
def view(qtbot: QtBot, theme: Theme) -> TableView:
    view = TableView("table", "Recall")
    qtbot.addWidget(view)
    columns = [
        Column[tuple[str, ...]](title, title, lambda row, n=number: row[n])  # type: ignore[misc]
        for number, title in enumerate(TITLES)
    ]
    model = TableModel(columns, theme, view)
    view.set_groups(GROUPS)
    view.setModel(model)
    model.set_rows([("ferry", "1", "2", "3")])
    view.fit_columns()
    view.resize(600, 200)
    view.show()
    return view


def header_of(view: TableView) -> GroupedHeader:
    header = view.horizontalHeader()
    assert isinstance(header, GroupedHeader)
    return header


def test_a_group_is_as_wide_as_its_title(view: TableView) -> None:
    header = header_of(view)
    needed = QFontMetrics(header.font()).horizontalAdvance(GROUPS[1])
    assert header.sectionSize(1) + header.sectionSize(2) > needed
    assert header.height() > 2 * view.fontMetrics().height()


def test_titles_are_copied_with_their_groups(view: TableView) -> None:
    view.copy_tsv()
    head = QGuiApplication.clipboard().text().splitlines()[0]
    assert head.split("\t") == [
        "domain",
        "recall of all oracles: a",
        "recall of all oracles: b",
        "n",
    ]


def test_a_group_is_drawn_above_its_columns_wherever_they_are(view: TableView) -> None:
    header = header_of(view)

    def row_above(column: int) -> bool:
        """Whether something is drawn in the upper half above a column."""
        image = header.grab().toImage()
        left = header.sectionViewportPosition(column)
        colors = {
            image.pixelColor(x, y).name()
            for x in range(left + 8, left + header.sectionSize(column) - 8)
            for y in range(2, header.height() // 2)
        }
        return len(colors) > 1

    assert [row_above(column) for column in range(4)] == [False, True, True, False]
    header.moveSection(2, 0)
    assert [row_above(column) for column in range(4)] == [False, True, True, False]
