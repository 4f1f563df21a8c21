"""Triage by keyboard: decisions, duplicates, notes, and many bugs at once."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtWidgets import QInputDialog
from pytestqt.qtbot import QtBot
from reference.bug_screen import current, show, shown, statuses
from reference.screens import PATIENCE

from app.views.bugs.page import BugsPage


def test_a_walk_through_twenty_bugs_by_keyboard_alone(qtbot: QtBot, page: BugsPage) -> None:
    view, stack = page.view, page.context.document.undo_stack
    before = statuses(page)
    keys = {
        Qt.Key.Key_C: "confirmed",
        Qt.Key.Key_I: "ignored",
        Qt.Key.Key_D: "duplicate",
    }
    visited = []
    for number in range(20):
        bug = current(page)
        qtbot.waitUntil(lambda bug=bug: shown(page) == bug, timeout=PATIENCE)
        visited.append(bug)
        key, status = list(keys.items())[number % 3]
        qtbot.keyClick(view, key)
        assert statuses(page)[bug] == status
    assert len(set(visited)) == 20
    assert stack.count() == 20
    decided = statuses(page)
    for bug in reversed(visited):
        stack.undo()
        assert statuses(page)[bug] == before[bug]
        assert current(page) == bug, "one sees what is undone"
    assert statuses(page) == before
    for _ in visited:
        stack.redo()
    assert statuses(page) == decided


def test_a_duplicate_names_what_it_repeats(
    qtbot: QtBot, page: BugsPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (row.id for row in page.context.document.store.bugs()[:2])
    show(qtbot, page, second)
    monkeypatch.setattr(QInputDialog, "getInt", lambda *_: (first, True))
    qtbot.keyClick(page.view, Qt.Key.Key_D, Qt.KeyboardModifier.ShiftModifier)
    assert page.context.document.store.bug(second).row.duplicate_of == first
    assert page.detail.header.status.text() == f"duplicate of {first}"
    stack = page.context.document.undo_stack
    stack.undo()
    row = page.context.document.store.bug(second).row
    assert (row.status, row.duplicate_of) == ("new", None)
    stack.redo()
    monkeypatch.setattr(QInputDialog, "getInt", lambda *_: (second, True))
    qtbot.keyClick(page.view, Qt.Key.Key_D, Qt.KeyboardModifier.ShiftModifier)
    assert "duplicate of itself" in page.context.messages.history[-1].text
    assert page.context.document.store.bug(second).row.duplicate_of == first
    monkeypatch.setattr(QInputDialog, "getInt", lambda *_: (0, False))
    qtbot.keyClick(page.view, Qt.Key.Key_D, Qt.KeyboardModifier.ShiftModifier)
    assert page.context.document.store.bug(second).row.duplicate_of == first


def test_up_and_down_and_without_going_on(qtbot: QtBot, page: BugsPage) -> None:
    page.actions_of.by_name["advance"].trigger()
    first = current(page)
    qtbot.keyClick(page.view, Qt.Key.Key_C)
    assert current(page) == first
    qtbot.keyClick(page.view, Qt.Key.Key_Down)
    second = current(page)
    qtbot.keyClick(page.view, Qt.Key.Key_J)
    qtbot.keyClick(page.view, Qt.Key.Key_K)
    assert current(page) == second
    qtbot.keyClick(page.view, Qt.Key.Key_Up)
    assert current(page) == first
    assert page.context.settings.get("bugs/advance", True) is False


def test_many_bugs_are_decided_at_once_and_noted(qtbot: QtBot, page: BugsPage) -> None:
    model = page.view.selectionModel()
    flags = QItemSelectionModel.SelectionFlag
    for row in range(1, 6):
        model.select(page.table.index(row, 0), flags.Select | flags.Rows)
    bugs = [row.id for row in page.selected()]
    assert len(bugs) == 6
    assert page.count.text().endswith(", 6 selected")
    qtbot.keyClick(page.view, Qt.Key.Key_I)
    assert {statuses(page)[bug] for bug in bugs} == {"ignored"}
    qtbot.keyClick(page.view, Qt.Key.Key_N)
    note = page.detail.header.note
    assert note.isVisible()
    qtbot.keyClicks(note, "c is a letter here")
    qtbot.keyClick(note, Qt.Key.Key_Return)
    notes = {row.id: row.note for row in page.context.document.store.bugs()}
    assert {notes[bug] for bug in bugs} == {"c is a letter here"}
    assert page.view.hasFocus()
    stack = page.context.document.undo_stack
    stack.undo()
    assert page.context.document.store.bug(bugs[0]).row.note == ""
    stack.undo()
    assert {statuses(page)[bug] for bug in bugs} == {"new"}


def test_escape_leaves_a_note_as_it_was(qtbot: QtBot, page: BugsPage) -> None:
    bug = current(page)
    qtbot.keyClick(page.view, Qt.Key.Key_N)
    qtbot.keyClicks(page.detail.header.note, "nonsense")
    qtbot.keyClick(page.detail.header.note, Qt.Key.Key_Escape)
    assert page.context.document.store.bug(bug).row.note == ""
    assert page.context.document.undo_stack.count() == 0
