"""`check_action`: what its algorithms rest on, and what limits, errors and stops do to them."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import Any

import pytest
from reference.random_tasks import dials
from reference.small_tasks import Rule, one_key, task_of

from engine.dominance.compute import compute
from engine.errors import CancelledError, PlannerError, UsageError
from engine.localize import action_optimality, parallel_searches
from engine.localize.action_optimality import (
    ALGORITHMS,
    ActionVerdict,
    DecidedBy,
    Reason,
    StepVerdict,
    check_action,
)
from engine.native.control import Control
from engine.native.library import Outcome
from engine.records.config import Factorization
from engine.records.finding import INFINITY
from engine.search.forward import SearchLimits, SearchResult
from engine.search.planners import FoundPlan, PlannerOutcome, PlannerResult
from engine.task.task import Task

PATIENCE = 300.0
SEARCHES = [name for name in ALGORITHMS if name != "dominance"]
IN_THREADS = ["pms-bc", "pms-lama"]


def fork() -> Task:
    """To 3 by 1 (costs 2) or by 2 (costs 4); 4 is a dead end."""
    roads = [(0, 1, 1), (1, 3, 1), (0, 2, 3), (2, 3, 1), (0, 4, 1), (4, 4, 1)]
    rules: list[Rule] = [(f"go {x} {y}", {0: x}, {0: y}, c) for x, y, c in roads]
    return task_of((5,), rules, (0,), {0: 3})


def hard() -> Task:
    """For a long time no algorithm finds out anything, not even that there is no plan."""
    return dials(12, 8, solvable=False)


@pytest.mark.parametrize("algorithm", SEARCHES)
def test_all_algorithms_agree(algorithm: str) -> None:
    task = fork()
    good, bad, dead_end = (check_action(task, task.init, o, algorithm) for o in (0, 2, 4))
    assert good.verdict is StepVerdict.OPTIMAL
    assert good.optimal_low == good.after_low <= 2
    assert bad.verdict is dead_end.verdict is StepVerdict.NOT_OPTIMAL
    for answer in (good, bad, dead_end):
        assert answer.reason is None
        assert answer.optimal_low <= 2 <= answer.optimal_high


@pytest.mark.parametrize(
    ("algorithm", "operator", "expected"),
    [
        ("sms", 0, DecidedBy.PLAN),
        ("sms", 2, DecidedBy.COSTS),
        ("sms", 4, DecidedBy.DEAD_END),
        ("sms-bc", 0, DecidedBy.PLAN),
        ("sms-bc", 2, DecidedBy.BOUNDS),
        ("sms-rev", 0, DecidedBy.COSTS),
        ("sms-rev", 2, DecidedBy.COSTS),
        ("aoca", 0, DecidedBy.GOAL),
    ],
)
def test_who_decides(algorithm: str, operator: int, expected: DecidedBy) -> None:
    task = fork()
    assert check_action(task, task.init, operator, algorithm).decided_by is expected


def test_costs_are_reported_where_they_are_known() -> None:
    task = fork()
    answer = check_action(task, task.init, 2, "sms")
    assert (answer.optimal_cost, answer.cost_after, answer.plan) == (2, 4, (0, 1))
    dead_end = check_action(task, task.init, 4, "sms")
    assert (dead_end.after_low, dead_end.cost_after) == (INFINITY, None)
    bounded = check_action(task, task.init, 2, "sms-bc")
    assert (bounded.optimal_cost, bounded.cost_after, bounded.after_low) == (2, None, 3)


def test_sms_bc_searches_less_than_sms() -> None:
    """Behind the action lies a long way that SMS has to search to its end."""
    way = [(f"walk {k}", {0: k}, {0: k + 1}, 1) for k in range(2, 100)]
    rules: list[Rule] = [("enter", {0: 0}, {0: 2}, 1), ("jump", {0: 0}, {0: 100}, 3), *way]
    task = task_of((101,), rules, (0,), {0: 100})
    plain, bounded = (check_action(task, (0,), 0, a, "blind") for a in ("sms", "sms-bc"))
    assert plain.verdict is bounded.verdict is StepVerdict.NOT_OPTIMAL
    assert bounded.expanded < 10 < plain.expanded


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("cost", [0, 2])
def test_self_loops(algorithm: str, cost: int) -> None:
    rules: list[Rule] = [("wait", {0: 0}, {0: 0}, cost), ("go", {0: 0}, {0: 1}, 1)]
    task = task_of((2,), rules, (0,), {0: 1})
    answer = check_action(task, (0,), 0, algorithm, solvable=True)
    assert answer.verdict is (StepVerdict.NOT_OPTIMAL if cost else StepVerdict.OPTIMAL)
    assert answer.decided_by is DecidedBy.SELF_LOOP
    assert answer.expanded == 0
    unknown = check_action(task, (0,), 0, algorithm)
    assert unknown.verdict is answer.verdict


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_states_without_a_plan_are_undecided(algorithm: str) -> None:
    """P34: and not because of a limit."""
    task = one_key()
    answer = check_action(task, task.init, 0, algorithm)
    assert (answer.verdict, answer.reason) == (StepVerdict.UNDECIDED, Reason.UNSOLVABLE)
    assert answer.decided_by is None


def test_dead_ends_decide_only_where_there_is_a_plan() -> None:
    """Behind the action there is no plan; whether there is one at all, is another question."""
    task = fork()
    told = check_action(task, (0,), 4, "sms-rev", solvable=True)
    asked = check_action(task, (0,), 4, "sms-rev")
    assert told.verdict is asked.verdict is StepVerdict.NOT_OPTIMAL
    assert told.decided_by is asked.decided_by is DecidedBy.DEAD_END
    assert told.optimal_cost is None
    assert asked.optimal_cost == 2


@pytest.mark.parametrize("algorithm", SEARCHES)
@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (SearchLimits(expansions=5), Reason.EXPANSION_LIMIT),
        (SearchLimits(seconds=0), Reason.TIME_LIMIT),
        (SearchLimits(bytes=9000), Reason.MEMORY_LIMIT),
    ],
)
def test_a_limit_is_no_verdict(algorithm: str, limits: SearchLimits, reason: Reason) -> None:
    task = hard()
    answer = check_action(task, task.init, 0, algorithm, "blind", limits=limits)
    assert (answer.verdict, answer.reason) == (StepVerdict.UNDECIDED, reason)
    assert answer.expanded <= 5 or limits.expansions is None


def test_limits_hold_for_all_searches_together() -> None:
    """The first search uses up what the second would need."""
    task = dials(3, 6)
    alone = check_action(task, task.init, 0, "sms-rev", "blind")
    for limit in range(1, alone.expanded):
        limits = SearchLimits(expansions=limit)
        answer = check_action(task, task.init, 0, "sms-rev", "blind", limits=limits)
        assert answer.reason is Reason.EXPANSION_LIMIT
        assert answer.expanded <= limit
    enough = SearchLimits(expansions=alone.expanded)
    answer = check_action(task, task.init, 0, "sms-rev", "blind", limits=enough)
    assert answer.verdict is alone.verdict is StepVerdict.OPTIMAL


def test_what_a_limited_search_proved_is_kept() -> None:
    task = dials(4, 9)
    limits = SearchLimits(expansions=200)
    for algorithm in ("aoca", "sms", "pms-bc"):
        answer = check_action(task, task.init, 0, algorithm, "blind", solvable=True, limits=limits)
        assert answer.verdict is StepVerdict.UNDECIDED
        assert 0 < answer.optimal_low <= 16


@pytest.mark.parametrize("algorithm", SEARCHES)
def test_a_cancelled_check_does_not_start(algorithm: str) -> None:
    control = Control()
    control.cancel()
    task = hard()
    answer = check_action(task, task.init, 0, algorithm, control=control)
    assert (answer.verdict, answer.reason) == (StepVerdict.UNDECIDED, Reason.CANCELLED)
    assert answer.expanded == 0


@pytest.mark.parametrize("algorithm", SEARCHES)
def test_a_running_check_can_be_cancelled(algorithm: str) -> None:
    task, control = hard(), Control()
    answers: list[ActionVerdict] = []
    thread = threading.Thread(
        target=lambda: answers.append(
            check_action(task, task.init, 0, algorithm, "hmax", solvable=True, control=control)
        )
    )
    thread.start()
    deadline = time.monotonic() + PATIENCE
    while control.expanded == 0 and time.monotonic() < deadline:
        time.sleep(0.001)
    control.cancel()
    thread.join(PATIENCE)
    assert [answer.reason for answer in answers] == [Reason.CANCELLED]
    assert answers[0].expanded > 0


def test_a_dominance_function_that_is_cancelled_decides_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    control = Control()

    def compute_for_long(*_: object, control: Control, **__: object) -> None:
        control.cancel()
        raise CancelledError

    monkeypatch.setattr(action_optimality, "dominance_function", compute_for_long)
    answer = check_action(fork(), (0,), 0, "dominance", control=control)
    assert (answer.verdict, answer.reason) == (StepVerdict.UNDECIDED, Reason.CANCELLED)


def test_dominance_decides_without_search() -> None:
    """Going to 1 makes as much better as it costs; D of one variable says so."""
    task = fork()
    dominance = compute(task, Factorization())
    good = check_action(task, (0,), 0, "dominance", plan_cost=9, dominance=dominance)
    assert (good.verdict, good.expanded) == (StepVerdict.OPTIMAL, 0)
    assert good.decided_by in {DecidedBy.DOMINANCE_A, DecidedBy.DOMINANCE_C}
    first = check_action(task, (0,), 0, "aoca", plan_cost=9, dominance=dominance)
    assert first.decided_by is good.decided_by
    assert check_action(task, (0,), 0, "dominance").verdict is StepVerdict.OPTIMAL


def test_dominance_of_another_task_is_refused() -> None:
    """P14."""
    task = fork()
    other = compute(replace(task, goal=((0, 2),)), Factorization())
    with pytest.raises(ValueError, match="another task"):
        check_action(task, (0,), 0, "dominance", solvable=True, dominance=other)


# QuestionSearches side by side, with searches and a planner that do what the test wants.


def stuck_search(*_args: Any, control: Control, **_options: Any) -> SearchResult:
    """Proves nothing until it is cancelled."""
    deadline = time.monotonic() + PATIENCE
    while not control.cancelled and time.monotonic() < deadline:
        time.sleep(0.001)
    return SearchResult(Outcome.CANCELLED, None, None, 7, 8, 9, 0.0, 0, 0)


def test_a_plan_of_lama_bounds_the_search_behind_the_action(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def planner(*_args: Any, on_plan: Any, **_options: Any) -> PlannerResult:
        plan = FoundPlan((0, 1), 2, 0.0)
        on_plan(plan)
        return PlannerResult(PlannerOutcome.SOLVED, (plan,))

    monkeypatch.setattr(parallel_searches, "search", stuck_search)
    monkeypatch.setattr(parallel_searches, "run_planner", planner)
    task = fork()
    answer = check_action(task, (0,), 2, "pms-lama")
    assert (answer.verdict, answer.decided_by) == (StepVerdict.NOT_OPTIMAL, DecidedBy.LAMA)
    assert (answer.optimal_high, answer.after_low) == (2, 3)
    assert answer.expanded == 14  # of both searches, which have ended


def test_a_planner_that_fails_ends_the_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    def planner(*_args: Any, **_options: Any) -> PlannerResult:
        raise PlannerError("broken")

    monkeypatch.setattr(parallel_searches, "search", stuck_search)
    monkeypatch.setattr(parallel_searches, "run_planner", planner)
    with pytest.raises(PlannerError, match="broken"):
        check_action(fork(), (0,), 0, "pms-lama")
    assert not [t for t in threading.enumerate() if t.name == parallel_searches.THREAD_NAME]


@pytest.mark.parametrize("algorithm", IN_THREADS)
def test_no_thread_is_left(algorithm: str) -> None:
    task = fork()
    for operator in (0, 2, 4):
        check_action(task, (0,), operator, algorithm, solvable=True)
    assert not [t for t in threading.enumerate() if t.name == parallel_searches.THREAD_NAME]


def test_the_plan_behind_the_action_ends_the_search_from_the_state(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A lower bound of the state as high as the cost with the action: no goal is needed there."""
    real = parallel_searches.search

    def without_end(task: Task, *args: Any, **options: Any) -> SearchResult:
        result = real(task, *args, **options)
        if options["state"] == task.init:
            return replace(result, outcome=Outcome.TIME_LIMIT, plan=None, cost=None, lower_bound=2)
        return result

    monkeypatch.setattr(parallel_searches, "search", without_end)
    answer = check_action(fork(), (0,), 0, "pms-bc")
    assert (answer.verdict, answer.decided_by) == (StepVerdict.OPTIMAL, DecidedBy.COSTS)
    assert answer.optimal_cost == 2


@pytest.mark.parametrize("algorithm", ["aoca", "sms", "sms-bc"])
def test_a_plan_that_cannot_be_is_refused(algorithm: str) -> None:
    with pytest.raises(UsageError, match="no plan from the state costs 1 or less"):
        check_action(fork(), (0,), 0, algorithm, plan_cost=1)


def test_wrong_questions_are_refused() -> None:
    task = fork()
    with pytest.raises(UsageError, match="not applicable"):
        check_action(task, (0,), 1)
    with pytest.raises(UsageError, match="goal state"):
        check_action(replace(task, goal=((0, 0),)), (0,), 0)
    with pytest.raises(UsageError, match="unknown algorithm 'dfs'"):
        check_action(task, (0,), 0, "dfs")
    with pytest.raises(UsageError, match="may overestimate"):
        check_action(task, (0,), 0, "sms", "ff")
    with pytest.raises(UsageError, match="1 variables, the state 2"):
        check_action(task, (0, 0), 0)
    with pytest.raises(UsageError, match="7 is too large"):
        check_action(task, (7,), 0)
