"""The verifier's own search knows h*, or says that it does not."""

from __future__ import annotations

from random import Random

import pytest
from reference.fdr import all_states, optimal_costs, reachable_states
from reference.random_tasks import dials
from reference.soundness import random_task

from engine.records.finding import INFINITY
from engine.verify.cost_to_go import CostToGo


@pytest.mark.parametrize("seed", range(12))
def test_costs_are_those_of_the_definition(seed: int) -> None:
    """Laid out, and asked one by one."""
    task = random_task(Random(seed))
    states = all_states(task)
    truth = optimal_costs(task, states)
    explored, asked = CostToGo(task), CostToGo(task, 10**7)
    explored.explore([task.init], states)
    for state in states:
        cost = truth[state]
        assert (explored.low(state), explored.high(state)) == (cost, cost)
        assert (asked.low(state), asked.high(state)) == (cost, cost)
    reached = set(reachable_states(task))
    assert [state for state in states if explored.is_reachable(state)] == [
        state for state in states if state in reached
    ]


@pytest.mark.parametrize("seed", range(12))
def test_what_a_limit_leaves_is_still_a_bound(seed: int) -> None:
    task = random_task(Random(seed))
    truth = optimal_costs(task, all_states(task))
    costs = CostToGo(task, 20)
    costs.explore([task.init])
    for state in all_states(task):
        cost = truth[state]
        assert costs.low(state) <= cost <= costs.high(state)
        assert costs.low(state, 2) <= cost


def test_a_lower_bound_is_searched_for_only_as_far_as_it_is_wanted() -> None:
    task = dials(4, 5)
    costs = CostToGo(task, 100)
    assert costs.is_reachable(task.init) is None
    cost = optimal_costs(task, all_states(task))[task.init]
    assert 2 <= costs.low(task.init, 2) <= cost
    assert costs.high(task.init) == INFINITY
