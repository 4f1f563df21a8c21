"""Minimize in the window: the job, groups by pattern, the page of a pattern, deletion and undo."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot
from reference.screens import PATIENCE

from app.models.bug_table import Group, GroupBy
from app.views.bugs.page import BugsPage
from app.views.bugs.pattern_view import PatternDialog
from engine.policies.consent import NO_CONSENT
from engine.usecases.localize import localize
from engine.usecases.minimize import minimize
from engine.workers.link import NULL_LINK
from engine.workspace.workspace import Workspace


def first_bug(path: Path, policy: str = "builtin:hadd") -> int:
    with Workspace.open(path) as store:
        return next(row.id for row in store.bugs() if row.policy == policy)


@pytest.fixture
def minimized(workspace: Path) -> tuple[Path, int]:
    """A workspace with one witness, and the bug that it was made from."""
    bug = first_bug(workspace)
    localize(NULL_LINK, workspace, [bug])
    (found,) = minimize(NULL_LINK, workspace, [bug], NO_CONSENT)
    assert found.verified
    return workspace, bug


def test_minimize_gives_a_bug_its_pattern(qtbot: QtBot, page: BugsPage) -> None:
    bug = first_bug(page.context.document.path)
    page.show_item(bug)
    page.detail.header.minimize_button.click()
    assert page.jobs.running("minimize")

    def has_pattern() -> bool:
        row = page.table.known(bug)
        return row is not None and row.pattern is not None and not page.jobs.running("minimize")

    qtbot.waitUntil(has_pattern, timeout=PATIENCE)


def test_a_stop_says_what_is_kept(qtbot: QtBot, page: BugsPage) -> None:
    page.jobs.minimize([first_bug(page.context.document.path)])
    with qtbot.waitSignal(page.context.messages.posted, timeout=PATIENCE) as posted:
        page.jobs.stop("minimize")
    assert posted.args[0].text == "Stopped. What was found for 0 bugs is kept."


def dialog_of(qtbot: QtBot, page: BugsPage) -> PatternDialog:
    page.actions_of.by_name["pattern"].trigger()
    qtbot.waitUntil(lambda: bool(page.findChildren(PatternDialog)), timeout=PATIENCE)
    (dialog,) = page.findChildren(PatternDialog)
    return dialog


def test_patterns_that_are_known_are_the_groups_at_first(
    qtbot: QtBot, make_page: Callable[[Path], BugsPage], minimized: tuple[Path, int]
) -> None:
    path, bug = minimized
    page = make_page(path)
    assert page.table.group_by is GroupBy.PATTERN
    first = page.table.line(0)
    assert isinstance(first, Group)
    qtbot.waitUntil(lambda: " instead of " in page.table.line(0).title, timeout=PATIENCE)
    assert page.table.line(0).title.startswith("Pattern 1  ")
    assert page.view.currentIndex().row() == 1  # the first bug of the first pattern
    page.show_item(bug)
    dialog = dialog_of(qtbot, page)
    assert "instead of" in dialog.title.text()
    assert "Witness: bug" in dialog.facts.text()
    assert "Policy: " in dialog.plans.text()
    assert "Better plan: goal reached" in dialog.plans.text()
    assert f"1. ({dialog.facts.text().partition('(')[2].partition(')')[0]})" in dialog.plans.text()
    dialog.findChild(QPushButton, "pattern-bugs").click()
    assert page.filter.text == "pattern:1"


def test_a_witness_can_be_deleted_and_undone(
    qtbot: QtBot, make_page: Callable[[Path], BugsPage], minimized: tuple[Path, int]
) -> None:
    path, bug = minimized
    page = make_page(path)
    page.show_item(bug)
    dialog_of(qtbot, page).findChild(QPushButton, "pattern-delete").click()
    store, stack = page.context.document.store, page.context.document.undo_stack
    assert store.witnesses() == []
    row = page.table.known(bug)
    assert row is not None
    assert row.pattern is None
    stack.undo()
    assert len(store.witnesses()) == 1
    row = page.table.known(bug)
    assert row is not None
    assert row.pattern == 1
    stack.redo()
    assert store.patterns() == []


def test_a_bug_without_a_pattern_says_how_to_find_it(qtbot: QtBot, page: BugsPage) -> None:
    with qtbot.waitSignal(page.context.messages.posted, timeout=PATIENCE) as posted:
        page.actions_of.by_name["pattern"].trigger()
    assert "minimize it first" in posted.args[0].text


def test_what_became_of_a_bug_stays_in_its_evidence(
    qtbot: QtBot, make_page: Callable[[Path], BugsPage], minimized: tuple[Path, int]
) -> None:
    path, bug = minimized
    page = make_page(path)
    page.show_item(bug)
    evidence = page.detail.evidence.text
    qtbot.waitUntil(lambda: "witness: bug" in evidence.toPlainText(), timeout=PATIENCE)
    dialog_of(qtbot, page).findChild(QPushButton, "pattern-delete").click()
    qtbot.waitUntil(lambda: "witness" not in evidence.toPlainText(), timeout=PATIENCE)


def test_a_bug_that_has_no_witness_says_why(
    qtbot: QtBot, workspace: Path, make_page: Callable[[Path], BugsPage]
) -> None:
    bug = first_bug(workspace, "builtin:random")
    (found,) = minimize(NULL_LINK, workspace, [bug], NO_CONSENT)
    assert found.witness is None
    page = make_page(workspace)
    page.show_item(bug)
    evidence = page.detail.evidence.text
    why = f"No witness: {found.attempt.reason}."
    qtbot.waitUntil(lambda: why in evidence.toPlainText(), timeout=PATIENCE)
    with qtbot.waitSignal(page.context.messages.posted, timeout=PATIENCE) as posted:
        page.actions_of.by_name["pattern"].trigger()
    assert posted.args[0].text == f"Bug {bug}: {why}"
