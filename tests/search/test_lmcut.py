"""LM-cut with every rule: admissible in all states, reachable or not, and blind to none of h_max's
dead ends. It may be below h_max in single states; it is 0 only where h_max is.
"""

from __future__ import annotations

import random
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import fdr
from reference.amount import amount
from reference.dense_tasks import dense_task
from reference.random_tasks import dials, make_task, tasks
from reference.relaxation import LMCUT_RULES

from engine.records.finding import INFINITY
from engine.search.exhaustive import hstar_all
from engine.search.forward import search
from engine.search.heuristics import Evaluator
from engine.task.task import Operator, Task

RULES = pytest.mark.parametrize("rule", LMCUT_RULES)

TASKS = tasks(variables=(2, 4), values=(1, 4), operators=20) | tasks(
    variables=(3, 4), values=(2, 3), operators=24, costs=(0, 1, 1)
)
LARGE_COSTS = tasks(
    variables=(2, 4), values=(1, 4), operators=20, costs=(0, 1, 4000, 10**6, 2**31, 2**32)
)


@cache
def solved_dense_task(seed: int) -> tuple[Task, list[fdr.State], dict[fdr.State, int]]:
    """A task, all its states, and h* of each.

    Here a cut has operators that come after facts dearer than the goal: leave those out and every
    fourth of these tasks shows a value above h*.
    """
    task = dense_task(seed)
    table, costs = hstar_all(task, "product")
    states = [tuple(row) for row in table.values(np.arange(len(costs))).tolist()]
    return task, states, dict(zip(states, costs.tolist(), strict=True))


@RULES
def test_admissible_in_dense_tasks(rule: str) -> None:
    for seed in range(amount(36, 12)):
        task, states, truth = solved_dense_task(seed)
        values, hmax = Evaluator(task, rule)(states), Evaluator(task, "hmax")(states)
        assert (values <= np.array([truth[state] for state in states])).all(), seed
        assert ((values == INFINITY) == (hmax == INFINITY)).all(), seed
        assert ((values == 0) == (hmax == 0)).all(), seed


@RULES
def test_admissible_for_successors_in_dense_tasks(rule: str) -> None:
    for seed in range(amount(36, 12)):
        task, states, truth = solved_dense_task(seed)
        evaluator = Evaluator(task, rule)
        for state in states[seed % 7 :: 7]:
            reached = fdr.successors(task, state)
            values = evaluator.successors(state, [o for o, _ in reached])
            for (_, successor), value in zip(reached, values.tolist(), strict=True):
                assert value <= truth[successor], seed


@RULES
@settings(max_examples=amount(60, 20))
@given(task=TASKS | LARGE_COSTS)
def test_never_above_the_true_cost_and_infinite_exactly_where_hmax_is(
    rule: str, task: Task
) -> None:
    states = fdr.all_states(task)
    truth = fdr.optimal_costs(task, states)
    values, hmax = Evaluator(task, rule)(states), Evaluator(task, "hmax")(states)
    assert all(value <= truth[state] for state, value in zip(states, values, strict=True))
    assert ((values == INFINITY) == (hmax == INFINITY)).all()
    assert ((values == 0) == (hmax == 0)).all()


@RULES
@settings(max_examples=amount(40, 14))
@given(task=TASKS)
def test_landmarks_passed_on_to_successors_keep_the_value_admissible(rule: str, task: Task) -> None:
    states = fdr.all_states(task)
    truth = fdr.optimal_costs(task, states)
    dead = {
        s
        for s, hmax in zip(states, Evaluator(task, "hmax")(states), strict=True)
        if hmax == INFINITY
    }
    evaluator = Evaluator(task, rule)
    for state in states[:: len(states) // 50 + 1]:
        before = evaluator([state])[0]
        reached = fdr.successors(task, state)
        values = evaluator.successors(state, [o for o, _ in reached])
        for (o, successor), value in zip(reached, values.tolist(), strict=True):
            assert value <= truth[successor]
            assert (value == INFINITY) == (successor in dead)
            assert before == INFINITY or value >= before - task.operators[o].cost


@RULES
@settings(max_examples=amount(30, 12))
@given(task=TASKS, seed=st.integers(0, 99))
def test_a_value_does_not_depend_on_what_was_evaluated_before(
    rule: str, task: Task, seed: int
) -> None:
    states = fdr.all_states(task)
    first, rest = states[0], states[1:]
    expected = dict(zip(states, Evaluator(task, rule)(states).tolist(), strict=True))
    evaluator = Evaluator(task, rule)
    evaluator([first])
    random.Random(seed).shuffle(rest)
    for state in rest[:50]:
        assert evaluator([state])[0] == expected[state]
        evaluator.successors(state, fdr.applicable(task, state))


@RULES
def test_independent_goals_add_up(rule: str) -> None:
    task = dials(3, 5)
    assert Evaluator(task, "hmax")([task.init])[0] == 2
    assert Evaluator(task, rule)([task.init])[0] == 6


@RULES
def test_a_cost_shared_by_two_goals_counts_once(rule: str) -> None:
    key = Operator("key", (), ((0, 1),), 3)
    doors = tuple(Operator(f"door {v}", ((0, 1),), ((v, 1),), 2) for v in (1, 2))
    task = make_task((2, 2, 2), (key, *doors), (0, 0, 0), ((1, 1), (2, 1)))
    assert Evaluator(task, rule)([task.init])[0] == 7


@RULES
def test_zero_cost_operators_are_no_landmarks(rule: str) -> None:
    steps = tuple(
        Operator(f"step {x}", ((0, x),), ((0, x + 1),), cost) for x, cost in enumerate((0, 4, 0, 0))
    )
    task = make_task((5,), steps, (0,), ((0, 4),))
    assert Evaluator(task, rule)([(x,) for x in range(5)]).tolist() == [4, 4, 0, 0, 0]


@RULES
def test_of_equal_operators_the_cheapest_counts(rule: str) -> None:
    """And of comparable ones the one that needs less and gives more."""
    operators = (
        Operator("costly", ((1, 0),), ((0, 1),), 9),
        Operator("equal", ((1, 0),), ((0, 1),), 4),
        Operator("more", (), ((0, 1), (2, 1)), 3),
    )
    task = make_task((2, 2, 2), operators, (0, 0, 0), ((0, 1),))
    assert Evaluator(task, rule)([task.init])[0] == 3


@RULES
def test_costs_that_do_not_fit_32_bits(rule: str) -> None:
    task = dials(4, 7, costs=(2**32, 2**32 - 1))
    assert Evaluator(task, rule)([task.init])[0] == 3 * (4 * 2**32 - 2)


@RULES
def test_an_empty_goal_costs_nothing(rule: str) -> None:
    task = make_task((2,), (Operator("set", (), ((0, 1),), 1),), (0,), ())
    assert Evaluator(task, rule)([(0,), (1,)]).tolist() == [0, 0]


@settings(max_examples=amount(30, 12))
@given(TASKS)
def test_the_first_state_chooses_the_rule(task: Task) -> None:
    states = fdr.all_states(task)
    delay_open, fglobal, chosen = (
        Evaluator(task, rule)(states).tolist()
        for rule in ("lmcut-delay_open", "lmcut-fglobal", "lmcut")
    )
    assert chosen == (fglobal if fglobal[0] > delay_open[0] else delay_open)


@RULES
def test_astar_evaluates_few_states_where_goals_are_independent(rule: str) -> None:
    task = dials(6, 9)
    result = search(task, "astar", rule)
    assert result.cost == 6 * 4
    assert result.expanded == 6 * 4
