"""AOCA* against its pseudo-code and the truth, and the pitfalls P33 to P38 by name."""

from __future__ import annotations

import threading
import time
from random import Random

import numpy as np
import pytest
from reference import fdr
from reference.action_optimality import AocaStar, admissible_values, question_task, questions
from reference.amount import amount
from reference.random_tasks import dials
from reference.small_tasks import Rule, one_key, task_of

from engine.errors import UsageError
from engine.native.control import Control
from engine.records.finding import INFINITY
from engine.search.aoca_star import aoca_star
from engine.search.forward import Outcome, SearchLimits
from engine.search.heuristics import ADMISSIBLE
from engine.search.results import SearchResult
from engine.task.task import Task

OPTIMAL, NOT_OPTIMAL = Outcome.ACTION_OPTIMAL, Outcome.ACTION_NOT_OPTIMAL
PATIENCE = 300.0


def graph(*edges: tuple[int, int, int], goal: int) -> Task:
    """One variable; operators go from one value to another at a cost. It starts at 0."""
    size = 1 + max(max(x, y) for x, y, _ in edges)
    rules: list[Rule] = [(f"go {x} {y} {c}", {0: x}, {0: y}, c) for x, y, c in edges]
    return task_of((size,), rules, (0,), {0: goal})


def ask(task: Task, operator: int, *h: int, **options: bool | int) -> SearchResult:
    heuristic = np.array(h, np.int64) if h else "blind"
    return aoca_star(task, task.init, operator, heuristic, **options)  # type: ignore[arg-type]


def test_kernel_and_pseudo_code_agree() -> None:
    """On what they answer, with heuristics that make nodes open again and again."""
    asked = 0
    for seed in range(amount(40, 12)):
        task = question_task(seed)
        values = admissible_values(task, Random(seed))
        reference = AocaStar(task, dict(zip(fdr.all_states(task), values.tolist(), strict=True)))
        for question in questions(task):
            for solvable in {False, question.optimal is not None}:
                expected = reference.decide(question.state, question.operator, solvable)
                result = aoca_star(
                    task, question.state, question.operator, values, solvable=solvable
                )
                outcomes = {True: OPTIMAL, False: NOT_OPTIMAL, None: Outcome.UNSOLVABLE}
                assert result.outcome is outcomes[expected], (seed, question, solvable)
                asked += 1
    assert asked > amount(1500, 300)


@pytest.mark.parametrize("heuristic", sorted(ADMISSIBLE))
def test_plans_are_optimal_and_start_with_an_optimal_action(heuristic: str) -> None:
    with_plan = 0
    for seed in range(6):
        task = question_task(seed)
        for question in questions(task):
            result = aoca_star(task, question.state, question.operator, heuristic)
            assert result.lower_bound <= question.cost
            if result.plan is not None:
                assert result.cost == question.cost
                cost = fdr.plan_cost(task, result.plan, question.state, task.goal)
                assert cost == question.cost
                assert result.outcome is (OPTIMAL if question.optimal else NOT_OPTIMAL)
                assert not question.optimal or result.plan[0] == question.operator
                with_plan += 1
    assert with_plan > 30


def test_p33_nodes_are_opened_again_for_a_cheaper_path() -> None:
    """The expensive way is expanded first; only then the cheap one comes to the same state."""
    task = graph((0, 1, 1), (1, 2, 1), (0, 2, 4), (2, 3, 5), goal=3)
    h = (0, 6, 0, 0)
    assert ask(task, 2, *h).outcome is NOT_OPTIMAL
    result = ask(task, 0, *h)
    assert (result.outcome, result.cost, result.plan) == (OPTIMAL, 7, (0, 1, 3))


def test_p34_without_a_plan_nothing_is_optimal() -> None:
    """The only action leads on and on, so all open nodes have the tag, and there is no goal."""
    task = graph((0, 1, 1), (1, 2, 1), (2, 1, 1), (3, 3, 1), goal=3)
    assert ask(task, 0).outcome is Outcome.UNSOLVABLE
    assert ask(task, 0).lower_bound == INFINITY
    two_doors = one_key()
    for heuristic in ADMISSIBLE:
        result = aoca_star(two_doors, two_doors.init, 0, heuristic)
        assert result.outcome is Outcome.UNSOLVABLE


