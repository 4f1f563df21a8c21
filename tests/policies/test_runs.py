"""Policy runs: outcomes, caches and limits, against single runs by the book."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.amount import amount

from engine.errors import CancelledError, PolicyError
from engine.policies.policy import NO_ACTION, NO_OPERATION
from engine.policies.runs import MAX_ERRORS_IN_A_ROW, UNDECIDED, PolicyRuns
from engine.records.finding import INFINITY, EndReason, RunOutcome
from engine.task.states import StateTable
from engine.task.task import Operator, Task
from tests.reference import fdr
from tests.reference.random_tasks import make_task, tasks

RAISES = -99
"""In a script: the policy raises an error in this state."""


@dataclass
class Scripted:
    """Does what it is told, and notices when it is asked about a state again."""

    script: Mapping[fdr.State, int]
    asked: list[fdr.State] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)

    def decide(self, states: np.ndarray) -> np.ndarray:
        rows = [tuple(row) for row in states.tolist()]
        self.batches.append(len(rows))
        answers = [self.script[row] for row in rows]
        if RAISES in answers:
            raise RuntimeError("out of ideas")
        assert not set(rows) & set(self.asked)
        self.asked += rows
        return np.array(answers, dtype=np.int32)


def run_by_the_book(task: Task, script: Mapping[fdr.State, int], start: fdr.State):
    """Outcome, reason, cost, states and operators."""
    states, operators, cost = [start], [], 0
    while True:
        state = states[-1]
        if fdr.holds(task.goal, state):
            return RunOutcome.SOLVED, EndReason.GOAL, cost, states, operators
        answer = script[state]
        if answer == RAISES:
            return RunOutcome.ABORTED, EndReason.POLICY_ERROR, cost, states, operators
        if answer == NO_ACTION:
            return RunOutcome.FAILED, EndReason.NO_ACTION, None, states, operators
        if answer == NO_OPERATION:
            return RunOutcome.FAILED, EndReason.LOOP, None, states, operators
        if answer not in fdr.applicable(task, state):
            return RunOutcome.FAILED, EndReason.INAPPLICABLE, None, states, operators
        after = fdr.apply(task, task.operators[answer], state)
        if after in states:
            return RunOutcome.FAILED, EndReason.LOOP, None, states, operators
        states.append(after)
        operators.append(answer)
        cost += task.operators[answer].cost


def bounded_by_the_book(task: Task, script, start: fdr.State, cutoff: int) -> int:
    outcome, _, cost, _, _ = run_by_the_book(task, script, start)
    return cost if outcome is RunOutcome.SOLVED and cost < cutoff else INFINITY


@st.composite
def scripted_tasks(draw: st.DrawFn) -> tuple[Task, dict[fdr.State, int], list[fdr.State]]:
    task = draw(tasks(variables=(2, 4), values=(1, 4)))
    states = fdr.all_states(task)
    random = draw(st.randoms(use_true_random=False))
    script = {}
    for state in states:
        choices = fdr.applicable(task, state) * 8
        choices += [NO_ACTION, NO_OPERATION, len(task.operators) + 3, -7, RAISES]
        choices += range(len(task.operators))
        script[state] = random.choice(choices)
    return task, script, states


@settings(max_examples=amount(70, 20))
@given(scripted_tasks(), st.data())
def test_any_mixture_of_runs_gives_the_results_of_single_runs(case, data: st.DataObject) -> None:
    task, script, states = case
    table = StateTable(task)
    policy = Scripted(script)
    runs = PolicyRuns(policy, table)
    some = st.lists(st.sampled_from(states), min_size=1, max_size=8)
    for _ in range(data.draw(st.integers(0, 4))):
        starts = table.add(data.draw(some))
        kind = data.draw(st.sampled_from(["ahead", "limited", "bounded", "decisions", "full"]))
        if kind == "ahead":
            later = iter(data.draw(some))
            for start in starts.tolist():
                limit = data.draw(st.integers(0, 4))
                runs.ask_ahead(start, lambda most, later=later: [*islice(later, most)], limit)
        elif kind == "limited":
            runs.run(starts, step_limit=data.draw(st.integers(0, 4)))
        elif kind == "bounded":
            check_bounded(runs, task, script, starts, data.draw(st.integers(0, 9)))
        elif kind == "decisions":
            runs.decisions(starts)
        else:
            check_full(runs, task, script, starts)
    check_full(runs, task, script, table.add(states))


def check_full(runs: PolicyRuns, task: Task, script, starts: np.ndarray) -> None:
    results = runs.run(starts)
    while EndReason.POLICY_ERROR in results.reason:  # it may have given up for a while
        again = runs.run(starts)
        if again.reason.tolist() == results.reason.tolist():
            break
        results = again
    for number, start in enumerate(starts.tolist()):
        state = tuple(runs.table.values(start)[0].tolist())
        outcome, reason, cost, states, operators = run_by_the_book(task, script, state)
        assert (results.outcome[number], results.reason[number]) == (outcome, reason)
        assert results.cost[number] == (INFINITY if cost is None else cost)
        trace = runs.trace(start)
        assert (trace.outcome, trace.reason, trace.cost) == (outcome, reason, cost)
        assert runs.table.values(trace.states).tolist() == [list(s) for s in states]
        assert list(trace.operators) == operators
        for parent, child in zip(trace.states, trace.states[1:], strict=False):
            assert parent in [state for state, _ in runs.native.parents(child)]


def check_bounded(runs: PolicyRuns, task: Task, script, starts: np.ndarray, cutoff: int) -> None:
    answers = runs.run_bounded(starts, cutoff)
    for number, start in enumerate(starts.tolist()):
        state = tuple(runs.table.values(start)[0].tolist())
        expected = bounded_by_the_book(task, script, state, cutoff)
        if any(script[tuple(row)] == RAISES for row in runs.table.values(starts).tolist()):
            assert answers[number] in (expected, INFINITY)
        elif not any_raises(task, script, starts, runs.table):
            assert answers[number] == expected


def any_raises(task: Task, script, starts: np.ndarray, table: StateTable) -> bool:
    outcomes = [
        run_by_the_book(task, script, tuple(row))[1] for row in table.values(starts).tolist()
    ]
    return EndReason.POLICY_ERROR in outcomes


def corridor(length: int = 12, costs: Callable[[int], int] = lambda i: i % 3) -> Task:
    """Cells in a row; walk right (of changing costs, some zero) or left; the goal is the last."""
    right = [Operator(f"right {i}", ((0, i),), ((0, i + 1),), costs(i)) for i in range(length - 1)]
    left = [Operator(f"left {i}", ((0, i),), ((0, i - 1),), 1) for i in range(1, length)]
    return make_task((length,), (*right, *left), (0,), ((0, length - 1),))


def walking_right(task: Task) -> dict[fdr.State, int]:
    size = task.domain_sizes[0]
    return {(i,): i if i < size - 1 else NO_ACTION for i in range(size)}


def runs_of(task: Task, script: Mapping[fdr.State, int]) -> tuple[PolicyRuns, np.ndarray]:
    table = StateTable(task)
    return PolicyRuns(Scripted(script), table), table.add([(i,) for i in range(12)])


@settings(max_examples=amount(100, 30))
@given(scripted_tasks(), st.sampled_from([None, 1, 3]), st.data())
def test_a_run_is_taken_over_as_it_is(case, limit: int | None, data: st.DataObject) -> None:
    task, script, states = case
    theirs = PolicyRuns(Scripted(script), StateTable(task))
    starts = data.draw(st.lists(st.sampled_from(states), min_size=1, max_size=5))
    nobody = Scripted({})
    ours = PolicyRuns(nobody, StateTable(task))
    for start in theirs.table.add(starts).tolist():
        theirs.run([start], limit)
        own, so_far = ours.adopt(theirs, start)
        assert ours.table.values(own).tolist() == theirs.table.values(start).tolist()
        assert ours.record(own) == theirs.record(start)
        run = theirs.trace(start)
        assert so_far == (run.cost if run.outcome is RunOutcome.ABORTED else None)
    assert not nobody.asked


def test_one_question_per_step_for_all_runs_together() -> None:
    task = corridor()
    runs, cells = runs_of(task, walking_right(task))
    results = runs.run(cells[[0, 4, 4, 8]])
    assert results.outcome.tolist() == [RunOutcome.SOLVED] * 4
    assert runs.policy.batches == [3, 3, 3, 2]  # the goal state is not asked
    assert (runs.statistics.calls, runs.statistics.evaluated) == (4, 11)
    assert runs.run(cells).cost.tolist() == [sum(j % 3 for j in range(i, 11)) for i in range(12)]
    assert runs.statistics.evaluated == 11


def test_cost_is_not_the_number_of_steps() -> None:
    """P19"""
    runs, cells = runs_of(corridor(costs=lambda i: 10), walking_right(corridor()))
    trace = runs.run(cells[9:10]), runs.trace(int(cells[9]))
    assert trace[1].cost == 20
    assert len(trace[1].operators) == 2


def test_an_aborted_run_is_a_lower_bound_and_no_failure() -> None:
    runs, cells = runs_of(corridor(), walking_right(corridor()))
    results = runs.run(cells[:1], step_limit=5)
    assert (results.outcome[0], results.reason[0]) == (RunOutcome.ABORTED, EndReason.STEP_LIMIT)
    assert results.cost[0] == sum(i % 3 for i in range(5))
    assert runs.known(cells[:6]).outcome.tolist() == [RunOutcome.UNKNOWN] * 6
    assert runs.run(cells[:1]).outcome[0] == RunOutcome.SOLVED


def test_a_run_that_reaches_the_goal_with_its_last_step_is_solved() -> None:
    runs, cells = runs_of(corridor(), walking_right(corridor()))
    assert runs.run(cells[8:9], step_limit=2).outcome[0] == RunOutcome.ABORTED
    runs, cells = runs_of(corridor(), walking_right(corridor()))
    assert runs.run(cells[8:9], step_limit=3).outcome[0] == RunOutcome.SOLVED


def test_a_limited_run_continues_along_known_decisions() -> None:
    runs, cells = runs_of(corridor(), walking_right(corridor()))
    runs.run(cells[3:4])
    assert runs.run(cells[:1], step_limit=3).outcome[0] == RunOutcome.SOLVED


def test_a_stopped_run_is_not_remembered_as_a_failure() -> None:
    """P16: a cut-off run, then the whole one."""
    runs, cells = runs_of(corridor(), walking_right(corridor()))
    cost = sum(i % 3 for i in range(11))
    assert runs.run_bounded(cells[:1], cost - 1).tolist() == [INFINITY]
    assert runs.known(cells[:1]).outcome[0] == RunOutcome.UNKNOWN
    assert runs.run_bounded(cells[:1], cost).tolist() == [INFINITY]
    assert runs.run_bounded(cells[:1], cost + 1).tolist() == [cost]
    assert runs.run(cells[:1]).cost.tolist() == [cost]


def test_bounds_by_steps_and_by_dead_ends() -> None:
    runs, cells = runs_of(corridor(), walking_right(corridor()))
    assert runs.run_bounded(cells[:1], INFINITY, max_steps=10).tolist() == [INFINITY]
    seventh = int(cells[7])
    assert runs.run_bounded(cells[:1], INFINITY, dead_end=lambda ids: ids == seventh) == [INFINITY]
    assert runs.run_bounded(cells[9:10], INFINITY, dead_end=lambda ids: ids == seventh) == [0 + 1]
    assert runs.run_bounded(cells[:1], INFINITY, max_steps=11)[0] < INFINITY
    assert runs.run_bounded(cells[:1], 0).tolist() == [INFINITY]


def test_a_bounded_run_ends_in_a_free_loop() -> None:
    task = corridor(costs=lambda i: 0)
    script = walking_right(task) | {(11,): NO_ACTION, (5,): 11 + 4}
    assert task.operators[15].name == "left 5"
    task = make_task(
        (12,), tuple(Operator(o.name, o.precondition, o.effect, 0) for o in task.operators),
        (0,), ((0, 11),),
    )  # fmt: skip
    runs, cells = runs_of(task, script)
    assert runs.run_bounded(cells[:6], 1).tolist() == [INFINITY] * 6
    assert runs.known(cells[:6]).reason.tolist() == [EndReason.LOOP] * 6


def test_a_goal_state_costs_nothing_whatever_the_policy_says() -> None:
    """P18: the goal test comes first."""
    task = corridor()
    runs, cells = runs_of(task, walking_right(task) | {(11,): 11 + 10})
    results = runs.run(cells[11:])
    assert (results.outcome[0], results.cost[0]) == (RunOutcome.SOLVED, 0)
    assert runs.trace(int(cells[11])).states == (cells[11],)
    assert runs.decisions(cells[11:]).tolist() == [UNDECIDED]


class Noisy:
    """Goes anywhere: the cache must freeze what it said first."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.random = np.random.default_rng(0)

    def decide(self, states: np.ndarray) -> np.ndarray:
        choices = [fdr.applicable(self.task, tuple(row)) for row in states.tolist()]
        return np.array([self.random.choice(row) for row in choices])


