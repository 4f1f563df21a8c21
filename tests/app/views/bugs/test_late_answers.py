"""Answers of the disk that come late: after a decision, after a stop, after another question."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from reference.listed_bugs import store_bugs
from reference.screens import PATIENCE, answered

from app.models import bug_table
from app.models.bug_table import BugTable, GroupBy
from app.services.context import Context
from app.views.bugs import feed
from app.views.bugs.feed import BugFeed
from app.views.bugs.page import BugsPage
from engine.errors import WorkspaceError
from engine.records.finding import BugKind, BugStatus
from engine.workspace import bug_columns
from engine.workspace.bug_list import NO_BUGS
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import BugRow
from engine.workspace.workspace import Workspace


def test_a_decision_is_not_undone_by_what_was_read_before(
    qtbot: QtBot, page: BugsPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = page.context.document.reader._store
    rows_of, is_read, may_come = reading.bug_rows, threading.Event(), threading.Event()

    def late(*words: Any, **options: Any) -> Any:
        rows = rows_of(*words, **options)
        is_read.set()
        assert may_come.wait(PATIENCE / 1000)
        return rows

    answered(qtbot, page.context)
    page.feed.stop()
    monkeypatch.setattr(reading, "bug_rows", late)
    page.feed.refresh()
    assert is_read.wait(PATIENCE / 1000)
    (row,) = page.selected()
    QTest.keyClick(page.view, Qt.Key.Key_C)
    may_come.set()
    answered(qtbot, page.context)
    known = page.table.known(row.id)
    assert known is not None
    assert known.status == "confirmed"


def test_a_note_keeps_what_others_decided(qtbot: QtBot, page: BugsPage) -> None:
    """The table may be a moment behind the workspace."""
    (row,) = page.selected()
    store = page.context.document.store
    page.actions_of.write_note()
    store.set_status([row.id], BugStatus.IGNORED, "", None)
    page.actions_of.keep_note("seen before")
    (kept,) = store.bug_rows([row.id])
    assert (kept.status, kept.note) == ("ignored", "seen before")
    page.context.document.undo_stack.undo()
    (kept,) = store.bug_rows([row.id])
    assert (kept.status, kept.note) == ("ignored", "")


def test_a_reading_that_was_given_up_cannot_fail_the_next(
    qtbot: QtBot,
    make_context: Callable[..., Context],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    context = make_context(tmp_path / "w.plumb")
    table = BugTable(context.theme, context.document.store.bug_rows)
    brings = BugFeed(context.document, table)
    reading = context.document.reader._store
    listing, asked = reading.bug_list, []

    def fails_once(query: Any) -> Any:
        asked.append(query)
        if len(asked) == 1:
            raise WorkspaceError("locked")
        return listing(query)

    monkeypatch.setattr(reading, "bug_list", fails_once)
    brings.refresh()
    brings.stop()
    brings.refresh()
    answered(qtbot, context)
    assert brings.complete
    assert len(asked) == 2
    brings.stop()
    brings.deleteLater()
    table.deleteLater()


def test_what_others_change_is_seen_in_the_detail(qtbot: QtBot, page: BugsPage) -> None:
    (row,) = page.selected()
    with Workspace.open(page.context.document.path) as other:
        other.set_status([row.id], BugStatus.CONFIRMED, "from elsewhere", None)
    qtbot.waitUntil(lambda: page.detail.header.status.text() == "confirmed", timeout=PATIENCE)
    assert "from elsewhere" in page.detail.header.place.text()


def test_the_next_bug_is_shown_as_a_whole(
    qtbot: QtBot, page: BugsPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never the title of one above the plan of another; what takes long leaves nothing old."""
    detail, reading = page.detail, page.context.document.reader._store
    bug, may_come = reading.bug, threading.Event()

    def late(number: int) -> Any:
        assert may_come.wait(PATIENCE / 1000)
        return bug(number)

    answered(qtbot, page.context)
    monkeypatch.setattr(reading, "bug", late)
    first = detail.header.title.text()
    detail.tabs.setCurrentWidget(detail.picture)
    QTest.keyClick(page.view, Qt.Key.Key_J)
    assert detail.known is None  # nothing that is done now is done to the wrong one
    assert detail.header.title.text() == first
    assert detail.cursor_at.comparison is not None
    qtbot.waitUntil(lambda: detail.cursor_at.comparison is None, timeout=PATIENCE)
    assert detail.header.title.text() != first
    assert detail.picture.canvas.picture is None
    assert not detail.localize.isEnabled()
    for _ in range(3):
        QTest.keyClick(page.view, Qt.Key.Key_J)
    may_come.set()
    answered(qtbot, page.context)
    assert detail.known is not None
    assert detail.known.bug.row.id == page.selected()[0].id
    assert detail.localize.isEnabled()