def test_p34_a_generated_goal_is_a_proof_that_there_is_a_plan() -> None:
    """From then on the open list is asked: the long way behind the action is not searched."""
    far = [(k, k + 1, 1) for k in range(2, 60)]
    task = graph((0, 1, 1), (0, 2, 1), *far, goal=1)
    result = ask(task, 1)
    assert result.outcome is NOT_OPTIMAL
    assert result.expanded <= 2
    assert result.plan == (0,)


def test_p34_the_first_goal_generated_need_not_be_the_cheapest() -> None:
    """It proves that there is a plan, and all open nodes agree; the costs stay open."""
    task = graph((0, 1, 1), (1, 3, 9), (1, 2, 1), (2, 3, 1), goal=3)
    result = ask(task, 0)
    assert (result.outcome, result.plan, result.cost) == (OPTIMAL, None, None)
    assert result.lower_bound <= 3


def test_p35_stale_entries_do_not_count() -> None:
    """Counters that drop for them end searches too early; ours are counted again in C++."""
    misled = 0
    for seed in range(200):
        task = question_task(seed)
        values = admissible_values(task, Random(seed))
        h = dict(zip(fdr.all_states(task), values.tolist(), strict=True))
        broken = AocaStar(task, h, ignores_stale_entries=False)
        for question in questions(task):
            if question.optimal is None:
                continue
            if broken.decide(question.state, question.operator, True) is not question.optimal:
                misled += 1
                result = aoca_star(task, question.state, question.operator, values, solvable=True)
                assert result.outcome is (OPTIMAL if question.optimal else NOT_OPTIMAL)
    assert misled > 0


def test_p36_a_path_of_equal_cost_brings_its_tag_to_closed_nodes() -> None:
    """The example of the paper: 0, 2, 3, then the action's state 1, and 3 once more."""
    task = graph((0, 1, 1), (0, 2, 1), (1, 3, 1), (2, 3, 1), (3, 4, 1), goal=4)
    h = (0, 2, 0, 0, 0)
    result = ask(task, 0, *h)
    assert (result.outcome, result.plan) == (OPTIMAL, (0, 2, 4))
    assert result.expanded == 5
    assert ask(task, 1, *h).outcome is OPTIMAL


def test_p36_a_path_of_equal_cost_brings_its_tag_to_open_nodes() -> None:
    """3 waits in the open list, reached by 2, when 1 is expanded."""
    task = graph((0, 1, 1), (0, 2, 1), (1, 3, 1), (2, 3, 1), (3, 4, 1), goal=4)
    result = ask(task, 0, 0, 2, 0, 1, 0)
    assert (result.outcome, result.plan) == (OPTIMAL, (0, 2, 4))
    assert result.expanded == 4


@pytest.mark.parametrize(("cost", "expected"), [(0, OPTIMAL), (1, NOT_OPTIMAL)])
def test_p37_self_loops(cost: int, expected: Outcome) -> None:
    task = graph((0, 0, cost), (0, 1, 1), goal=1)
    for options in ({}, {"solvable": True}, {"plan_cost": 5}):
        assert ask(task, 0, **options).outcome is expected
    dead_end = graph((0, 0, cost), (1, 1, 1), goal=1)
    assert ask(dead_end, 0).outcome is Outcome.UNSOLVABLE


@pytest.mark.parametrize(("cost", "expected"), [(0, OPTIMAL), (1, NOT_OPTIMAL)])
def test_p37_actions_that_change_nothing_the_goal_needs(cost: int, expected: Outcome) -> None:
    rules: list[Rule] = [("paint", {}, {1: 1}, cost), ("go", {0: 0}, {0: 1}, 1)]
    task = task_of((2, 2), rules, (0, 0), {0: 1})
    for heuristic in ADMISSIBLE:
        result = aoca_star(task, task.init, 0, heuristic, solvable=True)
        assert result.outcome is expected


def test_p37_parallel_actions() -> None:
    """A cheaper one to the same state takes the tag away, one of equal cost does not."""
    task = graph((0, 1, 3), (0, 1, 2), (0, 1, 2), (1, 2, 1), goal=2)
    for heuristic in ADMISSIBLE:
        outcomes = [aoca_star(task, (0,), o, heuristic).outcome for o in range(3)]
        assert outcomes == [NOT_OPTIMAL, OPTIMAL, OPTIMAL]