def test_a_noisy_policy_is_tested_as_a_function() -> None:
    """P20: what it says first counts."""
    task = corridor()
    table = StateTable(task)
    runs = PolicyRuns(Noisy(task), table)
    cells = table.add([(i,) for i in range(12)])
    first = runs.run(cells)
    again = runs.run(cells)
    assert first.outcome.tolist() == again.outcome.tolist()
    frozen = dict(zip([(i,) for i in range(12)], runs.decisions(cells).tolist(), strict=True))
    for number in range(12):
        outcome, reason, _, _, _ = run_by_the_book(task, frozen, (number,))
        assert (first.outcome[number], first.reason[number]) == (outcome, reason)


class Alternating:
    """Answers right and left in turn: it remembers how often it was asked."""

    def __init__(self) -> None:
        self.questions = 0

    def decide(self, states: np.ndarray) -> np.ndarray:
        answers = []
        for (cell,) in states.tolist():
            self.questions += 1
            goes_right = self.questions % 2 or cell == 0
            answers.append(cell if goes_right else 10 + cell)
        return np.array(answers)


def test_a_policy_with_a_memory_is_tested_as_a_function() -> None:
    """P21: caches, predecessors and gaps are those of one function of the state."""
    task = corridor()
    table = StateTable(task)
    policy = Alternating()
    runs = PolicyRuns(policy, table)
    cells = table.add([(i,) for i in range(12)])
    one_by_one = [runs.run([cell]) for cell in cells[:11]]
    asked = policy.questions
    assert asked == 11
    together = runs.run(cells[:11])
    assert policy.questions == asked
    assert together.outcome.tolist() == [result.outcome[0] for result in one_by_one]
    frozen = dict(zip([(i,) for i in range(11)], runs.decisions(cells[:11]).tolist(), strict=True))
    for number in range(11):
        outcome, reason, _, states, _ = run_by_the_book(task, frozen, (number,))
        assert (together.outcome[number], together.reason[number]) == (outcome, reason)
        assert len(runs.trace(int(cells[number])).states) == len(states)


