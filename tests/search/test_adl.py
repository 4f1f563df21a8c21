"""Kernels on tasks with conditional effects and axioms, against h* by plain Python.

The random tasks are small enough to look at every combination of values of the state variables,
reachable or not, and unusual enough to show most wrong rules within a few hundred of them.
"""

from __future__ import annotations

from functools import cache
from random import Random

import numpy as np
import pytest
from reference import fdr
from reference.adl_tasks import adl_tasks, axiom_task, flipped
from reference.amount import amount
from reference.random_tasks import make_task
from reference.relaxation import LMCUT_RULES

from engine.errors import UsageError
from engine.native.library import Outcome
from engine.records.finding import INFINITY
from engine.search.exhaustive import hstar_all
from engine.search.forward import search
from engine.search.heuristics import (
    BUILT_FOR_STATE,
    CartesianOptions,
    Evaluator,
    build_cartesian,
    build_merge_and_shrink,
)
from engine.task.cases import MAX_CASES, case_count
from engine.task.states import StateTable
from engine.task.task import ConditionalEffect, Operator, Task

COUNT = amount(4000, 240)
PIECES = 6  # the tests of LM-cut share the tasks


@cache
def solved(part: int) -> list[tuple[Task, list[fdr.State], list[int]]]:
    """Tasks, all their states, and h* of each."""
    result = []
    for number, task in enumerate(adl_tasks(COUNT)):
        if number % PIECES == part:
            states = fdr.all_states(task)
            truth = fdr.optimal_costs(task, states)
            result.append((task, states, [truth[state] for state in states]))
    return result


PARTS = pytest.mark.parametrize("part", range(PIECES))


@PARTS
def test_successors_and_true_costs(part: int) -> None:
    for task, states, truth in solved(part):
        table = StateTable(task)
        ids = table.add(states)
        assert (table.add([flipped(task, state) for state in states]) == ids).all()
        assert (table.find([flipped(task, state) for state in states]) == ids).all()
        row_begin, operators, after = table.successors_of(ids)
        for row, state in enumerate(states):
            span = slice(row_begin[row], row_begin[row + 1])
            expected = fdr.successors(task, state)
            assert operators[span].tolist() == [o for o, _ in expected]
            assert [tuple(s) for s in table.values(after[span]).tolist()] == [
                s for _, s in expected
            ]
        assert table.is_goal(ids).tolist() == [fdr.holds(task.goal, state) for state in states]
        product, costs = hstar_all(task, "product")
        assert len(product) == len(states)
        assert costs[product.find(states)].tolist() == truth


@PARTS
def test_hmax_is_admissible_safe_and_consistent(part: int) -> None:
    for task, states, truth in solved(part):
        costs = np.array(truth)
        hmax = Evaluator(task, "hmax")(states)
        assert (hmax <= costs).all()
        for name in ("hadd", "ff", "hadd-unit"):
            assert ((Evaluator(task, name)(states) == INFINITY) == (hmax == INFINITY)).all()
        value = dict(zip(states, hmax.tolist(), strict=True))
        for state in states:
            for operator, after in fdr.successors(task, state):
                if value[after] != INFINITY:
                    assert value[state] <= task.operators[operator].cost + value[after]


@pytest.mark.parametrize("rule", LMCUT_RULES)
def test_lmcut_is_admissible_and_blind_to_none_of_the_dead_ends_of_hmax(rule: str) -> None:
    for part in range(PIECES):
        for task, states, truth in solved(part):
            values, hmax = Evaluator(task, rule)(states), Evaluator(task, "hmax")(states)
            assert (values <= np.array(truth)).all()
            assert (values[hmax == INFINITY] == INFINITY).all()
            assert (values[hmax > 0] > 0).all()


@pytest.mark.parametrize("rule", LMCUT_RULES)
def test_incremental_lmcut_is_admissible(rule: str) -> None:
    for part in range(PIECES):
        for task, states, truth in solved(part):
            cost = dict(zip(states, truth, strict=True))
            evaluator = Evaluator(task, rule)
            for state in states[part::5]:
                reached = fdr.successors(task, state)
                values = evaluator.successors(state, [o for o, _ in reached])
                for (_, after), value in zip(reached, values.tolist(), strict=True):
                    assert value <= cost[after]


@PARTS
def test_searches_find_what_there_is(part: int) -> None:
    for task, states, truth in solved(part):
        best = dict(zip(states, truth, strict=True))[task.init]
        for heuristic in ("blind", "lmcut", "hmax"):
            found = search(task, heuristic=heuristic)
            if best == INFINITY:
                assert found.outcome is Outcome.UNSOLVABLE
            else:
                assert found.cost == best
                assert fdr.plan_cost(task, found.plan or (), task.init, task.goal) == best
        greedy = search(task, algorithm="gbfs", heuristic="ff")
        assert (greedy.outcome is Outcome.SOLVED) == (best < INFINITY)
        if greedy.plan is not None:
            assert fdr.plan_cost(task, greedy.plan, task.init, task.goal) == greedy.cost