def test_p37_free_ways_back() -> None:
    """The action's own way to the goal leads back through the start."""
    task = graph((0, 1, 0), (1, 0, 0), (0, 2, 1), goal=2)
    for heuristic in ADMISSIBLE:
        for operator in (0, 2):
            assert aoca_star(task, (0,), operator, heuristic).outcome is OPTIMAL


def test_p38_sums_in_another_order_are_equal() -> None:
    """0.1 + 0.2 + 0.3 = 0.3 + 0.2 + 0.1 only in integers; scaled by 10 they are."""
    up = [(0, 1, 1), (1, 2, 2), (2, 6, 3)]
    down = [(0, 3, 3), (3, 4, 2), (4, 6, 1)]
    task = graph(*up, *down, (0, 6, 6), (0, 6, 7), goal=6)
    outcomes = [ask(task, operator).outcome for operator in (0, 3, 6, 7)]
    assert outcomes == [OPTIMAL, OPTIMAL, OPTIMAL, NOT_OPTIMAL]


def test_p38_large_costs_differ_by_one() -> None:
    """Sums that 32 bits and the floats of 32 bits do not hold."""
    task = graph((0, 1, 2**32), (1, 3, 2**32), (0, 2, 2**32), (2, 3, 2**32 - 1), goal=3)
    for heuristic in ADMISSIBLE:
        assert aoca_star(task, (0,), 0, heuristic).outcome is NOT_OPTIMAL
        assert aoca_star(task, (0,), 2, heuristic).outcome is OPTIMAL


def test_a_known_plan_spares_more_expensive_nodes() -> None:
    """Behind the action everything costs too much: nothing has to be expanded."""
    task = graph((0, 1, 4), (1, 3, 1), (0, 2, 1), (2, 3, 1), goal=3)
    result = ask(task, 0, plan_cost=2)
    assert (result.outcome, result.expanded) == (NOT_OPTIMAL, 0)
    assert ask(task, 2, plan_cost=2).outcome is OPTIMAL


def test_a_dead_end_behind_the_action_is_recognized_at_once() -> None:
    task = graph((0, 1, 1), (0, 2, 1), (2, 3, 1), goal=3)
    result = aoca_star(task, (0,), 0, "hmax", solvable=True)
    assert (result.outcome, result.expanded, result.evaluated) == (NOT_OPTIMAL, 0, 2)


@pytest.mark.parametrize("heuristic", ["blind", "hmax", "lmcut"])
def test_limits_decide_nothing(heuristic: str) -> None:
    task = dials(6, 8, solvable=False)
    limits = {
        Outcome.EXPANSION_LIMIT: SearchLimits(expansions=50),
        Outcome.TIME_LIMIT: SearchLimits(seconds=0),
        Outcome.MEMORY_LIMIT: SearchLimits(bytes=5000),
    }
    for outcome, limit in limits.items():
        result = aoca_star(task, task.init, 0, heuristic, limits=limit)
        assert (result.outcome, result.plan, result.cost) == (outcome, None, None)
    counted = aoca_star(task, task.init, 0, heuristic, limits=SearchLimits(expansions=50))
    assert counted.expanded == 50


def test_it_can_be_cancelled() -> None:
    task, control = dials(10, 8, solvable=False), Control()
    results: list[SearchResult] = []
    thread = threading.Thread(
        target=lambda: results.append(aoca_star(task, task.init, 0, "blind", control=control))
    )
    thread.start()
    deadline = time.monotonic() + PATIENCE
    while control.expanded == 0 and time.monotonic() < deadline:
        time.sleep(0.001)
    control.cancel()
    thread.join(PATIENCE)
    assert [result.outcome for result in results] == [Outcome.CANCELLED]


def test_wrong_questions_are_refused() -> None:
    task = graph((0, 1, 1), (1, 2, 1), goal=2)
    with pytest.raises(UsageError, match="not applicable"):
        aoca_star(task, (0,), 1)
    with pytest.raises(UsageError, match="may overestimate"):
        aoca_star(task, (0,), 0, "ff")
    with pytest.raises(UsageError, match="unknown heuristic 'magic'"):
        aoca_star(task, (0,), 0, "magic")
    with pytest.raises(ValueError, match=r"expected shape \(3,\), got \(8,\)"):
        aoca_star(task, (0,), 0, np.zeros(8, np.int64))
    with pytest.raises(ValueError, match="out of range"):
        aoca_star(task, (0,), 0, plan_cost=-1)
