"""The bug browser used as a person does: by keyboard, with real bugs and real background work."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs
from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt, QTimer, QUrl
from PySide6.QtGui import QGuiApplication, QTextDocumentFragment
from PySide6.QtWidgets import QCompleter, QInputDialog, QMenu, QPushButton, QSplitter, QWidget
from pytestqt.qtbot import QtBot
from reference.bug_workspace import what_is_known
from reference.forging import forge
from reference.hostile_workspaces import altered
from reference.screens import PATIENCE, answered

from app.models.bug_table import Group, GroupBy
from app.models.plan_table import (
    EndLine,
    FoldLine,
    NoteLine,
    PartLine,
    PlanColumn,
    PlanComparison,
    StepLine,
)
from app.models.step_cursor import Side, StepCursor
from app.services.theme import Theme
from app.shell.shortcuts import group_of_page
from app.views.bugs.localize_button import LocalizeButton
from app.views.bugs.page import BugsPage
from app.views.bugs.painting import elided_action
from app.views.bugs.plan_view import PlanView
from app.views.bugs.table_view import BugTableView
from app.widgets.divisions import remember_division
from app.widgets.empty_state import EmptyState
from engine.cli import main
from engine.localize.localizer import Localizer
from engine.records.events import FindingReported
from engine.report.loss_text import describe_losses
from engine.report.trace import Ending
from engine.task.plans import parse_plan
from engine.task.states import StateTable
from engine.usecases.localize import LocalizeOptions
from engine.verify.replay import replay
from engine.workspace.rows import Bug, StateCounts
from engine.workspace.workspace import Workspace

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


def empty_state(page: BugsPage, title: str) -> EmptyState:
    states = page.findChildren(EmptyState)
    return next(state for state in states if state.title.text() == title)


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
    page.filter.findChild(QTimer).timeout.emit()
    assert page.table.shown_bugs == expected
    qtbot.keyClicks(edit, ">1000 ")
    assert page.count.text() == f"0 of {total}"
    nothing = empty_state(page, "No matching bugs")
    assert nothing.isVisible()
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


def test_new_bugs_arrive_while_one_looks(qtbot: QtBot, page: BugsPage) -> None:
    gap = next(n for n, c in enumerate(page.table.columns) if c.name == "gap")
    page.view.horizontalHeader().sectionClicked.emit(gap)
    show(qtbot, page, 8)
    total = page.table.total
    with Workspace.open(page.context.document.path) as store:
        bug = store.bug(8)
        plan = store.bug(8).finding.evidence.operators
        states = replay(bug.finding.state, plan, store.task(bug.problem_id))
        assert not isinstance(states, str)
        free = states[-1]  # a goal state is never a bug
        finding = structs.replace(bug.finding, state=free)
        event = FindingReported(bug.row.unit, finding, retrospective=False, seconds=9.0)
        store.apply([event])
    page.context.document.notify("bugs")
    qtbot.waitUntil(lambda: page.table.total == total + 1, timeout=PATIENCE)
    assert current(page) == shown(page) == 8


def test_f8_goes_from_difference_to_difference(
    qtbot: QtBot, page: BugsPage, bug_with: Find
) -> None:
    show(qtbot, page, bug_with("goal").row.id)
    plan = page.detail.plan
    comparison = plan.table.comparison
    assert comparison is not None
    starts = [rows.start for rows in comparison.alignment.differences]
    plan.setCurrentIndex(plan.table.index(0, PlanColumn.POLICY_ACTION))
    seen = [plan.row_here()] if plan.row_here() in starts else []
    for _ in range(len(starts)):
        before = plan.row_here()
        qtbot.keyClick(plan, Qt.Key.Key_F8)
        if plan.row_here() != before:
            seen.append(plan.row_here())
    assert seen == starts
    qtbot.keyClick(plan, Qt.Key.Key_F8, Qt.KeyboardModifier.ShiftModifier)
    assert plan.row_here() == (starts[-2] if len(starts) > 1 else starts[-1])


def test_everything_follows_the_step(qtbot: QtBot, page: BugsPage, bug_with: Find) -> None:
    show(qtbot, page, bug_with("loop").row.id)
    detail = page.detail
    slider, cursor = detail.steps.slider, detail.cursor_at
    assert cursor.comparison is not None
    last = len(cursor.comparison.policy.steps)
    detail.tabs.setCurrentWidget(detail.state)
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
    assert "more than it needs to" in page.detail.evidence.text.toPlainText()
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


def test_the_first_bug_explains_itself(qtbot: QtBot, page: BugsPage, bug_with: Find) -> None:
    """One number, one sentence, what the bad step costs, what it should have been."""
    bug = bug_with("goal").row.id
    show(qtbot, page, bug)
    qtbot.mouseClick(page.detail.localize.button, Qt.MouseButton.LeftButton)
    done(qtbot, page, "localize")
    row = page.table.known(bug)
    assert row is not None
    header, plan = page.detail.header, page.detail.plan
    assert header.gap.text() == f"+{row.gap}"
    assert header.title.text() == f"Costs {row.policy_cost}; {row.bound} suffices."
    found = page.context.document.store.localization(bug)
    assert found is not None
    lines = plan.table.lines
    for k in found.bad_steps:
        (place,) = [n for n, line in enumerate(lines) if is_step(line, k)]
        loss = found.steps[k].loss_low
        assert plan.table.index(place, PlanColumn.POLICY_LOSS).data() == f"+{loss}"
        note = lines[place + 1]
        assert isinstance(note, NoteLine)
        assert note.better == plan.table.comparison.better_actions[k]
    assert sum(found.steps[k].loss_low for k in found.bad_steps) == row.gap
    assert any(isinstance(line, PartLine) for line in lines)
    assert not plan.isColumnHidden(PlanColumn.POLICY_LOSS)


def test_a_bug_of_another_problem_follows(qtbot: QtBot, page: BugsPage) -> None:
    """Its states are not drawn as states of the task before."""
    rows = page.context.document.store.bugs()
    problems = sorted({row.problem for row in rows})
    assert len(problems) > 1
    page.detail.tabs.setCurrentWidget(page.detail.picture)
    for problem in (*problems, *problems):
        show(qtbot, page, next(row.id for row in rows if row.problem == problem))
        assert page.detail.picture.canvas.picture is not None


def test_long_actions_keep_what_tells_them_apart(qtbot: QtBot, page: BugsPage) -> None:
    metrics = page.view.fontMetrics()
    actions = [f"(switch_on instrument{n} satellite{m})" for n in (4, 5) for m in (2, 3)]
    for part in (1.0, 0.7, 0.55):
        width = int(part * metrics.horizontalAdvance(actions[0]))
        shown = [elided_action(metrics, action, width) for action in actions]
        assert len(set(shown)) == len(actions)
        assert all(metrics.horizontalAdvance(text) <= width for text in shown)


def is_step(line: object, index: int) -> bool:
    return (
        isinstance(line, StepLine)
        and line.aligned.policy is not None
        and line.aligned.policy.index == index
    )


def test_a_bug_that_only_a_link_localizes(qtbot: QtBot, page: BugsPage, bug_with: Find) -> None:
    bug = bug_with("loop").row.id
    show(qtbot, page, bug)
    page.detail.header.sentence.linkActivated.emit("localize")
    done(qtbot, page, "localize")
    sentence = page.detail.header.sentence.text()
    assert "repeat" in sentence
    assert page.detail.header.gap.text() == "∞"


def test_columns_that_say_nothing_hide_themselves(
    qtbot: QtBot, page: BugsPage, bug_with: Find
) -> None:
    columns = {column.name: n for n, column in enumerate(page.table.columns)}
    assert page.view.isColumnHidden(columns["note"])
    assert page.view.isColumnHidden(columns["loss"])
    assert not page.view.isColumnHidden(columns["gap"])
    bug = bug_with("goal").row.id
    show(qtbot, page, bug)
    page.actions_of.write_note()
    page.detail.header.note.setText("look at this")
    qtbot.keyClick(page.detail.header.note, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not page.view.isColumnHidden(columns["note"]), timeout=PATIENCE)
    again = BugTableView(page.context.theme, page.table, lambda _: [])
    qtbot.addWidget(again)
    again.remember(page.context.settings)
    assert not again.isColumnHidden(columns["loss"])  # it is empty, but nobody has hidden it


def test_the_header_and_its_buttons_fit_a_small_window(
    qtbot: QtBot, page: BugsPage, bug_with: Find
) -> None:
    page.resize(1000 - 84, 600)
    show(qtbot, page, bug_with("loop", "dominance").row.id)
    header = page.detail.header
    assert header.plan_button.isVisible()
    for widget in (header.gap, header.title, header.plan_button, header.export_button):
        place = widget.mapTo(page, widget.rect().bottomRight())
        assert page.rect().contains(place)
        assert widget.width() >= widget.sizeHint().width()
    assert header.minimumSizeHint().width() <= page.width()
    assert page.detail.plan.width() >= 0.6 * (page.detail.plan.width() + page.detail.tabs.width())


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
    empty = empty_state(page, "No bugs yet")
    assert empty.isVisible()
    with qtbot.waitSignal(page.page_requested, timeout=PATIENCE) as asked:
        qtbot.mouseClick(empty.button, Qt.MouseButton.LeftButton)
    assert asked.args == ["campaign", None]


def test_without_bugs_it_says_what_was_tested(
    qtbot: QtBot, make_page: Callable[[Path], BugsPage], tmp_path: Path
) -> None:
    Workspace.create(tmp_path / "empty.plumb").close()
    page = make_page(tmp_path / "empty.plumb")
    empty = empty_state(page, "No bugs yet")
    page._show_tested(StateCounts(132, 120))
    assert empty.title.text() == "No bugs found"
    text = empty.text.text()
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
    # The user who runs the tests may be root, who can write to any file.
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    page = make_page(workspace)
    bug = current(page)
    page.view.setFocus()
    qtbot.keyClick(page.view, Qt.Key.Key_C)
    assert statuses(page)[bug] == "new"
    assert "Cannot save the triage" in page.context.messages.history[-1].text
    assert not page.context.document.undo_stack.canUndo()


def test_the_division_of_the_screen_is_remembered(qtbot: QtBot, page: BugsPage) -> None:
    page.splitter.setSizes([400, 300])
    page.splitter.splitterMoved.emit(400, 1)
    assert page.context.settings.get("divided/bugs-splitter", [])[0] == page.splitter.sizes()[0]
    again = QSplitter(Qt.Orientation.Vertical)
    qtbot.addWidget(again)
    again.resize(500, 700)
    for _ in range(2):
        again.addWidget(QWidget())
    remember_division(again, "bugs-splitter", page.context.settings)
    upper, lower = again.sizes()
    assert upper > lower  # as the user left it, not in halves


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
