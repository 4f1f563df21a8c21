"""Aligned plans keep both orders, put equal steps together, and match as many as can be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.records.finding import EndReason, Run, RunOutcome
from engine.report import plan_alignment
from engine.report.plan_alignment import RowKind, align, align_plans
from engine.report.trace import Ending, Trace, evidence_trace, plan_trace, policy_trace
from engine.task.task import Operator, Task, Variable
from engine.workspace.rows import Bug
from engine.workspace.workspace import Workspace

PLANS = st.lists(st.integers(0, 4), max_size=12)


def most_common(left: Sequence[int], right: Sequence[int]) -> int:
    """The length of a longest common subsequence, by definition."""

    @cache
    def longest(i: int, j: int) -> int:
        if i == len(left) or j == len(right):
            return 0
        together = 1 + longest(i + 1, j + 1) if left[i] == right[j] else 0
        return max(together, longest(i + 1, j), longest(i, j + 1))

    return longest(0, 0)


@given(PLANS, PLANS)
def test_alignment(left: list[int], right: list[int]) -> None:
    rows = align_plans(left, right)
    assert [row.left for row in rows if row.left is not None] == list(range(len(left)))
    assert [row.right for row in rows if row.right is not None] == list(range(len(right)))
    common = [(row.left, row.right) for row in rows if row.is_common]
    assert all(left[i] == right[j] for i, j in common if i is not None and j is not None)
    assert len(common) == most_common(left, right)


def test_the_left_plan_comes_first_where_they_differ() -> None:
    rows = align_plans([1, 2, 3], [1, 4, 3])
    assert [(row.left, row.right) for row in rows] == [(0, 0), (1, None), (None, 1), (2, 2)]


# A dial with six positions, turned up, down or by two: many plans, many common states.
DIAL = Task(
    (Variable("dial", tuple(f"Atom at({n})" for n in range(6))),),
    tuple(
        Operator(f"turn p{n} p{(n + by) % 6}", ((0, n),), ((0, (n + by) % 6),), cost)
        for n in range(6)
        for by, cost in ((1, 1), (2, 3), (5, 1))
    ),
    (0,),
    ((0, 5),),
    has_costs=True,
)


@st.composite
def walks(draw: st.DrawFn) -> Trace:
    place, operators = 0, []
    for turn in draw(st.lists(st.integers(0, 2), max_size=9)):
        operators.append(3 * place + turn)
        place = (place + (1, 2, 5)[turn]) % 6
    return plan_trace(DIAL, (0,), operators)


def longest_common(first: list[object], second: list[object]) -> int:
    """By the definition."""
    if not first or not second:
        return 0
    if first[0] == second[0]:
        return 1 + longest_common(first[1:], second[1:])
    return max(longest_common(first[1:], second), longest_common(first, second[1:]))


@given(walks(), walks())
def test_all_steps_are_there_in_order(policy: Trace, better: Trace) -> None:
    rows = align(policy, better).rows
    assert tuple(row.policy for row in rows if row.policy) == policy.steps
    assert tuple(row.better for row in rows if row.better) == better.steps
    assert rows[-1].kind is RowKind.END
    assert sum(row.kind is RowKind.END for row in rows) == 1


@given(walks(), walks())
def test_common_rows_are_common(policy: Trace, better: Trace) -> None:
    for row in align(policy, better).rows:
        if row.common:
            assert row.policy is not None
            assert row.better is not None
            assert row.policy.operator == row.better.operator
            same = policy.states[row.policy.index] == better.states[row.better.index]
            assert same == (row.kind is RowKind.SAME)


@given(walks(), walks())
def test_as_many_steps_as_possible_are_common(policy: Trace, better: Trace) -> None:
    """An operator of the dial belongs to one state, so this is a common subsequence."""
    common = sum(row.kind is RowKind.SAME for row in align(policy, better).rows)
    first, second = ([step.operator for step in trace.steps] for trace in (policy, better))
    assert common == longest_common(first, second)


@given(walks(), walks())
def test_differences_are_the_rows_that_are_not_common(policy: Trace, better: Trace) -> None:
    alignment = align(policy, better)
    covered = [number for rows in alignment.differences for number in rows]
    expected = [
        number
        for number, row in enumerate(alignment.rows)
        if not row.common and row.kind is not RowKind.END
    ]
    assert covered == expected
    for before, after in zip(alignment.differences, alignment.differences[1:], strict=False):
        assert before.stop < after.start


def test_what_differs_stands_side_by_side() -> None:
    policy = plan_trace(DIAL, (0,), [0, 3, 6])  # 0 -> 1 -> 2 -> 3
    better = plan_trace(DIAL, (0,), [0, 4])  # 0 -> 1 -> 3
    rows = align(policy, better).rows
    assert [(row.kind, row.policy is None, row.better is None) for row in rows[:-1]] == [
        (RowKind.SAME, False, False),
        (RowKind.DIFFERENT, False, False),
        (RowKind.DIFFERENT, False, True),
    ]


@given(walks(), walks())
def test_where_the_plans_part_both_decisions_stand_side_by_side(
    policy: Trace, better: Trace
) -> None:
    alignment = align(policy, better)
    for numbers in alignment.differences:
        rows = [alignment.rows[number] for number in numbers]
        first = rows[0]
        if any(row.policy for row in rows) and any(row.better for row in rows):
            assert first.policy is not None
            assert first.better is not None
            assert policy.states[first.policy.index] == better.states[first.better.index]


def test_long_plans_are_aligned_at_their_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_alignment, "CELLS", 4)
    policy = plan_trace(DIAL, (0,), [0, 3, 6, 9, 12])
    better = plan_trace(DIAL, (0,), [0, 4, 9, 12])
    rows = align(policy, better).rows
    assert [row.kind for row in rows[:2]] == [RowKind.SAME, RowKind.DIFFERENT]
    assert sum(row.common for row in rows) == 1
    assert tuple(row.policy for row in rows if row.policy) == policy.steps


def test_without_a_better_plan_nothing_differs() -> None:
    alignment = align(plan_trace(DIAL, (0,), [0, 3]), None)
    assert len(alignment.rows) == 3
    assert alignment.differences == ()


def test_running_costs_add_up() -> None:
    trace = plan_trace(DIAL, (0,), [1, 6])  # by two for 3, then up for 1
    assert [step.cost_after for step in trace.steps] == [3, 4]
    assert trace.cost == 4
    assert trace.ending is Ending.STEP_LIMIT
    assert plan_trace(DIAL, (0,), [2]).ending is Ending.GOAL


def test_a_loop_comes_back_to_its_beginning(store: Workspace, bug_with: Callable[..., Bug]) -> None:
    bug = bug_with("loop")
    task = store.task(bug.problem_id)
    trace = policy_trace(task, bug.finding.state, bug.finding.run)
    assert trace.ending is Ending.LOOP
    assert trace.loop_begin is not None
    assert len(trace.steps) == len(bug.finding.run.operators) + 1
    assert trace.state_after(len(trace.steps) - 1) == trace.states[trace.loop_begin]
    in_loop = [trace.in_loop(step.index) for step in trace.steps]
    assert in_loop == [index >= trace.loop_begin for index in range(len(trace.steps))]


def test_doing_nothing_for_ever_is_a_loop() -> None:
    run = Run(RunOutcome.FAILED, EndReason.LOOP, None, (0,), -2)
    trace = policy_trace(DIAL, (0,), run)
    assert trace.loop_begin == 1
    assert len(trace.steps) == 1


def test_a_proof_is_followed_until_it_leaves_the_known_actions(
    store: Workspace, bug_with: Callable[..., Bug]
) -> None:
    bug = bug_with("loop", "dominance")
    trace = evidence_trace(store.task(bug.problem_id), bug.finding.evidence)
    assert trace.ending is Ending.BOUND
    assert trace.cost + trace.rest == bug.row.bound


def test_a_plan_that_is_evidence_reaches_the_goal(
    store: Workspace, bug_with: Callable[..., Bug]
) -> None:
    bug = bug_with("goal")
    task = store.task(bug.problem_id)
    better, policy = (
        evidence_trace(task, bug.finding.evidence),
        policy_trace(task, bug.finding.state, bug.finding.run),
    )
    assert (better.ending, better.cost) == (Ending.GOAL, bug.row.bound)
    assert (policy.ending, policy.cost) == (Ending.GOAL, bug.row.policy_cost)