def test_a_step_that_changes_nothing_is_a_loop() -> None:
    """P44: empty effects, effects that hold already, and twins of operators."""
    operators = (
        Operator("wait", (), (), 0),
        Operator("stay", ((0, 0),), ((0, 0),), 1),
        Operator("go", ((0, 0),), ((0, 1),), 1),
        Operator("go too", ((0, 0),), ((0, 1),), 1),
    )
    task = make_task((2,), operators, (0,), ((0, 1),))
    for choice, outcome in enumerate([RunOutcome.FAILED] * 2 + [RunOutcome.SOLVED] * 2):
        table = StateTable(task)
        results = PolicyRuns(Scripted({(0,): choice}), table).run(table.add([(0,)]))
        assert results.outcome[0] == outcome
        assert results.reason[0] == (EndReason.LOOP if choice < 2 else EndReason.GOAL)


@pytest.mark.parametrize("answer", [0, 21, 22, 10**6, -3, -100])
def test_wrong_answers_are_faults_and_never_applied(answer: int) -> None:
    runs, cells = runs_of(corridor(), walking_right(corridor()) | {(6,): answer})
    before = len(runs.table)
    results = runs.run(cells[[3, 8]])
    assert results.outcome.tolist() == [RunOutcome.FAILED, RunOutcome.SOLVED]
    assert results.reason.tolist() == [EndReason.INAPPLICABLE, EndReason.GOAL]
    assert runs.statistics.faults == {EndReason.INAPPLICABLE: 1}
    assert len(runs.table) == before


