"""The filter above the bug table, and what is selected when it changes."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QCompleter
from pytestqt.qtbot import QtBot
from reference.bug_screen import current, empty_state, show

from app.models.bug_table import Group, GroupBy
from app.views.bugs.page import BugsPage


def test_the_filter_is_written_as_chips(qtbot: QtBot, page: BugsPage) -> None:
    total = page.table.total
    edit = page.filter.edit
    qtbot.keyClick(page.view, Qt.Key.Key_Slash)
    assert edit.hasFocus()
    qtbot.keyClicks(edit, "evidence:dominance ")
    assert page.filter.text == "evidence:dominance"
    expected = sum(row.evidence_kind == "dominance" for row in page.context.document.store.bugs())
    assert page.count.text() == f"{expected} of {total}"
    qtbot.keyClicks(edit, "bound")  # may become a column's name
    qtbot.wait(0)
    page.filter.findChild(QTimer).timeout.emit()
    assert page.table.shown_bugs == expected
    qtbot.keyClicks(edit, ">1000 ")
    assert page.count.text() == f"0 of {total}"
    nothing = empty_state(page, "No matching bugs")
    assert nothing.isVisible()
    assert not page.detail.isVisible(), "it would show a bug that does not match"
    qtbot.keyClick(edit, Qt.Key.Key_Backspace)
    assert edit.text() == "bound>1000"
    edit.setText("bnd>3")
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    assert page.filter.problem.isVisible()
    assert "did you mean 'bound'" in page.filter.problem.text()
    assert page.count.text() == f"{expected} of {total}", "the other conditions hold"
    qtbot.keyClick(edit, Qt.Key.Key_Escape)
    assert not page.filter.problem.isVisible()
    assert page.view.hasFocus()
    qtbot.keyClicks(edit, "bound>1000 ")
    qtbot.mouseClick(nothing.button, Qt.MouseButton.LeftButton)
    assert page.count.text() == f"{total} of {total}"


def test_clearing_a_filter_that_matches_nothing_shows_the_bug_again(
    qtbot: QtBot, page: BugsPage
) -> None:
    bug = current(page)
    page.filter.set_text("bound>100000")
    assert not page.detail.isVisible()
    assert page.selected() == []
    empty_state(page, "No matching bugs").button.click()
    assert page.filter.text == ""
    assert page.detail.isVisible()
    assert current(page) == bug
    assert page.view.hasFocus()


def test_pasted_filters_and_completion(qtbot: QtBot, page: BugsPage) -> None:
    page.filter.focus()
    QGuiApplication.clipboard().setText("status:new gap>2 ")
    page.filter.edit.paste()
    assert page.filter.text == "status:new gap>2"
    qtbot.keyClicks(page.filter.edit, "oracle:")
    completer = page.filter.findChild(QCompleter)
    offered = completer.completionModel()
    texts = [offered.index(row, 0).data() for row in range(offered.rowCount())]
    assert "oracle:bmo" in texts
    completer.activated.emit("oracle:bmo")
    assert page.filter.text == "status:new gap>2 oracle:bmo"
    page.filter.set_text('kind:fails nonsense:"x y"')
    assert page.filter.edit.text() == 'nonsense:"x y"'
    assert page.filter.problem.isVisible()


def test_a_bug_that_is_filtered_away_gives_way_to_its_neighbor(
    qtbot: QtBot, page: BugsPage
) -> None:
    show(qtbot, page, 5)
    page.filter.set_text("id:3|4|200")
    assert current(page) in (3, 4, 200)
    page.filter.set_text("")
    kept = current(page)
    page.group.setCurrentIndex(page.group.findData(GroupBy.REGION))
    assert current(page) == kept
    assert isinstance(page.table.line(0), Group)
    page.show_item(7)
    assert current(page) == 7
    page.filter.set_text("id<3")
    page.show_item(9)
    assert current(page) == 9, "the filter makes way for a bug that another screen wants to show"
    page.show_item("id:2")
    assert page.table.shown_bugs == 1
