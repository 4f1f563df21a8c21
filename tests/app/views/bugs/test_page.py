"""The bug browser used as a person does, with real bugs: table, plans, steps, menus, themes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QSplitter, QWidget
from pytestqt.qtbot import QtBot
from reference.bug_screen import current, done, empty_state, show, shown, statuses
from reference.campaign_screen import prepared, small
from reference.forging import forge
from reference.screens import PATIENCE, answered

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
from app.views.bugs.page import BugsPage
from app.views.bugs.painting import elided_action
from app.views.bugs.plan_view import PlanView
from app.views.bugs.table_view import BugTableView
from app.widgets.layouts import remember_division
from engine.records.events import FindingReported
from engine.task.plans import parse_plan
from engine.usecases.campaign import run
from engine.verify.replay import replay
from engine.workspace.rows import Bug
from engine.workspace.workspace import Workspace

Find = Callable[..., Bug]


def test_menus_fit_the_screen_and_the_sheet_lists_what_is_in_them(page: BugsPage) -> None:
    titles = [action.text() for action in page.view.actions()]
    assert "Confirm" in titles
    assert "Next step" not in titles
    for actions in (page.view.actions(), page.page_actions()):
        assert len(actions) <= 20
    _, lines = group_of_page(page)
    keyed = {action.text().rstrip("…") for action in page.actions() if action.shortcuts()}
    assert {text for text, _ in lines} == keyed


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


def is_step(line: object, index: int) -> bool:
    return (
        isinstance(line, StepLine)
        and line.aligned.policy is not None
        and line.aligned.policy.index == index
    )


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
    assert not again.isColumnHidden(columns["loss"])  # it is empty, but the user has not hidden it


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


def test_without_bugs_it_says_what_was_tested_and_whether_that_is_all(
    qtbot: QtBot, make_page: Callable[[Path], BugsPage], tmp_path: Path
) -> None:
    config = small(prepared(tmp_path / "files"), "builtin:optimal")
    with Workspace.create(tmp_path / "w.plumb") as store:
        run(config, store)
        page = make_page(tmp_path / "w.plumb")
        answered(qtbot, page.context)
        empty = empty_state(page, "No bugs found")
        assert empty.text.text().startswith("12 states tested. The policy is proven optimal in ")
        assert empty.button.text() == "Configure campaign"
        with store.writing():  # another campaign has begun
            qtbot.waitUntil(lambda: empty.title.text() == "No bugs yet", timeout=PATIENCE)
            assert empty.text.text().startswith("12 states tested so far. The policy is proven")
            assert "has not ended" in empty.text.text()
            assert empty.button.text() == empty.button.accessibleName() == "Show campaign"
        qtbot.waitUntil(lambda: empty.title.text() == "No bugs found", timeout=PATIENCE)
        assert empty.button.text() == "Configure campaign"


def test_before_the_first_state_is_tested_it_says_that_a_campaign_runs(
    qtbot: QtBot, make_page: Callable[[Path], BugsPage], tmp_path: Path
) -> None:
    with Workspace.create(tmp_path / "w.plumb") as store, store.writing():
        page = make_page(tmp_path / "w.plumb")
        answered(qtbot, page.context)
        text = empty_state(page, "No bugs yet").text.text()
        assert text == (
            "0 states tested so far. The campaign has not ended yet; the bugs it finds appear here."
        )


def test_both_themes_and_two_sizes(qtbot: QtBot, page: BugsPage) -> None:
    for mode in ("dark", "light"):
        page.context.theme.set_mode(mode)
        for size in ((1180, 760), (1500, 960)):
            page.resize(*size)
            assert not page.grab().isNull()
    page.context.theme.set_point_size(14)
    assert not page.grab().isNull()


def test_a_damaged_bug_is_reported_and_the_others_are_shown(
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


def test_a_click_on_a_title_leaves_columns_where_they_are(qtbot: QtBot, page: BugsPage) -> None:
    """A header that does not know that only rows move counts hidden columns for a moment."""
    header = page.view.horizontalHeader()
    before, seen = header.length(), []
    page.table.layoutChanged.connect(lambda: seen.append(header.length()))
    title = QPoint(header.sectionViewportPosition(7) + 20, header.height() // 2)
    qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=title)
    qtbot.waitUntil(lambda: bool(seen), timeout=PATIENCE)
    assert seen[0] == before  # before the arrow needs room


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
