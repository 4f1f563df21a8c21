"""Aras: never dearer, always a plan, as good as its neighborhood, and always at an end."""

from __future__ import annotations

import threading
import time

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference import fdr
from reference.amount import amount
from reference.aras import action_elimination
from reference.random_tasks import counter, dials, make_task, tasks

from engine.errors import PlanError
from engine.native.control import Control
from engine.native.library import Outcome
from engine.records.finding import INFINITY
from engine.search.aras import Improvement, aras
from engine.search.forward import SearchLimits
from engine.task.task import Operator, Task

PATIENCE = 300.0
"""Seconds until something is surely broken: machines are slow at times."""
ONLY_ELIMINATION = 1
"""As the largest number of states: those of the plan are too many to look around them."""


@st.composite
def wandering_plans(draw: st.DrawFn) -> tuple[Task, fdr.State, tuple[int, ...]]:
    """A task with a random walk; its goal is a part of where the walk ends."""
    task = draw(tasks(variables=(2, 4), values=(1, 4), operators=16, costs=(0, 0, 1, 1, 2, 5)))
    start = draw(st.sampled_from(fdr.all_states(task)))
    state, plan = start, []
    for _ in range(draw(st.integers(0, 25))):
        operators = fdr.applicable(task, state)
        if not operators:
            break
        plan.append(draw(st.sampled_from(operators)))
        state = fdr.apply(task, task.operators[plan[-1]], state)
    goal = tuple(fact for fact in enumerate(state) if draw(st.booleans()))
    return make_task(task.domain_sizes, task.operators, start, goal), start, tuple(plan)


@settings(max_examples=amount(50, 16))
@given(wandering_plans())
def test_with_time_enough_the_plan_becomes_optimal(
    case: tuple[Task, fdr.State, tuple[int, ...]],
) -> None:
    task, start, plan = case
    result = aras(task, start, plan)
    assert result.exhausted
    assert result.outcome is Outcome.NO_CHEAPER_PLAN
    assert fdr.plan_cost(task, result.plan, start, task.goal) == result.cost
    assert result.cost == fdr.optimal_costs(task, fdr.all_states(task))[start]
    costs = [improvement.cost for improvement in result.improvements]
    assert costs == sorted(set(costs), reverse=True)
    given_cost = fdr.plan_cost(task, plan, start, task.goal)
    assert result.cost == (costs[-1] if costs else given_cost)


@settings(max_examples=amount(50, 16))
@given(wandering_plans(), st.integers(1, 40), st.integers(1, 8), st.integers(1, 60))
def test_with_little_it_is_never_worse(
    case: tuple[Task, fdr.State, tuple[int, ...]], expansions: int, first: int, most: int
) -> None:
    task, start, plan = case
    limits = SearchLimits(expansions=expansions)
    result = aras(task, start, plan, limits, first_size=first, max_states=most)
    given_cost = fdr.plan_cost(task, plan, start, task.goal)
    assert given_cost is not None
    assert fdr.plan_cost(task, result.plan, start, task.goal) == result.cost <= given_cost
    assert result.expansions <= expansions
    if result.exhausted:
        assert result.cost == fdr.optimal_costs(task, fdr.all_states(task))[start]


@settings(max_examples=amount(50, 16))
@given(wandering_plans())
def test_action_elimination_agrees_with_its_definition(
    case: tuple[Task, fdr.State, tuple[int, ...]],
) -> None:
    task, start, plan = case
    assume(not fdr.holds(task.goal, start))  # else the one state that is looked at is enough
    result = aras(task, start, plan, max_states=ONLY_ELIMINATION)
    assert result.plan == action_elimination(task, start, plan, task.goal)


def test_actions_without_effect_are_removed_even_if_they_cost_nothing() -> None:
    operators = (
        Operator("nothing", (), (), 0),
        Operator("go", ((0, 0),), ((0, 1),), 1),
        Operator("stay", ((0, 1),), ((0, 1),), 0),
    )
    task = make_task((2,), operators, (0,), ((0, 1),))
    result = aras(task, task.init, (0, 1, 2, 0, 2))
    assert result.plan == (1,)
    assert result.cost == 1
    assert result.exhausted
    assert result.improvements == ()


def test_an_action_goes_together_with_those_that_needed_it() -> None:
    """Take and drop are not needed, but neither can be left out alone."""
    operators = (
        Operator("take", ((0, 0),), ((0, 1),), 1),
        Operator("drop", ((0, 1),), ((0, 0),), 1),
        Operator("work", ((0, 0),), ((1, 1),), 1),
    )
    task = make_task((2, 2), operators, (0, 0), ((1, 1),))
    result = aras(task, task.init, (0, 1, 2), max_states=ONLY_ELIMINATION)
    assert result.plan == (2,)


