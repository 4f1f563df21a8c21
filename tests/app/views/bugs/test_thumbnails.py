"""Small pictures in the bug table: an option, drawn beside the window, for rows in sight only."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot
from reference.hostile_workspaces import altered
from reference.screens import PATIENCE

from app.models.bug_table import GroupBy
from app.views.bugs import thumbnails
from app.views.bugs.page import BugsPage
from app.views.bugs.thumbnails import HEIGHT, WIDTH, key_of
from app.widgets.table_view import ROW_HEIGHT


def toggle(page: BugsPage) -> None:
    """As a user does in the menu of the titles."""
    menu = page.view.column_menu()
    next(action for action in menu.actions() if action.text() == "Picture").trigger()
    menu.close()


def kept(page: BugsPage) -> dict[tuple[int, float], QImage | None]:
    assert page.view.thumbnails is not None
    return page.view.thumbnails.kept


def wait(qtbot: QtBot, page: BugsPage) -> None:
    """Until every row in sight has its picture."""

    def all_there() -> bool:
        rows = page.view.bugs_in_sight()
        return bool(rows) and all(key_of(row) in kept(page) for row in rows)

    qtbot.waitUntil(all_there, timeout=PATIENCE)


@pytest.fixture
def flat(page: BugsPage) -> BugsPage:
    page.group.setCurrentIndex(page.group.findData(GroupBy.NOTHING))
    return page


def test_pictures_are_an_option_that_makes_rows_higher(qtbot: QtBot, flat: BugsPage) -> None:
    view = flat.view
    usual = view.rowHeight(0)
    assert usual >= ROW_HEIGHT
    assert not view.bugs_in_sight()
    toggle(flat)
    assert view.rowHeight(0) > HEIGHT
    wait(qtbot, flat)
    images = [kept(flat)[key_of(row)] for row in view.bugs_in_sight()]
    for image in images:
        assert image is not None
        size = image.deviceIndependentSize()
        assert 0 < size.width() <= WIDTH + 1
        assert 0 < size.height() <= HEIGHT + 1
        colors = {image.pixel(x, y) for x in range(image.width()) for y in range(image.height())}
        assert len(colors) > 5  # something is drawn
    toggle(flat)
    assert view.rowHeight(0) == usual
    assert not view.bugs_in_sight()


def test_only_rows_in_sight_are_drawn(qtbot: QtBot, flat: BugsPage) -> None:
    toggle(flat)
    wait(qtbot, flat)
    seen = flat.view.bugs_in_sight()
    assert len(seen) < flat.table.total
    assert len(kept(flat)) <= len(seen) + 2  # those that were in sight while the window opened
    flat.view.scrollToBottom()
    wait(qtbot, flat)
    assert key_of(flat.table.line(flat.table.rowCount() - 1)) in kept(flat)


def test_few_pictures_are_kept(
    qtbot: QtBot, flat: BugsPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thumbnails, "MAX_KEPT", 12)
    toggle(flat)
    for row in range(0, flat.table.rowCount(), 3):
        flat.view.scrollTo(flat.table.index(row, 0))
        wait(qtbot, flat)
        assert len(kept(flat)) <= 12


def test_the_choice_is_remembered(qtbot: QtBot, flat: BugsPage) -> None:
    toggle(flat)
    again = BugsPage(flat.context)
    qtbot.addWidget(again)
    assert again.view.verticalHeader().defaultSectionSize() > HEIGHT


def test_pictures_follow_the_theme(qtbot: QtBot, flat: BugsPage) -> None:
    toggle(flat)
    wait(qtbot, flat)
    row = flat.view.bugs_in_sight()[0]
    light = kept(flat)[key_of(row)]
    theme = flat.context.theme
    theme.set_mode("light" if theme.is_dark else "dark")
    wait(qtbot, flat)
    dark = kept(flat)[key_of(row)]
    assert light is not None
    assert dark is not None
    assert light.pixel(0, 0) != dark.pixel(0, 0)


def test_without_pddl_cells_are_empty(
    qtbot: QtBot, make_page: Callable[[Path], BugsPage], workspace: Path, tmp_path: Path
) -> None:
    sas = "UPDATE problems SET domain_path = NULL, domain_file = NULL, problem_file = sas_file"
    page = make_page(altered(workspace, tmp_path / "sas.plumb", sas))
    toggle(page)
    wait(qtbot, page)
    assert set(kept(page).values()) == {None}


def test_too_many_objects_have_no_small_picture(
    qtbot: QtBot, flat: BugsPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thumbnails, "MAX_OBJECTS", 0)
    toggle(flat)
    wait(qtbot, flat)
    assert set(kept(flat).values()) == {None}
