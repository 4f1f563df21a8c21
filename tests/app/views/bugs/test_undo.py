"""Undo by keyboard in the whole window: what is undone is current and selected, and nothing else.

The keys matter: while Ctrl is down, Qt adds to a selection what a program makes current.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from reference.screens import PATIENCE

from app.services.document import Document
from app.services.settings import Settings
from app.services.theme import Theme
from app.shell.main_window import MainWindow
from app.views.bugs.page import BugsPage

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
Press = Callable[..., None]


@pytest.fixture
def window(qtbot: QtBot, theme: Theme, settings: Settings, workspace: Path) -> Iterator[MainWindow]:
    window = MainWindow(Document.open(workspace), settings, theme)
    with qtbot.waitExposed(window, timeout=PATIENCE):
        window.show()
    yield window
    window.close()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=PATIENCE)
    window.deleteLater()


@pytest.fixture
def bugs(qtbot: QtBot, window: MainWindow) -> BugsPage:
    window.show_page("bugs")
    page = window.current_page
    assert isinstance(page, BugsPage)
    qtbot.waitUntil(lambda: page.feed.complete, timeout=PATIENCE)
    qtbot.waitUntil(lambda: page.detail.known is not None, timeout=PATIENCE)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow, timeout=PATIENCE)
    return page


@pytest.fixture
def press(window: MainWindow, bugs: BugsPage) -> Press:
    """Keys of a keyboard, for the widget that has the focus."""
    keys_of = {CTRL: (Qt.Key.Key_Control,), SHIFT: (Qt.Key.Key_Shift,)}
    keys_of[CTRL | SHIFT] = (Qt.Key.Key_Control, Qt.Key.Key_Shift)
    nothing = Qt.KeyboardModifier.NoModifier

    def press(*keys: Qt.Key, modifier: Qt.KeyboardModifier = nothing) -> None:
        focus, held = window.focusWidget(), keys_of.get(modifier, ())
        for key in held:
            QTest.keyPress(focus, key, modifier)
        for key in keys:
            QTest.keyClick(focus, key, modifier)
        for key in held:
            QTest.keyRelease(focus, key, nothing)

    return press


def statuses(page: BugsPage) -> dict[int, str]:
    return {row.id: row.status for row in page.context.document.store.bugs()}


def selected(page: BugsPage) -> list[int]:
    return [row.id for row in page.selected()]


def current(page: BugsPage) -> int:
    row = page.view.current_bug()
    assert row is not None
    return row.id


def test_after_undo_one_key_decides_about_the_undone_bug_alone(
    bugs: BugsPage, press: Press
) -> None:
    first = current(bugs)
    press(Qt.Key.Key_C, Qt.Key.Key_C, Qt.Key.Key_C)
    decided = [bug for bug, status in statuses(bugs).items() if status == "confirmed"]
    assert len(decided) == 3
    for bug in reversed(decided):
        press(Qt.Key.Key_Z, modifier=CTRL)
        assert (current(bugs), selected(bugs)) == (bug, [bug])
    press(Qt.Key.Key_I)
    changed = {bug: status for bug, status in statuses(bugs).items() if status != "new"}
    assert changed == {first: "ignored"}


def test_redo_selects_what_it_decides_about(bugs: BugsPage, press: Press) -> None:
    press(Qt.Key.Key_C, Qt.Key.Key_C)
    decided = [bug for bug, status in statuses(bugs).items() if status == "confirmed"]
    press(Qt.Key.Key_Z, Qt.Key.Key_Z, modifier=CTRL)
    for bug in decided:
        press(Qt.Key.Key_Z, modifier=CTRL | SHIFT)
        assert (current(bugs), selected(bugs)) == (bug, [bug])


def test_several_bugs_are_undone_and_selected_together(bugs: BugsPage, press: Press) -> None:
    press(Qt.Key.Key_Down, Qt.Key.Key_Down, modifier=SHIFT)
    together = selected(bugs)
    assert len(together) == 3
    press(Qt.Key.Key_I)
    press(Qt.Key.Key_J)
    assert selected(bugs) != together
    press(Qt.Key.Key_Z, modifier=CTRL)
    assert selected(bugs) == together
    assert current(bugs) in together
    assert set(statuses(bugs).values()) == {"new"}


def test_undo_is_no_more_than_what_was_changed(bugs: BugsPage, press: Press) -> None:
    """A bug that is current but one of many selected ones does not take the others along."""
    bugs.actions_of.by_name["advance"].trigger()
    first = current(bugs)
    press(Qt.Key.Key_C)
    press(Qt.Key.Key_A, modifier=CTRL)
    assert len(selected(bugs)) > 1
    press(Qt.Key.Key_Z, modifier=CTRL)
    assert (current(bugs), selected(bugs)) == (first, [first])


def test_a_bug_that_the_filter_hid_is_shown_again(
    qtbot: QtBot, bugs: BugsPage, press: Press
) -> None:
    first = current(bugs)
    press(Qt.Key.Key_C)
    bugs.filter.set_text("status:new")
    assert not bugs.table.places_of([first])
    bugs.view.setFocus()
    press(Qt.Key.Key_Z, modifier=CTRL)
    assert (current(bugs), selected(bugs)) == (first, [first])