def test_a_bug_that_was_asked_for_is_left_for_good(qtbot: QtBot, page: BugsPage) -> None:
    rows = [page.table.bug_at(number) for number in range(3)]
    assert rows[2] is not None
    page.show_item(rows[2].id)
    QTest.keyClick(page.view, Qt.Key.Key_K)
    (row,) = page.selected()
    page.feed.stop()
    with qtbot.waitSignal(page.feed.read, timeout=PATIENCE):
        page.feed.refresh()
    assert page.selected() == [row]


def test_a_table_that_is_still_read_is_not_empty_by_a_filter(
    page: BugsPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page.feed, "complete", False)
    monkeypatch.setattr(page.table, "list", NO_BUGS)
    page.feed.arranged.emit()
    assert page.view.isVisibleTo(page)
    assert page.count.text() == f"{page.table.total}, reading…"


def test_a_long_list_is_made_beside_the_window(
    qtbot: QtBot, page: BugsPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Meanwhile the old one stays; the bug that is looked at stays, too, if it fits."""
    monkeypatch.setattr(feed, "AT_ONCE", 0)
    bugs = page.context.document.store.bugs()
    wanted = [row.id for row in bugs if row.evidence_kind == "plan"]
    page.show_item(wanted[-1])
    page.filter.set_text("evidence:plan")
    assert page.table.shown_bugs == len(bugs)
    answered(qtbot, page.context)
    assert page.table.list.bugs.tolist() == wanted
    assert [row.id for row in page.selected()] == wanted[-1:]
    page.group.setCurrentIndex(page.group.findData(GroupBy.PROBLEM))
    page.filter.set_text("")
    answered(qtbot, page.context)
    assert page.table.shown_bugs == len(bugs) < page.table.rowCount()
    assert [row.id for row in page.selected()] == wanted[-1:]
    assert page.count.text().startswith(f"{len(bugs)} of {len(bugs)}")


def test_what_is_undone_comes_back_into_a_long_list_without_stopping_the_window(
    qtbot: QtBot, page: BugsPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = page.context.document
    answered(qtbot, page.context)
    monkeypatch.setattr(feed, "AT_ONCE", 0)
    asked: list[object] = []
    monkeypatch.setattr(document.store, "bug_list", asked.append)
    (row,) = page.selected()
    QTest.keyClick(page.view, Qt.Key.Key_C)
    page.filter.set_text("status:new")
    answered(qtbot, page.context)
    assert row.id not in page.table.list.bugs
    document.undo_stack.undo()
    answered(qtbot, page.context)
    assert row.id in page.table.list.bugs
    assert [bug.id for bug in page.selected()] == [row.id]
    assert not asked


def test_few_rows_are_kept_and_what_is_painted_is_read_beside_the_window(
    qtbot: QtBot, page: BugsPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bug_table, "KEPT_ROWS", 100)
    monkeypatch.setattr(feed, "PAGE", 1)
    page.feed.arrange_now()
    last = page.table.rowCount() - 1
    reads = []
    read_rows = page.table._read_rows
    monkeypatch.setattr(
        page.table, "_read_rows", lambda bugs: reads.append(bugs) or read_rows(bugs)
    )
    page.view.scrollToBottom()
    page.view.grab()
    assert page.table.peek(last) is None
    assert not reads, "painting waits for no disk"
    answered(qtbot, page.context)
    assert page.table.peek(last) is not None
    for row in range(last):
        assert page.table.line(row) == page.table.known(int(page.table.list.bugs[row]))
    assert len(page.table._kept) <= 100


def test_what_later_lists_need_is_read_ahead_when_nothing_changes(
    qtbot: QtBot,
    make_context: Callable[..., Context],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(feed, "AT_ONCE", 0)
    monkeypatch.setattr(feed, "PAUSE_MILLISECONDS", 1)
    monkeypatch.setattr(bug_columns, "PORTION", 1)
    path = tmp_path / "w.plumb"
    bug = BugRow(
        *(1, 1, 1, BugKind.TOO_EXPENSIVE, "p1", "policy", 0, 20, 10, 10, "bmo", "plan"),
        *(1, None, BugStatus.NEW, "", 0.5, 0, False),
    )
    store_bugs(path, [bug, replace(bug, id=2), replace(bug, id=3)])
    context = make_context(path)
    table = BugTable(context.theme, context.document.store.bug_rows)
    brings = BugFeed(context.document, table)
    answers: list[bool] = []
    read_ahead = WorkspaceReader.read_ahead

    def watched(store: WorkspaceReader) -> bool:
        answers.append(read_ahead(store))
        return answers[-1]

    monkeypatch.setattr(WorkspaceReader, "read_ahead", watched)
    brings.refresh()
    qtbot.waitUntil(lambda: False in answers, timeout=PATIENCE)
    assert answers == [*[True] * 6, False]  # a portion of two tables for each of three bugs
    brings.stop()
