"""Answers of the disk that come late: after a decision, after a stop, after another question."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from reference.screens import PATIENCE, answered

from app.context import Context
from app.models.bug_table import BugTable
from app.views.bugs.feed import BugFeed
from app.views.bugs.page import BugsPage
from engine.errors import WorkspaceError


def test_a_decision_is_not_undone_by_what_was_read_before(
    qtbot: QtBot, page: BugsPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = page.context.document.reader._store
    bugs, is_read, may_come = reading.bugs, threading.Event(), threading.Event()

    def late(*words: Any, **options: Any) -> Any:
        rows = bugs(*words, **options)
        is_read.set()
        assert may_come.wait(PATIENCE / 1000)
        return rows

    answered(qtbot, page.context)
    page.feed.stop()
    page.feed._all_at = 0.0
    monkeypatch.setattr(reading, "bugs", late)
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
    store.set_status([row.id], "ignored", "", None)
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
    table = BugTable(context.theme)
    feed = BugFeed(context.document, table)
    reading = context.document.reader._store
    bugs, asked = reading.bugs, []

    def fails_once(**options: Any) -> Any:
        asked.append(options)
        if len(asked) == 1:
            raise WorkspaceError("locked")
        return bugs(**options)

    monkeypatch.setattr(reading, "bugs", fails_once)
    feed.refresh()
    feed.stop()
    feed.refresh()
    answered(qtbot, context)
    assert feed.complete
    assert len(asked) == 2
    feed.stop()
    feed.deleteLater()
    table.deleteLater()
