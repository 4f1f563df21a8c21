"""Asking ahead: what later runs need fills up questions, and changes nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import fdr
from reference.amount import amount
from reference.random_tasks import make_task

from engine.errors import CancelledError
from engine.policies import ahead
from engine.policies.runs import PolicyRuns
from engine.records.finding import EndReason
from engine.task.states import StateTable
from engine.task.task import Operator, Task
from tests.policies.test_runs import (
    RAISES,
    Scripted,
    any_raises,
    corridor,
    runs_of,
    scripted_tasks,
    walking_right,
)


def one_after_the_other(
    runs: PolicyRuns, starts: Sequence[fdr.State], limit: int | None, width: int
) -> list[object]:
    """All that is seen of runs from these states, of which `width` are followed at once."""
    later = iter(starts)
    seen: list[object] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ahead, "WIDTH", width)
        for start in starts:
            (state,) = runs.table.add(start).tolist()
            runs.ask_ahead(state, lambda most: list(islice(later, most)), limit)
            results = runs.run([state], limit)
            seen += [state, results.outcome[0], results.reason[0], results.cost[0]]
            seen += [runs.trace(state), runs.native.parents(state), len(runs.table)]
    return seen


@settings(max_examples=amount(100, 30))
@given(scripted_tasks(), st.sampled_from([None, 0, 1, 3]), st.data())
def test_whatever_is_asked_together_runs_and_ids_are_the_same(
    case, limit: int | None, data: st.DataObject
) -> None:
    task, script, states = case
    starts = data.draw(st.lists(st.sampled_from(states), min_size=1, max_size=12, unique=True))
    alone = PolicyRuns(Scripted(script), StateTable(task))
    expected = one_after_the_other(alone, starts, limit, 1)
    for width in (2, 7, 64):
        policy = Scripted(script)
        runs = PolicyRuns(policy, StateTable(task))
        assert one_after_the_other(runs, starts, limit, width) == expected
        assert max(policy.batches, default=0) <= width
        if not any_raises(task, script, runs.table.add(states), runs.table):
            assert sum(policy.batches) == len(policy.asked)  # no state twice


def corridors(rows: int, length: int) -> tuple[Task, dict[fdr.State, int]]:
    """A corridor with a variable that nothing changes, and a policy that walks right."""
    cells = range(length - 1)
    right = [Operator(f"right {i}", ((0, i),), ((0, i + 1),), 1) for i in cells]
    task = make_task((length, rows), right, (0, 0), ((0, length - 1),))
    return task, {(i, row): i for i in cells for row in range(rows)}


def run_each(
    runs: PolicyRuns, starts: Sequence[fdr.State], limit: int | None = None
) -> list[EndReason]:
    """Run from one state after the other, with all of the next ones to fill up questions."""
    later = iter(starts)
    reasons = []
    for start in starts:
        (state,) = runs.table.add(start).tolist()
        runs.ask_ahead(state, lambda most: list(islice(later, most)), limit)
        reasons.append(runs.run([state], limit).reason[0])
    return reasons


def test_questions_are_full_as_long_as_there_are_later_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ahead, "WIDTH", 4)
    task, script = corridors(rows=24, length=12)
    policy = Scripted(script)
    runs = PolicyRuns(policy, StateTable(task))
    starts = [(row * 7 % 11, row) for row in range(24)]  # runs of all lengths
    assert set(run_each(runs, starts)) == {EndReason.GOAL}
    asked = sum(11 - column for column, _ in starts)
    assert sum(policy.batches) == runs.statistics.evaluated == len(policy.asked) == asked
    assert sum(size for size in policy.batches if size < 4) <= 3 * 11  # only the last runs
    assert runs.statistics.calls == len(policy.batches)


def test_runs_are_not_followed_beyond_their_limit() -> None:
    task, script = corridors(rows=2, length=13)
    policy = Scripted(script)
    runs = PolicyRuns(policy, StateTable(task))
    assert set(run_each(runs, [(0, 0), (3, 0), (0, 1)], 5)) == {EndReason.STEP_LIMIT}
    # The second run has five steps from where the first one ended.
    assert sorted(policy.asked) == sorted(
        [(i, 0) for i in range(10)] + [(i, 1) for i in range(5)]
    )  # fmt: skip


def test_a_policy_that_fails_is_asked_alone_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "WIDTH", 3)
    task, script = corridors(rows=12, length=2)
    policy = Scripted(script | {(0, 1): RAISES})
    runs = PolicyRuns(policy, StateTable(task))
    reasons = run_each(runs, [(0, row) for row in range(12)])
    assert reasons == [EndReason.GOAL, EndReason.POLICY_ERROR, *[EndReason.GOAL] * 10]
    assert runs.statistics.faults == {EndReason.POLICY_ERROR: 1}
    assert policy.batches == [3, 1, 1, 1, 1, 3, 3, 2]


def test_goals_are_never_asked_about() -> None:
    runs, cells = runs_of(corridor(), walking_right(corridor()))
    goal = tuple(runs.table.values(cells[-1])[0].tolist())
    assert run_each(runs, [(9,), goal, (4,)]) == [EndReason.GOAL] * 3
    assert len(runs.policy.asked) == 7
    assert goal not in runs.policy.asked


def test_it_can_be_cancelled_between_questions() -> None:
    task, script = corridors(rows=3, length=12)
    runs = PolicyRuns(Scripted(script), StateTable(task))
    (start,) = runs.table.add((0, 0)).tolist()
    later = iter([(0, 1), (0, 2)])
    with pytest.raises(CancelledError):
        runs.ask_ahead(
            start,
            lambda most: list(islice(later, most)),
            cancelled=lambda: runs.statistics.calls == 2,
        )
    assert runs.policy.batches == [3, 3]
    assert runs.run([start]).reason[0] is EndReason.GOAL
