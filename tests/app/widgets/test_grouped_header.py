"""Titles above columns that share them: seen whole, copied, and kept when columns are moved."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFontMetrics, QGuiApplication
from pytestqt.qtbot import QtBot

from app.models.table_model import Column, TableModel
from app.services.theme import Theme
from app.widgets.grouped_header import GroupedHeader
from app.widgets.table_view import TableView

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