def test_an_action_without_an_operator_is_a_loop() -> None:
    runs, cells = runs_of(corridor(), walking_right(corridor()) | {(6,): NO_OPERATION})
    results = runs.run(cells[3:4])
    assert (results.outcome[0], results.reason[0]) == (RunOutcome.FAILED, EndReason.LOOP)
    assert runs.decisions(cells[6:7]).tolist() == [NO_OPERATION]


def test_an_error_ends_only_the_runs_that_meet_it() -> None:
    runs, cells = runs_of(corridor(), walking_right(corridor()) | {(6,): RAISES})
    results = runs.run(cells[[3, 6, 8]])
    assert results.outcome.tolist() == [RunOutcome.ABORTED, RunOutcome.ABORTED, RunOutcome.SOLVED]
    assert results.reason.tolist() == [
        EndReason.POLICY_ERROR,
        EndReason.POLICY_ERROR,
        EndReason.GOAL,
    ]
    assert runs.statistics.errors == ["RuntimeError: out of ideas"]
    assert runs.statistics.faults == {EndReason.POLICY_ERROR: 1}


def test_a_policy_that_always_fails_is_soon_left_alone() -> None:
    runs, cells = runs_of(corridor(), {(i,): RAISES for i in range(12)})
    results = runs.run(cells[:11])
    assert set(results.reason.tolist()) == {EndReason.POLICY_ERROR}
    assert set(results.outcome.tolist()) == {RunOutcome.ABORTED}
    assert runs.statistics.faults[EndReason.POLICY_ERROR] == MAX_ERRORS_IN_A_ROW
    assert runs.statistics.calls == 1 + MAX_ERRORS_IN_A_ROW


