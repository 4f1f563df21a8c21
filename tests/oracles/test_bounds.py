"""Bounds fall, are passed on, and can always say why (P13, P23-P25)."""

import pytest
from reference.random_tasks import make_task
from reference.soundness import TablePolicy

from engine.oracles.bounds import Bounds
from engine.policies.runs import PolicyRuns
from engine.records.evidence import Morph, Walk
from engine.records.finding import INFINITY
from engine.task.states import StateTable
from engine.task.task import Operator
from engine.verify.evidence import verify


def chain(costs: list[int]) -> StateTable:
    """States 0, 1, 2, ... of one variable; operator k leads from k to k + 1."""
    operators = tuple(
        Operator(f"go {k}", ((0, k),), ((0, k + 1),), cost) for k, cost in enumerate(costs)
    )
    task = make_task((len(costs) + 1,), operators, (0,), ((0, len(costs)),))
    table = StateTable(task)
    table.add([(value,) for value in range(len(costs) + 1)])
    return table


def test_a_plan_bounds_every_state_on_it() -> None:
    table = chain([3, 1, 2])
    bounds = Bounds(table)
    bounds.add_plan(0, [0, 1, 2], "astar")
    assert [bounds.u(state) for state in range(4)] == [6, 3, 2, 0]
    assert bounds.evidence(1).steps == (Walk((1, 2), "astar"),)
    assert sorted(bounds.take_changed()) == [0, 1, 2, 3]
    assert bounds.take_changed() == []


def test_a_path_without_a_goal_says_nothing_until_its_end_has_a_bound() -> None:
    table = chain([3, 1, 2])
    bounds = Bounds(table)
    bounds.add_path([0, 1], [0], "run", register=True)
    assert bounds.u(0) == INFINITY
    bounds.add_plan(1, [1, 2], "aras")
    assert bounds.u(0) == 6
    assert bounds.evidence(0).steps == (Walk((0,), "run"), Walk((1, 2), "aras"))


def test_falls_reach_policy_parents_with_the_parents_own_costs() -> None:
    """P24: what a parent pays is the cost of its own operator."""
    table = chain([5, 1, 2])
    runs = PolicyRuns(TablePolicy({(state,): state for state in range(3)}), table)
    bounds = Bounds(table, runs)
    runs.run([0])
    bounds.add_plan(2, [2], "astar")
    assert [bounds.u(state) for state in range(3)] == [8, 3, 2]


def test_several_children_and_a_late_improvement() -> None:
    """P25: the diamond. The expensive way comes first; the cheap one must reach all ancestors."""
    up = Operator("up", ((0, 0),), ((0, 1),), 1)
    costly = Operator("costly", ((0, 1),), ((0, 2),), 9)
    cheap = Operator("cheap", ((0, 1),), ((0, 3),), 1)
    last = Operator("last", ((0, 2),), ((0, 4),), 1)
    end = Operator("end", ((0, 3),), ((0, 4),), 1)
    task = make_task((5,), (up, costly, cheap, last, end), (0,), ((0, 4),))
    table = StateTable(task)
    table.add([(value,) for value in range(5)])
    bounds = Bounds(table)
    bounds.add_path([0, 1, 2], [0, 1], "one", register=True)
    bounds.add_path([1, 3], [2], "two", register=True)
    bounds.add_plan(2, [3], "x")
    assert bounds.u(0) == 11
    bounds.add_plan(3, [4], "y")
    assert bounds.u(0) == 3
    assert verify(bounds.evidence(0), task).bound == 3


def test_dominance_needs_a_bound_to_start_from() -> None:
    """P13: D(s, t) says nothing if no plan for s is known."""
    table = chain([3, 1])
    bounds = Bounds(table)
    bounds.add_morph(0, 1, 5, "bmo")
    assert bounds.u(0) == INFINITY
    bounds.add_plan(1, [1], "astar")
    bounds.add_morph(0, 1, -2, "bmo")
    assert bounds.u(0) == 3
    assert bounds.evidence(0).steps == (Morph((1,), -2, "bmo"), Walk((1,), "astar"))


def test_a_worse_bound_changes_nothing() -> None:
    table = chain([3, 1])
    bounds = Bounds(table)
    bounds.add_plan(0, [0, 1], "astar")
    bounds.take_changed()
    bounds.add_path([0, 1, 2], [0, 1], "other")
    assert bounds.take_changed() == []
    assert bounds.evidence(0).steps == (Walk((0, 1), "astar"),)


def test_a_plan_that_is_none_is_refused() -> None:
    """P45: no plan is trusted."""
    bounds = Bounds(chain([3, 1]))
    with pytest.raises(ValueError, match="not applicable"):
        bounds.add_plan(0, [1], "liar")


def test_no_evidence_without_knowledge() -> None:
    with pytest.raises(ValueError, match="nothing is known"):
        Bounds(chain([3])).evidence(0)


def test_plans_are_known_apart_from_dominance_values() -> None:
    """A plan that only equals what a dominance value says is news where that is in doubt."""
    table = chain([3, 1, 2])
    bounds = Bounds(table)
    bounds.add_plan(2, [2], "astar")
    assert bounds.plans is bounds
    bounds.add_morph(0, 2, -4, "bmo")
    assert (bounds.u(0), bounds.plans.u(0)) == (6, INFINITY)
    assert (bounds.u(2), bounds.plans.u(2)) == (2, 2)
    bounds.take_changed(), bounds.plans.take_changed()
    bounds.add_plan(0, [0, 1, 2], "gbfs")
    assert bounds.take_changed() == [1]
    assert sorted(bounds.plans.take_changed()) == [0, 1]
    assert isinstance(bounds.evidence(0).steps[0], Morph)
    assert bounds.plans.evidence(0).is_plan


def test_predecessors_that_are_known_later_hear_of_plans() -> None:
    table = chain([3, 1, 2])
    bounds = Bounds(table)
    bounds.add_plan(2, [2], "astar")
    bounds.add_morph(0, 2, -9, "bmo")
    bounds.add_path([0, 1], [0], "run", register=True)
    bounds.add_plan(1, [1, 2], "aras")
    assert (bounds.u(0), bounds.plans.u(0)) == (6, 6)


def test_a_plan_that_a_morph_hides_is_passed_on_to_predecessors_that_came_later() -> None:
    table = chain([1, 1, 1])
    runs = PolicyRuns(TablePolicy({(0,): 0}), table)
    bounds = Bounds(table, runs)
    bounds.add_plan(2, [2], "astar")
    bounds.add_morph(1, source=2, gain=0, origin="smo")
    runs.decisions([0])
    bounds.add_path([1, 2], [1], "run")
    assert [bounds.plans.u(state) for state in range(2)] == [3, 2]
    assert [bounds.u(state) for state in range(2)] == [2, 1]
