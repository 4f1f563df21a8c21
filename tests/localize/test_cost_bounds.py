"""Bounds of costs-to-go stay true, and as tight as the known transitions make them."""

from __future__ import annotations

from random import Random

import pytest
from reference import fdr
from reference.small_tasks import task_of
from reference.soundness import Truth, random_task, roundabout_policy

from engine.localize.cost_bounds import CostBounds
from engine.records.finding import INFINITY
from engine.task.states import StateTable

# Three ways from 0 to the goal 4, of cost 2 + 2, 1 + 5 and 9; 5 is a trap behind 1.
WAYS = task_of(
    (6,),
    [
        ("up", {0: 0}, {0: 1}, 2),
        ("on", {0: 1}, {0: 4}, 2),
        ("down", {0: 0}, {0: 2}, 1),
        ("along", {0: 2}, {0: 4}, 5),
        ("jump", {0: 0}, {0: 4}, 9),
        ("fall", {0: 1}, {0: 5}, 0),
        ("slide", {0: 5}, {0: 3}, 0),
    ],
    (0,),
    {0: 4},
)


def bounds_of_ways() -> tuple[CostBounds, dict[int, int]]:
    table = StateTable(WAYS)
    ids = {value: int(table.add((value,))[0]) for value in range(6)}
    return CostBounds(table), ids


def test_nothing_is_known_at_first() -> None:
    bounds, ids = bounds_of_ways()
    assert (bounds.low(ids[0]), bounds.high(ids[0])) == (0, INFINITY)
    assert bounds.plan(ids[0]) is None
    assert not bounds.is_settled(ids[0])


def test_a_fall_is_passed_back_and_changes_the_plan() -> None:
    bounds, ids = bounds_of_ways()
    bounds.add_path([ids[0], ids[2]], [2])
    assert bounds.high(ids[0]) == INFINITY
    bounds.add_plan(ids[0], [4], optimal=False)
    assert (bounds.high(ids[0]), bounds.plan(ids[0])) == (9, (4,))
    bounds.add_plan(ids[2], [3], optimal=False)
    assert (bounds.high(ids[0]), bounds.plan(ids[0])) == (6, (2, 3))
    bounds.add_plan(ids[0], [0, 1], optimal=True)
    assert bounds.plan(ids[0]) == (0, 1)
    assert [bounds.low(ids[x]) for x in (0, 1, 4)] == [4, 2, 0]
    assert bounds.is_exact(ids[1])
    assert bounds.low(ids[2]) == 3  # 4 - 1: one more would be a cheaper way from 0


def test_a_dead_end_stays_one() -> None:
    bounds, ids = bounds_of_ways()
    bounds.add_path([ids[1], ids[5], ids[3]], [5, 6])
    bounds.raise_low(ids[5], INFINITY)
    assert [bounds.low(ids[x]) for x in (1, 5, 3)] == [0, INFINITY, INFINITY]
    assert bounds.is_settled(ids[3])
    assert bounds.is_exact(ids[3])


@pytest.mark.parametrize("value", [5, INFINITY])
def test_contradictions_are_not_believed(value: int) -> None:
    bounds, ids = bounds_of_ways()
    bounds.add_plan(ids[0], [0, 1], optimal=False)
    with pytest.raises(RuntimeError, match="above an upper one"):
        bounds.raise_low(ids[0], value)
    bounds, ids = bounds_of_ways()
    bounds.raise_low(ids[0], value)
    with pytest.raises(RuntimeError, match="above an upper one"):
        bounds.add_plan(ids[0], [0, 1], optimal=False)


@pytest.mark.parametrize("seed", range(8))
def test_bounds_hold_whatever_is_learned_in_whatever_order(seed: int) -> None:
    random = Random(seed)
    truth = Truth.of(random_task(random))
    task, hstar = truth.task, truth.hstar
    table = StateTable(task)
    bounds = CostBounds(table)
    policy = roundabout_policy(truth, random)
    edges = [(s, o, t) for s in truth.states for o, t in fdr.successors(task, s)]
    for _ in range(150):
        state = random.choice(truth.states)
        number = int(table.add(state)[0])
        match random.randrange(3):
            case 0:
                source, operator, target = random.choice(edges)
                bounds.add_path(table.add([source, target]).tolist(), [operator])
            case 1 if hstar[state] != fdr.INFINITY:
                plan: list[int] = []
                while not fdr.holds(task.goal, state):
                    plan.append(policy[state])
                    state = fdr.apply(task, task.operators[policy[state]], state)
                bounds.add_plan(number, plan, optimal=False)
            case _:
                exact = random.random() < 0.3 or hstar[state] == 0
                below = hstar[state] if exact else random.randrange(min(hstar[state], 10))
                bounds.raise_low(number, below)
    for state in truth.states:
        number = int(table.add(state)[0])
        assert bounds.low(number) <= hstar[state] <= bounds.high(number)
        plan_found = bounds.plan(number)
        if plan_found is not None:
            assert fdr.plan_cost(task, plan_found, state, task.goal) == bounds.high(number)
        else:
            assert bounds.high(number) == INFINITY