@PARTS
def test_p60_merge_and_shrink_is_exact_within_its_limits(part: int) -> None:
    """Above them it is admissible: an operator is then one label with every step it may take."""
    for task, states, truth in solved(part)[:: amount(1, 3)]:
        if task.derived_variables:
            continue
        cost = dict(zip(states, truth, strict=True))
        reachable = fdr.reachable_states(task)
        values = build_merge_and_shrink(task)(reachable).tolist()
        exact = [cost[state] for state in reachable]
        if all(case_count(operator, task) <= MAX_CASES for operator in task.operators):
            assert values == exact
        assert all(value <= true for value, true in zip(values, exact, strict=True))


def many_cases(seed: int) -> Task:
    """An operator that moves values between many variables: 2^7 cases, one label."""
    random = Random(seed)
    effects: tuple[ConditionalEffect, ...] = tuple(
        (((random.randrange(7), 1),), (v, random.randrange(2))) for v in range(7) for _ in range(2)
    )
    effects += tuple((((v, 1),), ((v + 1) % 7, 1)) for v in range(7))
    operators = (
        Operator("mix", (), (), 2, effects),
        *(Operator(f"set {v}", (), ((v, random.randrange(2)),), 1) for v in range(4)),
    )
    init = tuple(random.randrange(2) for _ in range(7))
    return make_task((2,) * 7, operators, init, tuple((v, 1) for v in range(3)))


def test_p60_merge_and_shrink_above_the_limits_is_admissible() -> None:
    weaker = 0
    for seed in range(amount(60, 12)):
        task = many_cases(seed)
        assert case_count(task.operators[0], task) > MAX_CASES
        states = fdr.reachable_states(task)
        truth = fdr.optimal_costs(task, states)
        values = build_merge_and_shrink(task)(states).tolist()
        assert all(value <= truth[state] for state, value in zip(states, values, strict=True))
        weaker += any(value < truth[state] for state, value in zip(states, values, strict=True))
    assert weaker


@PARTS
def test_cartesian_abstractions_are_admissible_on_the_split_task(part: int) -> None:
    for task, states, truth in solved(part)[:: amount(1, 3)]:
        if task.derived_variables:
            continue
        cost = dict(zip(states, truth, strict=True))
        reachable = fdr.reachable_states(task)
        values = build_cartesian(task, options=CartesianOptions(max_transitions=None))(reachable)
        assert all(v <= cost[s] for s, v in zip(reachable, values.tolist(), strict=True))
        assert values[0] == cost[task.init] or len(task.goal) > 1
        found = search(task, heuristic="cartesian")
        assert (INFINITY if found.cost is None else found.cost) == cost[task.init]


@pytest.mark.parametrize(("heuristic", "name"), [("ms", "merge-and-shrink"), ("cartesian", "Cart")])
def test_abstractions_decline_axioms_by_name(heuristic: str, name: str) -> None:
    task = axiom_task(3)
    with pytest.raises(UsageError, match=f"{name}.*axioms"):
        search(task, heuristic=heuristic)
    with pytest.raises(UsageError, match=f"{name}.*axioms"):
        Evaluator(task, heuristic)
    with pytest.raises(UsageError, match=f"{name}.*axioms"):
        BUILT_FOR_STATE[heuristic](task, None, None)


def test_cartesian_abstractions_name_the_operator_that_is_too_much() -> None:
    effects: tuple[ConditionalEffect, ...] = tuple(
        (((v, 1),), ((v + 1) % 20, 0)) for v in range(20)
    )
    task = make_task((2,) * 20, (Operator("turn r", (), (), 1, effects),), (1,) * 20, ((0, 0),))
    with pytest.raises(UsageError, match=r"\(turn r\)"):
        search(task, heuristic="cartesian")


def test_p62_plans_name_operators_not_cases() -> None:
    effects: tuple[ConditionalEffect, ...] = ((((0, 0),), (1, 1)), (((0, 1),), (1, 2)))
    operators = (
        Operator("step", (), (), 1, effects),
        Operator("turn", (), (), 1, ((((1, 1),), (0, 1)),)),
    )
    task = make_task((3, 3), operators, (0, 0), ((1, 2),))
    for heuristic in ("blind", "hmax", "lmcut", "ms", "cartesian"):
        found = search(task, heuristic=heuristic)
        assert found.plan == (0, 1, 0)
        assert found.cost == 3
