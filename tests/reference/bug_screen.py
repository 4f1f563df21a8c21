"""What tests of the bug browser do alike: show a bug, wait, and read what the screen shows."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from app.views.bugs.page import BugsPage
from app.widgets.empty_state import EmptyState
from reference.screens import PATIENCE, answered


def current(page: BugsPage) -> int:
    row = page.view.current_bug()
    assert row is not None
    return row.id


def shown(page: BugsPage) -> int | None:
    return page.detail.known.bug.row.id if page.detail.known else None


def show(qtbot: QtBot, page: BugsPage, bug: int) -> None:
    page.show_item(bug)
    qtbot.waitUntil(lambda: shown(page) == bug, timeout=PATIENCE)


def empty_state(page: BugsPage, title: str) -> EmptyState:
    states = page.findChildren(EmptyState)
    return next(state for state in states if state.title.text() == title)


def done(qtbot: QtBot, page: BugsPage, kind: str) -> None:
    """The work has ended, and what came of it is shown."""
    qtbot.waitUntil(lambda: not page.jobs.running(kind), timeout=PATIENCE)
    answered(qtbot, page.context)


def statuses(page: BugsPage) -> dict[int, str]:
    return {row.id: row.status for row in page.context.document.store.bugs()}
