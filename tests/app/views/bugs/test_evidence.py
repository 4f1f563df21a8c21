"""Localize, verify and find plans in the window, with real background work."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, Qt, QUrl
from PySide6.QtGui import QTextDocumentFragment
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot
from reference.bug_screen import done, show
from reference.bug_workspace import what_is_known
from reference.forging import forge
from reference.hostile_workspaces import altered
from reference.screens import PATIENCE, answered

from app.models.plan_table import NoteLine
from app.models.step_cursor import Side
from app.views.bugs.page import BugsPage
from app.views.bugs.step_bar import LocalizeButton
from engine.cli import main
from engine.localize.localizer import Localizer
from engine.report.loss_text import describe_losses
from engine.report.trace import Ending
from engine.task.states import StateTable
from engine.usecases.better_plan import FoundPlan
from engine.usecases.localize import LocalizeOptions
from engine.workspace.rows import Bug
from engine.workspace.workspace import Workspace

Find = Callable[..., Bug]


def test_localize_from_the_keyboard_and_go_to_the_bad_action(
    qtbot: QtBot, page: BugsPage, bug_with: Find
) -> None:
    bug = bug_with("goal").row.id
    show(qtbot, page, bug)
    assert "not known yet" in page.detail.header.sentence.text()
    page.view.setFocus()
    qtbot.keyClick(page.view, Qt.Key.Key_L)
    assert page.jobs.running("localize")
    assert page.detail.localize.stop_button.isVisible()
    assert not page.detail.localize.button.isVisible()
    done(qtbot, page, "localize")
    found = page.context.document.store.localization(bug)
    assert found is not None
    assert found.cause is not None
    comparison = page.detail.cursor_at.comparison
    assert comparison is not None
    assert comparison.localization == found
    assert page.detail.cursor_at.index == found.worst_step
    assert page.detail.localize.button.isVisible()
    plain = QTextDocumentFragment.fromHtml(page.detail.header.sentence.text()).toPlainText()
    assert plain == describe_losses(found)
    (row,) = page.table.places_of([bug])
    columns = {column.name: n for n, column in enumerate(page.table.columns)}
    assert page.table.index(row, columns["worst"]).data() == f"({found.worst_action})"
    assert page.table.index(row, columns["loss"]).data() == f"+{found.worst_loss[0]}"
    assert not page.view.isColumnHidden(columns["loss"])
    notes = [line for line in page.detail.plan.table.lines if isinstance(line, NoteLine)]
    assert len(notes) == len(found.bad_steps)
    page.detail.cursor_at.move(Side.POLICY, len(comparison.policy.steps))
    qtbot.keyClick(page.view, Qt.Key.Key_B)
    assert page.detail.cursor_at.index == found.worst_step
    assert "more than necessary" in page.detail.evidence.text.toPlainText()
    page.detail.header.sentence.linkActivated.emit("1")
    assert page.detail.cursor_at.index == 0


def test_localize_with_other_means(qtbot: QtBot, page: BugsPage, bug_with: Find) -> None:
    bug = bug_with("loop").row.id
    show(qtbot, page, bug)
    localize = page.detail.localize
    for group, value in ((localize.algorithm, "aoca"), (localize.heuristic, "hmax")):
        next(action for action in group.actions() if action.data() == value).trigger()
    assert localize.options == LocalizeOptions("aoca", "hmax")
    qtbot.mouseClick(localize.button, Qt.MouseButton.LeftButton)
    done(qtbot, page, "localize")
    assert page.context.document.store.localization(bug) is not None
    another = LocalizeButton(page.context.theme)
    qtbot.addWidget(another)
    another.remember(page.context.settings)
    assert another.options == localize.options


def test_a_bug_that_only_a_link_localizes(qtbot: QtBot, page: BugsPage, bug_with: Find) -> None:
    bug = bug_with("loop").row.id
    show(qtbot, page, bug)
    page.detail.header.sentence.linkActivated.emit("localize")
    done(qtbot, page, "localize")
    sentence = page.detail.header.sentence.text()
    assert "repeat" in sentence
    assert page.detail.header.gap.text() == "∞"


def test_verify_says_that_the_proof_holds(qtbot: QtBot, page: BugsPage, bug_with: Find) -> None:
    show(qtbot, page, bug_with("loop", "dominance").row.id)
    evidence = page.detail.evidence
    page.detail.tabs.setCurrentWidget(evidence)
    qtbot.mouseClick(evidence.verify_button, Qt.MouseButton.LeftButton)
    done(qtbot, page, "verify")
    assert evidence.verdict.text().startswith("Verified")
    assert "All claims about this bug hold" in evidence.verdict.text()
    page.view.setFocus()
    qtbot.keyClick(page.view, Qt.Key.Key_N)
    qtbot.keyClicks(page.detail.header.note, "seen")
    qtbot.keyClick(page.detail.header.note, Qt.Key.Key_Return)
    answered(qtbot, page.context)
    assert evidence.verdict.text().startswith("Verified")
    qtbot.keyClick(page.view, Qt.Key.Key_L)
    done(qtbot, page, "localize")
    assert evidence.verdict.text() == "", "what is new was not verified"


def test_verify_says_what_does_not_hold(
    qtbot: QtBot, make_page: Callable[[Path], BugsPage], workspace: Path
) -> None:
    with Workspace.open(workspace) as store:
        bug = next(row.id for row in store.bugs() if row.evidence_kind == "plan")
    forge(workspace, "UPDATE findings SET bound = bound - 1 WHERE id = ?", (bug,))
    page = make_page(workspace)
    show(qtbot, page, bug)
    page.view.setFocus()
    qtbot.keyClick(page.view, Qt.Key.Key_V)
    done(qtbot, page, "verify")
    assert page.detail.evidence.verdict.text().startswith("Verification failed")
    assert page.context.messages.history[-1].level == "error"


def test_the_whole_workspace_is_verified(
    qtbot: QtBot, make_page: Callable[[Path], BugsPage], sound: Path, tmp_path: Path
) -> None:
    """The window says what the command says: how many claims of each kind, what is not checked."""
    statement = "UPDATE units SET seed = seed + 1 WHERE id = 1"
    page = make_page(altered(sound, tmp_path / "forged.plumb", statement))
    page.actions_of.by_name["verify-all"].trigger()
    done(qtbot, page, "verify")
    message = page.context.messages.history[-1]
    assert message.level == "error"
    assert "its units do not combine every problem, policy and seed" in message.details
    assert "statistics: " in message.details
    assert "not checked: times" in message.details


def test_a_plan_is_found_where_only_a_bound_was_known(
    qtbot: QtBot, page: BugsPage, bug_with: Find
) -> None:
    bug = bug_with("loop", "dominance").row
    show(qtbot, page, bug.id)
    button = page.detail.header.findChild(QPushButton, "bug-find-plan")
    assert button.isVisible()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    done(qtbot, page, "plan")
    found = page.context.document.store.bug(bug.id)
    assert found.finding.evidence.is_plan
    assert found.row.bound <= bug.bound
    assert page.detail.known is not None
    assert page.detail.known.bug.finding.evidence.is_plan
    assert not button.isVisible()
    messages = page.context.messages
    assert messages.history[-1].text == f"Found a plan of cost {found.row.bound} for bug {bug.id}"
    assert not page.detail.evidence.isVisible()
    qtbot.keyClick(page.view, Qt.Key.Key_V)
    done(qtbot, page, "verify")
    assert page.detail.evidence.verdict.text().startswith("Verified")
    assert messages.history[-1].text.startswith(f"Bug {bug.id}: Verified")


def test_states_of_a_proof_are_shown(qtbot: QtBot, page: BugsPage, bug_with: Find) -> None:
    bug = bug_with("loop", "dominance")
    show(qtbot, page, bug.row.id)
    page.detail.tabs.setCurrentWidget(page.detail.evidence)
    text = page.detail.evidence.text
    assert 'href="state-1"' in text.toHtml()
    text.anchorClicked.emit(QUrl("state-1"))
    assert page.detail.tabs.currentWidget() is page.detail.state
    assert page.detail.state.title.text().startswith("State 1 of the evidence")
    page.detail.plan.setCurrentIndex(QModelIndex())
    page.detail.cursor_at.move(Side.POLICY, 0)
    assert "policy" in page.detail.state.title.text()


def test_localizing_turns_a_bound_into_a_plan(qtbot: QtBot, page: BugsPage, bug_with: Find) -> None:
    bug = bug_with("loop", "dominance")
    show(qtbot, page, bug.row.id)
    page.view.setFocus()
    qtbot.keyClick(page.view, Qt.Key.Key_L)
    done(qtbot, page, "localize")
    assert page.context.document.store.bug(bug.row.id).finding.evidence.is_plan
    comparison = page.detail.cursor_at.comparison
    assert comparison is not None
    assert comparison.better is not None
    assert comparison.better.ending is Ending.GOAL


@pytest.mark.processes
def test_the_window_and_the_command_line_store_the_same(
    qtbot: QtBot, page: BugsPage, bug_workspace: Path, tmp_path: Path, bug_with: Find
) -> None:
    """Also when the user stops, whatever is under way in that moment."""
    before = what_is_known(bug_workspace)
    bugs = [bug_with("loop", "dominance").row.id, bug_with("goal").row.id, *list(before)[:20]]
    terminal = shutil.copy(bug_workspace, tmp_path / "terminal.plumb")
    words = [word for bug in bugs[:2] for word in ("--bug", str(bug))]
    assert main(["localize", str(terminal), *words]) == 0
    page.jobs.localize(bugs[:2])
    done(qtbot, page, "localize")
    path = page.context.document.path
    between = what_is_known(path)
    assert between == what_is_known(terminal) != before
    assert main(["localize", str(terminal), *(f"--bug={bug}" for bug in bugs[2:])]) == 0
    with qtbot.waitSignal(page.jobs.localized, timeout=PATIENCE):
        page.jobs.localize(bugs[2:])
    page.jobs.stop("localize")
    done(qtbot, page, "localize")
    whole = what_is_known(terminal)
    for bug, known in what_is_known(path).items():
        assert known in (between[bug], whole[bug])


def test_a_plan_that_a_campaign_came_across_is_shown(
    qtbot: QtBot, make_page: Callable[[Path], BugsPage], workspace: Path, bug_with: Find
) -> None:
    bug = bug_with("loop", "dominance")
    with Workspace.open(workspace) as store:
        table = StateTable(store.task(bug.problem_id))
        store.save_localization(bug.row.id, Localizer(table).localize_finding(bug.finding))
    page = make_page(workspace)
    show(qtbot, page, bug.row.id)
    comparison = page.detail.cursor_at.comparison
    assert comparison is not None
    assert comparison.better is not None
    assert comparison.better.ending is Ending.GOAL
    assert comparison.better.cost <= bug.row.bound
    assert not page.detail.header.plan_button.isVisible()


def test_a_plan_that_proves_less_does_not_hide_the_evidence(
    qtbot: QtBot, page: BugsPage, bug_with: Find
) -> None:
    bug = bug_with("goal")
    assert bug.finding.evidence.is_plan
    show(qtbot, page, bug.row.id)
    worse = FoundPlan(bug.row.id, bug.finding.run.operators, bug.row.policy_cost)
    page.jobs.plan_found.emit(worse)  # such as LAMA finds in a large task
    answered(qtbot, page.context)
    comparison = page.detail.cursor_at.comparison
    assert comparison is not None
    assert comparison.better is not None
    assert comparison.better.cost == bug.row.bound
