"""Heuristics that are built for one state: admissible and consistent wherever that leads."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import fdr
from reference.amount import amount
from reference.dense_tasks import dense_task
from reference.random_tasks import dials, make_task, partial_states, tasks, widened

from engine.errors import CancelledError, LimitReachedError
from engine.native.library import Outcome
from engine.records.finding import INFINITY
from engine.search.aoca_star import aoca_star
from engine.search.forward import Control, SearchLimits, search
from engine.search.heuristics import (
    BUILT_FOR_STATE,
    Abstraction,
    CartesianOptions,
    Evaluator,
    MergeAndShrinkOptions,
    build_cartesian,
    build_merge_and_shrink,
)
from engine.task.task import Fact, Operator, Task

Build = Callable[..., Abstraction]

CARTESIAN_LIMITS = (0, 3, 20, 100, None)
SUBTASKS = ((True, True), (True, False), (False, True))
SMALL = tasks(variables=(2, 4), values=(1, 4))
LARGE_COSTS = tasks(variables=(2, 4), values=(1, 4), costs=(0, 1, 10**6, 2**32))


def cartesian(most: int | None, landmarks: bool = True, goals: bool = True) -> Build:
    options = CartesianOptions(most, landmarks, goals)
    return lambda *arguments, **more: build_cartesian(*arguments, options=options, **more)


def merge_and_shrink(states: int | None, transitions: int | None = None) -> Build:
    options = MergeAndShrinkOptions(states, transitions)
    return lambda *arguments, **more: build_merge_and_shrink(*arguments, options=options, **more)


def values(heuristic: Abstraction, states: list[fdr.State]) -> dict[fdr.State, int]:
    return dict(zip(states, heuristic(states).tolist(), strict=True))


def check(
    build: Build,
    task: Task,
    start: fdr.State | None = None,
    goal: tuple[Fact, ...] | None = None,
) -> None:
    """Against h* of every state that can be reached from the start, and along every operator."""
    states = fdr.reachable_states(task, start)
    truth = fdr.optimal_costs(task, states, goal)
    found = values(build(task, start, goal), states)
    for state in states:
        assert 0 <= found[state] <= truth[state]
        for o, successor in fdr.successors(task, state):
            after = found[successor]
            assert after == INFINITY or found[state] <= after + task.operators[o].cost


@settings(max_examples=amount(80, 25))
@given(SMALL | LARGE_COSTS, st.sampled_from(CARTESIAN_LIMITS), st.sampled_from(SUBTASKS))
def test_cartesian_never_overestimates(
    task: Task, most: int | None, subtasks: tuple[bool, bool]
) -> None:
    check(cartesian(most, *subtasks), task)


@settings(max_examples=amount(80, 25))
@given(SMALL | LARGE_COSTS, st.sampled_from((1, 2, 5, 20, None)), st.sampled_from((1, 30, None)))
def test_merge_and_shrink_never_overestimates(
    task: Task, states: int | None, transitions: int | None
) -> None:
    check(merge_and_shrink(states, transitions), task)


@pytest.mark.parametrize("seed", range(45))
def test_nor_where_there_is_much_to_do(seed: int) -> None:
    task = dense_task(seed)
    check(cartesian(CARTESIAN_LIMITS[seed % 5], *SUBTASKS[seed % 3]), task)
    check(merge_and_shrink((3, 10, 40)[seed % 3]), task)


@pytest.mark.parametrize("name", BUILT_FOR_STATE)
@settings(max_examples=amount(40, 14))
@given(task=SMALL, data=st.data())
def test_any_state_and_goal_may_be_asked_for(name: str, task: Task, data: st.DataObject) -> None:
    """P30: admissible where it was built for, also outside of what the initial state reaches."""
    start = data.draw(st.sampled_from(fdr.all_states(task)))
    goal = data.draw(st.none() | partial_states(task.domain_sizes, 3))
    check(BUILT_FOR_STATE[name], task, start, goal)


@settings(max_examples=amount(80, 25))
@given(SMALL | LARGE_COSTS)
def test_merge_and_shrink_without_a_limit_is_exact(task: Task) -> None:
    states = fdr.reachable_states(task)
    assert values(merge_and_shrink(None)(task), states) == fdr.optimal_costs(task, states)


def test_merge_and_shrink_is_exact_on_larger_tasks() -> None:
    for seed in range(30):
        task = dense_task(seed)
        states = fdr.reachable_states(task)
        assert values(merge_and_shrink(None)(task), states) == fdr.optimal_costs(task, states), seed


@settings(max_examples=amount(80, 25))
@given(SMALL | LARGE_COSTS, st.data())
def test_cartesian_for_one_goal_without_a_limit_is_exact_at_the_start(
    task: Task, data: st.DataObject
) -> None:
    variable = data.draw(st.integers(0, len(task.domain_sizes) - 1))
    value = data.draw(st.integers(0, task.domain_sizes[variable] - 1))
    goal = ((variable, value),)
    truth = fdr.optimal_costs(task, fdr.reachable_states(task), goal)[task.init]
    assert cartesian(None, landmarks=False)(task, None, goal)([task.init]).tolist() == [truth]


def test_cartesian_adds_up_what_independent_goals_cost() -> None:
    """More than 64 values, so that sets of them take several words."""
    task = dials(3, 150, costs=(1, 0, 7))
    assert cartesian(None)(task)([task.init]).tolist() == [75 * 8]


def test_a_landmark_that_was_lost_again_is_not_asked_for_twice() -> None:
    """The key breaks in the lock, and is not needed behind the door."""
    operators = (
        Operator("find key", ((0, 0),), ((0, 1),), 5),
        Operator("unlock", ((0, 1),), ((0, 0), (1, 1)), 1),
        Operator("enter", ((1, 1),), ((2, 1),), 1),
    )
    task = make_task((2, 2, 2), operators, (0, 0, 0), ((2, 1),))
    way = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 1, 1)]
    assert cartesian(None, goals=False)(task)(way).tolist() == [7, 2, 1, 0]


@pytest.mark.parametrize("name", BUILT_FOR_STATE)
def test_a_start_without_a_plan_is_seen_if_nothing_is_lost(name: str) -> None:
    stuck = make_task((2, 2), (Operator("set", ((0, 1),), ((1, 1),), 1),), (0, 0), ((1, 1),))
    assert BUILT_FOR_STATE[name](stuck, None, None)([stuck.init]).tolist() == [INFINITY]
    assert search(stuck, "astar", name).outcome is Outcome.UNSOLVABLE


@pytest.mark.parametrize("name", BUILT_FOR_STATE)
def test_without_a_goal_nothing_is_to_be_done(name: str) -> None:
    task = make_task((2, 2), (Operator("set", (), ((1, 1),), 1),), (0, 0), ())
    assert BUILT_FOR_STATE[name](task, None, None)(fdr.all_states(task)).tolist() == [0] * 4


@pytest.mark.parametrize("name", BUILT_FOR_STATE)
def test_what_the_goal_does_not_need_changes_nothing(name: str) -> None:
    plain = dense_task(4)
    idle = Operator("turn", (), ((len(plain.variables), 1),), 1)
    sizes = (*plain.domain_sizes, 2)
    task = make_task(sizes, (*plain.operators, idle), (*plain.init, 0), plain.goal)
    states = fdr.reachable_states(plain)
    expected = BUILT_FOR_STATE[name](plain, None, None)(states).tolist()
    for value in (0, 1):
        wider = [(*state, value) for state in states]
        assert BUILT_FOR_STATE[name](task, None, None)(wider).tolist() == expected


@pytest.mark.parametrize("name", BUILT_FOR_STATE)
def test_the_same_question_has_the_same_answer(name: str) -> None:
    for seed in range(6):
        task = widened(dense_task(seed), 200)
        states = fdr.reachable_states(task)
        first, second = (BUILT_FOR_STATE[name](task, None, None) for _ in range(2))
        assert first(states).tolist() == second(states).tolist()
        assert (first.states, first.transitions) == (second.states, second.transitions)


def test_limits_are_kept() -> None:
    for seed in range(12):
        task = dense_task(seed)
        for most in (1, 4, 30):
            assert merge_and_shrink(most)(task).states <= most
        for most in (1, 4, 30):
            less = cartesian(most, landmarks=False)(task)
            # The last split doubles transitions at worst, and breaks each loop once.
            assert less.transitions <= 2 * most + less.abstractions * len(task.operators)
        whole = cartesian(None, landmarks=False)(task)
        assert whole.transitions >= less.transitions


@pytest.mark.parametrize("name", BUILT_FOR_STATE)
def test_building_can_be_stopped(name: str) -> None:
    task = dials(6, 8)
    control = Control()
    control.cancel()
    with pytest.raises(CancelledError):
        BUILT_FOR_STATE[name](task, control=control)
    for limits in (SearchLimits(seconds=0.0), SearchLimits(bytes=100)):
        with pytest.raises(LimitReachedError):
            BUILT_FOR_STATE[name](task, limits=limits)
    assert search(task, "astar", name, control=control).outcome is Outcome.CANCELLED
    for limit, outcome in (
        (SearchLimits(seconds=0.0), Outcome.TIME_LIMIT),
        (SearchLimits(bytes=100), Outcome.MEMORY_LIMIT),
    ):
        assert search(task, "astar", name, limits=limit).outcome is outcome


@pytest.mark.parametrize("name", BUILT_FOR_STATE)
def test_searches_build_them_for_the_state_they_start_from(name: str) -> None:
    """P30: a search from anywhere builds its own."""
    for seed in range(8):
        task = dense_task(seed)
        truth = fdr.optimal_costs(task, fdr.all_states(task))
        for state in fdr.all_states(task)[seed :: len(truth) // 6]:
            result = search(task, "astar", name, state=state)
            assert (INFINITY if result.cost is None else result.cost) == truth[state]
            for o, successor in fdr.successors(task, state):
                if truth[state] == INFINITY:
                    continue
                cost = task.operators[o].cost
                is_optimal = (
                    truth[successor] != INFINITY and truth[successor] + cost == truth[state]
                )
                answer = aoca_star(task, state, o, name, solvable=True)
                assert (answer.outcome is Outcome.ACTION_OPTIMAL) == is_optimal


def test_an_evaluator_is_built_for_the_state_it_is_given() -> None:
    task = dials(2, 6)
    evaluator = Evaluator(task, "ms", state=(3, 0))
    assert evaluator([(3, 0), (3, 3), (2, 2)]).tolist() == [3, 0, 2]
    assert evaluator.successors((3, 0), [o for o, _ in fdr.successors(task, (3, 0))]).tolist() == [
        evaluator([successor])[0] for _, successor in fdr.successors(task, (3, 0))
    ]