def test_a_detour_is_cut_by_search_around_the_plan() -> None:
    """Every action of the detour is needed; only an action outside the plan is cheaper."""
    steps = tuple(Operator(f"step {x}", ((0, x),), ((0, x + 1),), 1) for x in range(6))
    short = Operator("short", ((0, 1),), ((0, 5),), 2)
    task = make_task((7,), (*steps, short), (0,), ((0, 6),))
    heard: list[Improvement] = []
    result = aras(task, task.init, range(6), on_improvement=heard.append)
    assert result.plan == (0, 6, 5)
    assert result.cost == 4
    assert tuple(heard) == result.improvements
    assert [improvement.cost for improvement in heard] == [4]


def test_zero_cost_cycles_end() -> None:
    """P46"""
    turns = tuple(
        Operator(f"turn {x} {y}", ((0, x),), ((0, y),), 0)
        for x in range(4)
        for y in range(4)
        if x != y
    )
    goal = Operator("goal", ((0, 3),), ((1, 1),), 1)
    task = make_task((4, 2), (*turns, goal), (0, 0), ((1, 1),))
    names = ["turn 0 1", "turn 1 2", "turn 2 0", "turn 0 2", "turn 2 1", "turn 1 3", "goal"]
    result = aras(task, task.init, [task.operator_index[name] for name in names], first_size=1)
    assert result.exhausted
    assert result.cost == 1
    assert result.improvements == ()


def test_another_goal_and_another_start() -> None:
    task = dials(2, 8)
    plan = [o for o in range(len(task.operators)) if task.operators[o].name == "turn 0 3 4"]
    result = aras(task, (3, 0), plan, goal=((0, 4),))
    assert result.plan == tuple(plan)
    with pytest.raises(PlanError, match="goal"):
        aras(task, (3, 0), plan)


@pytest.mark.parametrize("plan", [(1,), (0, 0), (), (99,), (-1,)])
def test_what_is_no_plan_is_refused(plan: tuple[int, ...]) -> None:
    operators = (Operator("a", ((0, 0),), ((0, 1),), 1), Operator("b", ((0, 1),), ((0, 2),), 1))
    task = make_task((3,), operators, (0,), ((0, 2),))
    with pytest.raises(PlanError):
        aras(task, task.init, plan)


def long_way(task: Task) -> tuple[int, ...]:
    """The plan of a counter: there is only one."""
    state, plan = task.init, []
    while not fdr.holds(task.goal, state):
        plan.append(fdr.applicable(task, state)[0])
        state = fdr.apply(task, task.operators[plan[-1]], state)
    return tuple(plan)


def detour() -> tuple[Task, tuple[int, ...]]:
    """Dials that turn one way only as far as the goal, in a space of 9^9 states."""
    task = dials(9, 9)
    index = task.operator_index
    plan = tuple(index[f"turn {dial} {x} {x + 1}"] for dial in range(9) for x in range(4))
    return task, plan


def test_a_plan_longer_than_the_neighborhood_is_a_path_through_it() -> None:
    task = counter(8)
    plan = long_way(task)
    result = aras(task, task.init, plan, first_size=1)
    assert result.plan == plan
    assert result.exhausted


@pytest.mark.parametrize(
    ("limits", "most", "outcome"),
    [
        (SearchLimits(seconds=0.1), 10**9, Outcome.TIME_LIMIT),
        (SearchLimits(expansions=5000), 10**9, Outcome.EXPANSION_LIMIT),
        (SearchLimits(bytes=2_000_000), 10**9, Outcome.MEMORY_LIMIT),
        (SearchLimits(seconds=20), 5000, Outcome.MEMORY_LIMIT),
    ],
)
def test_limits_end_it_with_the_plan(limits: SearchLimits, most: int, outcome: Outcome) -> None:
    task, plan = detour()
    result = aras(task, task.init, plan, limits, max_states=most)
    assert result.outcome is outcome
    assert not result.exhausted
    assert result.cost == 36
    assert result.peak_bytes <= (limits.bytes or INFINITY)


def test_it_can_be_cancelled_and_says_how_far_it_is() -> None:
    task, plan = detour()
    control = Control()
    results = []
    worker = threading.Thread(
        target=lambda: results.append(aras(task, task.init, plan, control=control))
    )
    worker.start()
    deadline = time.monotonic() + PATIENCE
    while control.expanded == 0 and time.monotonic() < deadline:
        time.sleep(0.001)
    assert control.best == 36
    control.cancel()
    worker.join(PATIENCE)
    assert not worker.is_alive()
    assert results[0].outcome is Outcome.CANCELLED
    assert results[0].cost == 36


def test_large_costs() -> None:
    """P47"""
    task = dials(2, 8, costs=(2**32,))
    index = task.operator_index
    ahead = [f"turn {dial} {x} {x + 1}" for dial in (0, 1) for x in range(4)]
    names = ["turn 0 0 7", "turn 0 7 0", *ahead]
    result = aras(task, task.init, [index[name] for name in names])
    assert result.cost == 8 * 2**32
    assert result.exhausted