@pytest.mark.parametrize("answer", [[1.5], [[1]], [1, 2], "right", [None]])
def test_an_answer_of_the_wrong_form_is_an_error(answer: object) -> None:
    class Odd:
        def decide(self, states: np.ndarray) -> object:
            return answer

    table = StateTable(corridor())
    runs = PolicyRuns(Odd(), table)
    results = runs.run(table.add((0,)))
    assert results.reason.tolist() == [EndReason.POLICY_ERROR]
    assert runs.statistics.errors[0].startswith(PolicyError.__name__)


def test_cancelling_keeps_what_was_decided() -> None:
    runs, cells = runs_of(corridor(), walking_right(corridor()))
    with pytest.raises(CancelledError):
        runs.run(cells[:1], cancelled=lambda: runs.statistics.calls == 4)
    assert runs.trace(int(cells[0])).states == tuple(cells[:5].tolist())
    assert runs.run(cells[:1]).outcome[0] == RunOutcome.SOLVED
    assert runs.statistics.evaluated == 11


def test_a_policy_that_cancels_is_no_error() -> None:
    class Stopped:
        def decide(self, states: np.ndarray) -> np.ndarray:
            raise CancelledError

    table = StateTable(corridor())
    with pytest.raises(CancelledError):
        PolicyRuns(Stopped(), table).run(table.add((0,)))


def test_states_that_come_later_to_the_table() -> None:
    runs, cells = runs_of(corridor(length=2000, costs=lambda i: 1), walking_right(corridor(2000)))
    assert runs.run(cells[:1]).cost.tolist() == [1999]
    later = runs.table.add([(i,) for i in range(2000)])
    assert runs.run(later).cost.tolist() == list(range(1999, -1, -1))
