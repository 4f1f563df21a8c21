"""The table of bugs: filter, order, groups; what is selected stays selected."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot
from reference.listed_bugs import store_bugs

from app.models.bug_table import BugTable, Group, GroupBy
from app.models.table_model import ASCENDING, DESCENDING
from app.services.theme import Theme
from app.views.bugs.table_view import BugTableView
from engine.records.finding import BugKind, BugStatus
from engine.workspace.filter import parse_terms
from engine.workspace.rows import BugRow
from engine.workspace.workspace import Workspace

TESTER = QAbstractItemModelTester.FailureReportingMode.Fatal


def bug(number: int, **changes: object) -> BugRow:
    row = BugRow(
        *(number, 1, 1, BugKind.TOO_EXPENSIVE, f"p{number % 3}", "policy", 0, 20 + number, 10),
        *(10 + number, "bmo", "plan", 1 + number % 2, None, BugStatus.NEW, "", 0.5, 0, False),
    )
    return replace(row, **changes)  # type: ignore[arg-type]


class Shelf:
    """A workspace, and a table that shows what it holds."""

    def __init__(self, path: Path, theme: Theme) -> None:
        self._path = path
        store_bugs(path, [bug(number) for number in range(1, 13)])
        self.store = Workspace.open(path)
        self.table = BugTable(theme, self.store.bug_rows)
        self.table.asked.connect(self.arrange)
        self.table.missing.connect(lambda bugs: self.table.bring(self.store.bug_rows(bugs)))
        self.arrange()

    def arrange(self) -> None:
        overview = self.store.bug_overview()
        self.table.show_list(self.store.bug_list(self.table.query), overview, [])

    def put(self, *rows: BugRow) -> int:
        """Bugs change in the workspace, and the table hears of it."""
        store_bugs(self._path, rows)
        return self.table.take(self.store.bug_rows([row.id for row in rows]))


@pytest.fixture
def shelf(theme: Theme, tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path / "bugs.plumb", theme)
    tester = QAbstractItemModelTester(shelf.table, TESTER)
    yield shelf
    tester.deleteLater()
    shelf.table.deleteLater()
    shelf.store.close()


@pytest.fixture
def table(shelf: Shelf) -> BugTable:
    return shelf.table


@pytest.fixture
def view(qtbot: QtBot, theme: Theme, table: BugTable) -> BugTableView:
    view = BugTableView(theme, table, lambda bugs: [])
    qtbot.addWidget(view)
    view.resize(900, 400)
    view.show()
    return view


def shown(table: BugTable) -> list[int | str]:
    lines = (table.line(row) for row in range(table.rowCount()))
    return [line.title if isinstance(line, Group) else line.id for line in lines]


def column(table: BugTable, name: str) -> int:
    return next(n for n, item in enumerate(table.columns) if item.name == name)


def test_filter_and_count(table: BugTable) -> None:
    table.set_terms(parse_terms("problem:p1 gap>14"))
    assert shown(table) == [7, 10]
    assert (table.shown_bugs, table.total) == (2, 12)
    table.set_terms(())
    assert table.shown_bugs == 12


def test_sort_by_several_columns(table: BugTable) -> None:
    table.sort_by([(column(table, "problem"), ASCENDING), (column(table, "gap"), DESCENDING)])
    assert shown(table) == [12, 9, 6, 3, 10, 7, 4, 1, 11, 8, 5, 2]
    table.sort_by([])
    assert shown(table) == list(range(1, 13))


def test_failures_are_the_worst(shelf: Shelf, table: BugTable) -> None:
    shelf.put(bug(5, gap=None, policy_cost=None, kind=BugKind.FAILS))
    table.sort_by([(column(table, "gap"), DESCENDING)])
    assert shown(table)[0] == 5
    assert table.places_of([5]) == [0]
    texts = {c.name: table.index(0, n).data() for n, c in enumerate(table.columns)}
    assert (texts["gap"], texts["cost"], texts["kind"]) == ("∞", "never", "fails")


def test_groups_hold_their_bugs_and_can_be_closed(table: BugTable) -> None:
    table.set_group_by(GroupBy.REGION)
    first, *rest = shown(table)
    assert first == "Region of bug 2  in p1"
    assert rest[:6] == [1, 3, 5, 7, 9, 11]
    table.toggle(0)
    assert len(shown(table)) == 1 + 1 + 6
    assert table.shown_bugs == 12
    table.toggle(0)
    assert len(shown(table)) == 14
    for number in (7, 0):
        table.toggle(number)
    assert all(isinstance(line, str) for line in shown(table))
    group = table.index(0, 0)
    assert group.data() == "Region of bug 2  in p1: 6 bugs, closed"


def test_bugs_without_a_root_cause_come_last(shelf: Shelf, table: BugTable) -> None:
    seven, eight = {"root_cause": 7, "bad_action": "drive a b"}, {"root_cause": 8}
    shelf.put(bug(4, **seven), bug(9, **seven), bug(2, **eight, bad_action="take x a"))
    table.set_group_by(GroupBy.ROOT_CAUSE)
    titles = [line for line in shown(table) if isinstance(line, str)]
    assert titles == [
        "Root cause 7  (drive a b)  in p1",
        "Root cause 8  (take x a)  in p2",
        "Not localized yet",
    ]
    table.set_group_by(GroupBy.SCHEMA)
    titles = [line for line in shown(table) if isinstance(line, str)]
    assert titles == ["Bad action: drive", "Bad action: take", "Not localized yet"]
    assert table.values()["action"] == ["drive", "take"]
    table.set_terms(parse_terms("action:drive"))
    assert table.shown_bugs == 2


def test_long_names_keep_their_ends(shelf: Shelf, view: BugTableView) -> None:
    pictures = []
    for number in (1, 2):
        shelf.put(bug(1, problem=f"prob-blocks-blocks-nblk35-seed2107726020-seq{number}.pddl"))
        pictures.append(view.grab().toImage())
    assert pictures[0] != pictures[1]


def test_cut_names_look_different(shelf: Shelf, view: BugTableView, table: BugTable) -> None:
    names = [f"pack-of-problem-{number}-with-a-long-name" for number in (1, 2, 1)]
    shelf.put(*(bug(4 + number, problem=name) for number, name in enumerate(names)))
    place = column(table, "problem")
    view.setColumnWidth(place, 90)
    view.select_bug(12)
    cells = [view.visualRect(table.index(row, place)) for row in table.places_of([4, 5, 6])]
    first, other, again = (view.viewport().grab(cell).toImage() for cell in cells)
    assert first != other
    assert first == again


def test_new_bugs_move_nothing(shelf: Shelf, view: BugTableView, table: BugTable) -> None:
    table.sort_by([(column(table, "gap"), DESCENDING)])
    view.select_bug(6)
    view.selectionModel().select(
        table.index(*table.places_of([8]), 0),
        QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows,
    )
    shelf.put(*(bug(number) for number in range(13, 40)))
    assert table.places_of([39]) == [], "it appears with the next settle"
    table.settle()
    assert shown(table)[0] == 39
    assert [row.id for row in view.selected_bugs()] == [8, 6]
    current = view.current_bug()
    assert current is not None
    assert current.id == 6


def test_bugs_that_change_keep_their_place_until_the_table_settles(
    shelf: Shelf, table: BugTable
) -> None:
    table.set_terms(parse_terms("status:new"))
    assert shown(table) == list(range(1, 13))
    assert shelf.put(bug(3, status=BugStatus.CONFIRMED)) == 1
    assert 3 in shown(table)
    assert table.index(2, column(table, "status")).data() == "confirmed"
    table.settle()
    assert 3 not in shown(table)
    assert table.known(3) is not None
    assert shelf.put(bug(3, status=BugStatus.CONFIRMED)) == 0, "nothing is new about it"


def test_groups_are_opened_and_passed_by_keyboard(
    qtbot: QtBot, view: BugTableView, table: BugTable
) -> None:
    table.set_group_by(GroupBy.REGION)
    view.setFocus()
    view.select_row(0)
    qtbot.keyClick(view, Qt.Key.Key_Left)
    assert len(shown(table)) == 8
    qtbot.keyClick(view, Qt.Key.Key_Left)  # closed already
    assert len(shown(table)) == 8
    qtbot.keyClick(view, Qt.Key.Key_Right)
    assert len(shown(table)) == 14
    assert view.selected_bugs() == []
    assert view.step(1)
    assert [row.id for row in view.selected_bugs()] == [1]
    view.select_bug(11)
    assert view.step(1)
    assert [row.id for row in view.selected_bugs()] == [2], "the next group's title is passed"
    view.select_bug(12)
    assert not view.step(1)
    assert not view.grab().isNull()


def test_the_nearest_bug_is_chosen_when_one_disappears(view: BugTableView, table: BugTable) -> None:
    view.select_bug(12)
    table.set_terms(parse_terms("id<5"))
    view.select_near(11)
    assert [row.id for row in view.selected_bugs()] == [4]
    table.set_terms(parse_terms("id>100"))
    view.select_near(0)
    assert view.selected_bugs() == []


def test_values_for_completion(table: BugTable) -> None:
    values = table.values()
    assert values["problem"] == ["p0", "p1", "p2"]
    assert "confirmed" in values["status"]
