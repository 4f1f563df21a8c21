"""The plan comparison as a table: folds, notes under bad steps, ends; and the cursor on it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from app.models.plan_table import (
    EndLine,
    FoldLine,
    Mark,
    NoteLine,
    PlanColumn,
    PlanComparison,
    PlanTable,
    StepLine,
)
from app.models.step_cursor import Side, StepCursor, interesting_step
from engine.localize.localizer import Localizer
from engine.records.localization import StepVerdict
from engine.report.trace import evidence_trace, policy_trace
from engine.task.states import StateTable
from engine.workspace.rows import Bug
from engine.workspace.workspace import Workspace

TESTER = QAbstractItemModelTester.FailureReportingMode.Fatal
Find = Callable[..., Bug]


@pytest.fixture
def compare(store: Workspace) -> Callable[[Bug], PlanComparison]:
    """A bug's plans, localized."""

    def make(bug: Bug) -> PlanComparison:
        task = store.task(bug.problem_id)
        found = Localizer(StateTable(task)).localize_finding(bug.finding)
        policy, better = (
            policy_trace(task, bug.finding.state, bug.finding.run),
            evidence_trace(task, bug.finding.evidence),
        )
        return PlanComparison.of(policy, better, found, task)

    return make


@pytest.fixture
def table(qtbot: QtBot) -> PlanTable:
    table = PlanTable()
    table.tester = QAbstractItemModelTester(table, TESTER, table)  # type: ignore[attr-defined]
    return table


def test_long_common_parts_are_folded(table: PlanTable, long_plans: PlanComparison) -> None:
    table.show_comparison(long_plans)
    kinds = [type(line) for line in table.lines]
    assert kinds == [FoldLine, StepLine, StepLine, StepLine, StepLine, StepLine, FoldLine, EndLine]
    assert table.index(0, 0).data() == "88 common steps"
    table.unfold(0)
    assert len(table.lines) == 88 + 7
    assert table.line_of_row(110) == len(table.lines) - 2, "it is in the other fold"
    assert table.show_row(110) == 110
    table.set_folding(False)
    assert len(table.lines) == 112
    table.set_folding(True)
    assert len(table.lines) == 8


def test_equal_plans_are_not_folded_away(table: PlanTable, long_plans: PlanComparison) -> None:
    better = long_plans.better
    assert better is not None
    table.show_comparison(PlanComparison.of(better, better))
    assert len(table.lines) == 111


@pytest.mark.parametrize("reason", ["loop", "no-action", "goal"])
def test_bad_steps_are_marked_with_words(
    table: PlanTable, bug_with: Find, compare: Callable[[Bug], PlanComparison], reason: str
) -> None:
    comparison = compare(bug_with(reason))
    assert comparison.localization is not None
    table.show_comparison(comparison)
    bad = [line for line in table.lines if isinstance(line, StepLine) and line.mark is Mark.BAD]
    notes = [line for line in table.lines if isinstance(line, NoteLine)]
    assert len(bad) == len(notes) == len(comparison.localization.bad_steps)
    assert bad, "each of these bugs has a bad step"
    for step, note in zip(bad, notes, strict=True):
        assert step.verdict is not None
        assert f"{step.verdict.optimal_high} to go" in note.text
        assert note.better.startswith("(")
        place = table.lines.index(step)
        loss = table.index(place, PlanColumn.POLICY_LOSS).data()
        assert loss == ("lost" if step.verdict.loses_goal else f"+{step.verdict.loss_low}")
        assert "should be (" in table.index(place + 1, PlanColumn.POLICY_STEP).data()
        assert table.lines[table.lines.index(step) + 1] is note


def test_how_both_end(
    table: PlanTable, bug_with: Find, compare: Callable[[Bug], PlanComparison]
) -> None:
    for reason, evidence, policy_text, better_text in (
        ("loop", "plan", "loop: back to step", "goal reached"),
        ("loop", "dominance", "forever", "no plan known"),
        ("no-action", "plan", "dead end: no action is applicable", "goal reached"),
        ("goal", "plan", "goal reached", "goal reached"),
    ):
        table.show_comparison(compare(bug_with(reason, evidence)))
        end = table.lines[-1]
        assert isinstance(end, EndLine)
        assert policy_text in end.policy
        assert better_text in end.better
        assert end.policy_ends_well == (reason == "goal")
        assert bool(end.better_cost) == (evidence == "plan")


def test_a_loop_is_marked_from_its_beginning_to_its_end(
    table: PlanTable, bug_with: Find, compare: Callable[[Bug], PlanComparison]
) -> None:
    comparison = compare(bug_with("loop"))
    table.show_comparison(comparison)
    table.set_folding(False)
    steps = [
        line
        for line in table.lines
        if isinstance(line, StepLine) and line.aligned.policy is not None
    ]
    begin = comparison.policy.loop_begin
    assert [line.loop_begins for line in steps].index(True) == begin
    assert [line.loop_ends for line in steps].index(True) == len(steps) - 1
    assert [line.in_loop for line in steps] == [n >= (begin or 0) for n in range(len(steps))]


def test_texts_and_tips(
    table: PlanTable, bug_with: Find, compare: Callable[[Bug], PlanComparison]
) -> None:
    bug = bug_with("goal")
    comparison = compare(bug)
    table.show_comparison(comparison)
    index = comparison.worst_step
    assert index is not None
    rows = comparison.alignment.rows
    line = table.show_row([row.policy and row.policy.index for row in rows].index(index))
    cell = table.index(line, PlanColumn.POLICY_ACTION)
    step = comparison.policy.steps[index]
    assert cell.data() == f"({step.action})"
    assert table.index(line, PlanColumn.POLICY_COST).data() == str(step.cost_after)
    assert "should be" in cell.data(Qt.ItemDataRole.ToolTipRole)
    verdict = comparison.verdict(index)
    assert verdict is not None
    assert verdict.verdict is StepVerdict.NOT_OPTIMAL


def test_the_cursor_begins_where_something_is_wrong(
    bug_with: Find, compare: Callable[[Bug], PlanComparison]
) -> None:
    comparison = compare(bug_with("goal"))
    assert interesting_step(comparison) == comparison.worst_step
    unknown = PlanComparison.of(comparison.policy, comparison.better)
    assert comparison.better is not None
    ours, theirs = comparison.policy.steps, comparison.better.steps
    agreed = [a.operator == b.operator for a, b in zip(ours, theirs, strict=False)]
    assert interesting_step(unknown) == agreed.index(False)
    assert interesting_step(PlanComparison.of(comparison.better, comparison.better)) == 0


def test_what_the_cursor_sees(bug_with: Find, compare: Callable[[Bug], PlanComparison]) -> None:
    comparison = compare(bug_with("loop"))
    cursor = StepCursor()
    cursor.show_comparison(comparison)
    last = len(comparison.policy.steps) - 1
    cursor.move(Side.POLICY, last)
    sight = cursor.sight
    assert sight is not None
    assert sight.after == comparison.policy.states[comparison.policy.loop_begin or 0]
    cursor.move(Side.POLICY, last + 1)
    assert cursor.sight is not None
    assert cursor.sight.step is None
    cursor.look_at("elsewhere", comparison.policy.states[0])
    assert cursor.aside
    cursor.show_comparison(comparison, keep_place=True)
    assert (cursor.side, cursor.index) == (Side.POLICY, last + 1)
    cursor.show_comparison(None)
    assert cursor.sight is None or cursor.aside
