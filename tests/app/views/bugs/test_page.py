"""The bug browser used as a person does: by keyboard, with real bugs and real background work."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs
from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt, QUrl
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QInputDialog, QMenu, QPushButton
from pytestqt.qtbot import QtBot
from reference.bug_workspace import what_is_known
from reference.forging import forge
from reference.hostile_workspaces import altered
from reference.screens import answered

from app.models.bug_table import Group, GroupBy
from app.models.plan_table import EndLine, FoldLine, NoteLine, PlanColumn, PlanComparison, StepLine
from app.models.step_cursor import Side, StepCursor
from app.services.theme import Theme
from app.shell.shortcuts import group_of_page
from app.views.bugs.page import BugsPage
from app.views.bugs.plan_view import PlanView
from engine.cli import main
from engine.localize.localizer import Localizer
from engine.records.events import FindingReported
from engine.report.trace import Ending
from engine.task.plans import parse_plan
from engine.task.states import StateTable
from engine.workspace.rows import Bug, StateCounts
from engine.workspace.workspace import Workspace

PATIENCE = 300_000
Find = Callable[..., Bug]


def current(page: BugsPage) -> int:
    row = page.view.current_bug()
    assert row is not None
    return row.id


def show(qtbot: QtBot, page: BugsPage, bug: int) -> None:
    page.show_item(bug)
    qtbot.waitUntil(lambda: shown(page) == bug, timeout=PATIENCE)


def shown(page: BugsPage) -> int | None:
    return page.detail.known.bug.row.id if page.detail.known else None


def done(qtbot: QtBot, page: BugsPage, kind: str) -> None:
    """The work has ended, and what came of it is shown."""
    qtbot.waitUntil(lambda: not page.jobs.running(kind), timeout=PATIENCE)
    answered(qtbot, page.context)


def statuses(page: BugsPage) -> dict[int, str]:
    return {row.id: row.status for row in page.context.document.store.bugs()}


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


def test_menus_fit_the_screen_and_the_sheet_lists_what_is_in_them(page: BugsPage) -> None:
    titles = [action.text() for action in page.view.actions()]
    assert "Confirm" in titles
    assert "Next step" not in titles
    for actions in (page.view.actions(), page.page_actions()):
        assert len(actions) <= 20
    _, lines = group_of_page(page)
    keyed = {action.text().rstrip("…") for action in page.actions() if action.shortcuts()}
    assert {text for text, _ in lines} == keyed


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
    page.filter._apply()
    assert page.table.shown_bugs == expected
    qtbot.keyClicks(edit, ">1000 ")
    assert page.count.text() == f"0 of {total}"
    assert page._nothing.isVisible()
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
    page._clear_filter()
    assert page.count.text() == f"{total} of {total}"


def test_pasted_filters_and_completion(qtbot: QtBot, page: BugsPage) -> None:
    page.filter.focus()
    page.filter.edit.setText("status:new gap>2 ")
    page.filter._on_edited()
    assert page.filter.text == "status:new gap>2"
    qtbot.keyClicks(page.filter.edit, "oracle:")
    assert "oracle:bmo" in page.filter._names.stringList()
    page.filter._complete("oracle:bmo")
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


def test_new_bugs_arrive_while_one_looks(qtbot: QtBot, page: BugsPage) -> None:
    page.view._sort_by_click(next(n for n, c in enumerate(page.table.columns) if c.name == "gap"))
    show(qtbot, page, 8)
    total = page.table.total
    with Workspace.open(page.context.document.path) as store:
        bug = store.bug(8)
        known = {
            store.bug(row.id).finding.state for row in store.bugs() if row.unit == bug.row.unit
        }
        free = next(row.state for row in store.pool(bug.row.unit) if row.state not in known)
        finding = structs.replace(bug.finding, state=free)
        event = FindingReported(bug.row.unit, finding, retrospective=False, seconds=9.0)
        store.apply([event])
    page.context.document.notify("bugs")
    qtbot.waitUntil(lambda: page.table.total == total + 1, timeout=PATIENCE)
    assert current(page) == 8
    assert shown(page) == 8


def test_f8_goes_from_difference_to_difference(
    qtbot: QtBot, page: BugsPage, bug_with: Find
) -> None:
    show(qtbot, page, bug_with("goal").row.id)
    plan = page.detail.plan
    comparison = plan.table.comparison
    assert comparison is not None
    starts = [rows.start for rows in comparison.alignment.differences]
    plan.setCurrentIndex(plan.table.index(0, PlanColumn.POLICY_ACTION))
    seen = [plan._row_here()] if plan._row_here() in starts else []
    for _ in range(len(starts)):
        before = plan._row_here()
        qtbot.keyClick(plan, Qt.Key.Key_F8)
        if plan._row_here() != before:
            seen.append(plan._row_here())
    assert seen == starts
    qtbot.keyClick(plan, Qt.Key.Key_F8, Qt.KeyboardModifier.ShiftModifier)
    assert plan._row_here() == (starts[-2] if len(starts) > 1 else starts[-1])


def test_everything_follows_the_step(qtbot: QtBot, page: BugsPage, bug_with: Find) -> None:
    show(qtbot, page, bug_with("loop").row.id)
    detail = page.detail
    slider, cursor = detail.steps.slider, detail.cursor_at
    assert cursor.comparison is not None
    last = len(cursor.comparison.policy.steps)
    slider.setValue(last)
    assert (cursor.side, cursor.index) == (Side.POLICY, last)
    assert detail.state.title.text() == "At the end of the policy"
    line = detail.plan.table.lines[detail.plan.currentIndex().row()]
    assert isinstance(line, EndLine)
    for index in range(detail.tabs.count()):
        detail.tabs.setCurrentIndex(index)
        slider.setValue(0)
        slider.setValue(min(1, last))
        assert not detail.grab().isNull()
    plan = detail.plan
    row = next(
        n
        for n, item in enumerate(plan.table.lines)
        if isinstance(item, StepLine) and item.aligned.better is not None
    )
    plan.setCurrentIndex(plan.table.index(row, PlanColumn.BETTER_ACTION))
    assert cursor.side is Side.BETTER
    assert "better plan" in detail.steps.label.text()
    qtbot.keyClick(plan, Qt.Key.Key_Home)
    qtbot.keyClick(plan, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text()


def test_localize_from_the_keyboard_and_go_to_the_bad_action(
    qtbot: QtBot, page: BugsPage, bug_with: Find
) -> None:
    bug = bug_with("goal").row.id
    show(qtbot, page, bug)
    assert page.detail.header.localize_button.isVisible()
    page.view.setFocus()
    qtbot.keyClick(page.view, Qt.Key.Key_L)
    assert page.jobs.running("localize")
    assert page.detail.localization.stop_button.isVisibleTo(page.detail.localization)
    done(qtbot, page, "localize")
    found = page.context.document.store.localization(bug)
    assert found is not None
    assert found.cause is not None
    comparison = page.detail.cursor_at.comparison
    assert comparison is not None
    assert comparison.localization == found
    assert page.detail.cursor_at.index == found.cause.index
    assert not page.detail.header.localize_button.isVisible()
    cause = page.detail.header.cause.text()
    assert f"step {found.cause.index + 1}" in cause
    assert found.cause.action in cause
    assert ("root cause: " in cause) == (len(found.bad_steps) > 1)
    (row,) = page.table.places_of([bug])
    column = next(n for n, c in enumerate(page.table.columns) if c.name == "action")
    assert page.table.index(row, column).data() == f"({found.cause.action})"
    notes = [line for line in page.detail.plan.table.lines if isinstance(line, NoteLine)]
    assert len(notes) == len(found.bad_steps)
    page.detail.cursor_at.move(Side.POLICY, len(comparison.policy.steps))
    qtbot.keyClick(page.view, Qt.Key.Key_B)
    assert page.detail.cursor_at.index == found.cause.index
    view = page.detail.localization
    page.detail.tabs.setCurrentWidget(view)
    assert view.steps.rowCount() == len(found.steps)
    assert "more than necessary" in view.why.text()
    view.table.setFocus()
    view.table.select_row(0)
    assert page.detail.cursor_at.index == 0


def test_localize_with_other_means(qtbot: QtBot, page: BugsPage, bug_with: Find) -> None:
    bug = bug_with("loop").row.id
    show(qtbot, page, bug)
    view = page.detail.localization
    page.detail.tabs.setCurrentWidget(view)
    view.algorithm.setCurrentIndex(view.algorithm.findData("aoca"))
    view.heuristic.setCurrentIndex(view.heuristic.findData("hmax"))
    qtbot.mouseClick(view.run_button, Qt.MouseButton.LeftButton)
    done(qtbot, page, "localize")
    assert page.context.document.store.localization(bug) is not None
    assert view.run_button.toolTip() == "Localize again with these settings"


def test_verify_says_that_the_proof_holds(qtbot: QtBot, page: BugsPage, bug_with: Find) -> None:
    show(qtbot, page, bug_with("loop", "dominance").row.id)
    evidence = page.detail.evidence
    page.detail.tabs.setCurrentWidget(evidence)
    qtbot.mouseClick(evidence.verify_button, Qt.MouseButton.LeftButton)
    done(qtbot, page, "verify")
    assert evidence.verdict.text().startswith("Verified")
    assert "all claims about this bug hold" in evidence.verdict.text()


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
    assert "its units are not its problems, policies and seeds" in message.details
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


def test_folds_open_by_keyboard_and_mouse(
    qtbot: QtBot, theme: Theme, long_plans: PlanComparison
) -> None:
    cursor = StepCursor()
    plan = PlanView(theme, cursor)
    qtbot.addWidget(plan)
    plan.resize(700, 400)
    plan.show()
    cursor.show_comparison(long_plans)
    assert isinstance(plan.table.lines[0], FoldLine)
    count = len(plan.table.lines)
    plan.setFocus()
    plan.setCurrentIndex(plan.table.index(0, 0))
    qtbot.keyClick(plan, Qt.Key.Key_Return)
    assert len(plan.table.lines) == count + 87
    fold = next(n for n, line in enumerate(plan.table.lines) if isinstance(line, FoldLine))
    index = plan.table.index(fold, 0)
    plan.scrollTo(index)
    place = plan.visualRect(index).center()
    qtbot.mouseClick(plan.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert not any(isinstance(line, FoldLine) for line in plan.table.lines)
    assert not plan.grab().isNull()


def test_without_bugs_the_next_step_is_a_campaign(
    qtbot: QtBot, make_page: Callable[[Path], BugsPage], tmp_path: Path
) -> None:
    Workspace.create(tmp_path / "empty.plumb").close()
    page = make_page(tmp_path / "empty.plumb")
    assert page._empty.isVisible()
    with qtbot.waitSignal(page.page_requested, timeout=PATIENCE) as asked:
        qtbot.mouseClick(page._empty.button, Qt.MouseButton.LeftButton)
    assert asked.args == ["campaign", None]


def test_without_bugs_it_says_what_was_tested(
    qtbot: QtBot, make_page: Callable[[Path], BugsPage], tmp_path: Path
) -> None:
    Workspace.create(tmp_path / "empty.plumb").close()
    page = make_page(tmp_path / "empty.plumb")
    assert page._empty.title.text() == "No bugs yet"
    page._show_tested(StateCounts(132, 120))
    assert page._empty.title.text() == "No bugs found"
    text = page._empty.text.text()
    assert text.startswith("132 states tested. The policy is proven optimal in 120; in 12, no")


def test_both_themes_and_two_sizes(qtbot: QtBot, page: BugsPage) -> None:
    for mode in ("dark", "light"):
        page.context.theme.set_mode(mode)
        for size in ((1180, 760), (1500, 960)):
            page.resize(*size)
            assert not page.grab().isNull()
    page.context.theme.set_point_size(14)
    assert not page.grab().isNull()


def test_a_damaged_bug_is_told_and_the_others_are_shown(
    qtbot: QtBot, make_page: Callable[[Path], BugsPage], workspace: Path
) -> None:
    forge(workspace, "UPDATE evidence SET document = 'nonsense' WHERE finding = 1")
    page = make_page(workspace)
    qtbot.waitUntil(lambda: bool(page.context.messages.history), timeout=PATIENCE)
    assert "damaged" in page.context.messages.history[-1].text
    show(qtbot, page, 2)


def test_a_workspace_that_may_only_be_read(
    qtbot: QtBot,
    make_page: Callable[[Path], BugsPage],
    workspace: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Whoever runs the tests may be allowed everything, whatever the file says.
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    page = make_page(workspace)
    bug = current(page)
    page.view.setFocus()
    qtbot.keyClick(page.view, Qt.Key.Key_C)
    assert statuses(page)[bug] == "new"
    assert "Cannot save the triage" in page.context.messages.history[-1].text
    assert not page.context.document.undo_stack.canUndo()


def test_the_division_of_the_screen_is_remembered(page: BugsPage) -> None:
    page.splitter.setSizes([400, 300])
    page.splitter.splitterMoved.emit(400, 1)
    assert page.context.settings.get("bugs/bugs-splitter", [])[0] == page.splitter.sizes()[0]


def test_plans_are_copied_as_plan_files(qtbot: QtBot, page: BugsPage, bug_with: Find) -> None:
    bug = bug_with("goal")
    show(qtbot, page, bug.row.id)
    page.actions_of.by_name["copy-better-plan"].trigger()
    better = parse_plan(QGuiApplication.clipboard().text())
    page.actions_of.by_name["copy-policy-plan"].trigger()
    policy = parse_plan(QGuiApplication.clipboard().text())
    assert (better.stated_cost, policy.stated_cost) == (bug.row.bound, bug.row.policy_cost)
    assert len(policy.steps) == len(bug.finding.run.operators)


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


def test_sorting_columns_and_tabs_by_keyboard(qtbot: QtBot, page: BugsPage) -> None:
    names = [column.name for column in page.table.columns]
    page.view.setCurrentIndex(page.table.index(0, names.index("bound")))
    qtbot.keyClick(page.view, Qt.Key.Key_S)
    bounds = [page.table.line(row).bound for row in range(page.table.rowCount())]
    assert bounds == sorted(bounds)
    qtbot.keyClick(page.view, Qt.Key.Key_S)
    assert page.table.line(0).bound == max(bounds)
    page.actions_of.by_name["columns"].trigger()
    menu = page.view.findChild(QMenu)
    assert menu is not None
    assert "Root cause" in [action.text() for action in menu.actions()]
    menu.close()
    for number in range(page.detail.tabs.count()):
        qtbot.keyClick(page.view, Qt.Key(Qt.Key.Key_1 + number), Qt.KeyboardModifier.AltModifier)
        assert page.detail.tabs.currentIndex() == number
    before = page.detail.cursor_at.index
    qtbot.keyClick(page.view, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert page.detail.cursor_at.index == max(0, before - 1)
