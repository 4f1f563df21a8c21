"""The verifier's own search knows h*, or says that it does not."""

from __future__ import annotations

from random import Random

import pytest
from reference.fdr import all_states, optimal_costs, reachable_states
from reference.random_tasks import dials, make_task
from reference.soundness import random_task

from engine.records.finding import INFINITY
from engine.records.verification import Standing
from engine.task.task import Operator
from engine.verify.cost_to_go import CostToGo
from engine.verify.optimality import check_at_least


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
    costs = CostToGo(task, 30)  # three states per search, and a plan has eight steps
    assert costs.is_reachable(task.init) is None
    cost = optimal_costs(task, all_states(task))[task.init]
    assert 2 <= costs.low(task.init, 2) <= cost
    assert costs.high(task.init) == INFINITY


def test_goals_that_have_nothing_to_do_with_each_other_add_up() -> None:
    """5 ** 12 states, of which a search needs those of one plan."""
    task = dials(12, 5)
    costs = CostToGo(task, 1000)
    assert (costs.low(task.init), costs.high(task.init)) == (24, 24)


def test_an_operator_that_reaches_two_goals_is_paid_for_once() -> None:
    both = Operator("both", (), ((0, 1), (1, 1)), 3)
    task = make_task((2, 2), (both,), (0, 0), ((0, 1), (1, 1)))
    costs = CostToGo(task)
    assert (costs.low(task.init), costs.high(task.init)) == (3, 3)


def test_what_is_not_known_says_the_limit() -> None:
    task = dials(4, 5, solvable=False)
    costs = CostToGo(task, 50)
    verdict = check_at_least(costs, task.init, INFINITY)
    assert verdict.standing is Standing.UNDECIDED
    assert "more than 5 states for one plan, or 50 for all" in verdict.reason
