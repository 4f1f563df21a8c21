"""The heuristics of the delete relaxation against their definitions, in every state."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import fdr, relaxation
from reference.amount import amount
from reference.dense_tasks import dense_task
from reference.random_tasks import make_task, partial_states, tasks

from engine.errors import UsageError
from engine.native.library import HEURISTICS
from engine.records.finding import INFINITY
from engine.search.heuristics import BUILT_FOR_STATE, Evaluator
from engine.task.task import Fact, Operator, Task

SMALL = tasks(variables=(2, 4), values=(1, 4))
LARGE_COSTS = tasks(variables=(2, 4), values=(1, 4), costs=(0, 1, 4095, 4096, 10**6, 2**32))
"""Values on both sides of where the queue changes from buckets to a heap."""

DEFINITIONS = {
    "gc": lambda task, state, goal: sum(state[v] != x for v, x in goal),
    "hmax": relaxation.hmax,
    "hadd": relaxation.hadd,
    "hadd-unit": lambda task, state, goal: relaxation.hadd(task, state, goal, relaxation.unit),
    "ff": relaxation.hff,
}


def values(task: Task, heuristic: str, goal: tuple[Fact, ...] | None = None) -> list[int]:
    return Evaluator(task, heuristic, goal)(fdr.all_states(task)).tolist()


@pytest.mark.parametrize("heuristic", DEFINITIONS)
@settings(max_examples=amount(50, 16))
@given(task=SMALL | LARGE_COSTS)
def test_a_value_is_what_the_definition_says(heuristic: str, task: Task) -> None:
    definition = DEFINITIONS[heuristic]
    expected = [definition(task, state, task.goal) for state in fdr.all_states(task)]
    assert values(task, heuristic) == expected


@pytest.mark.parametrize("heuristic", DEFINITIONS)
def test_a_value_is_what_the_definition_says_where_there_are_many_ties(heuristic: str) -> None:
    for seed in range(amount(15, 6)):
        task = dense_task(seed)
        states = fdr.all_states(task)[seed % 4 :: 4]
        expected = [DEFINITIONS[heuristic](task, state, task.goal) for state in states]
        assert Evaluator(task, heuristic)(states).tolist() == expected, seed


@pytest.mark.parametrize("heuristic", DEFINITIONS)
@settings(max_examples=amount(50, 16))
@given(task=SMALL, data=st.data())
def test_any_goal_may_be_asked_for(heuristic: str, task: Task, data: st.DataObject) -> None:
    states = st.sampled_from(fdr.all_states(task))
    goal = data.draw(partial_states(task.domain_sizes, 4) | states.map(lambda s: (*enumerate(s),)))
    definition = DEFINITIONS[heuristic]
    expected = [definition(task, state, goal) for state in fdr.all_states(task)]
    assert values(task, heuristic, goal) == expected


@settings(max_examples=amount(50, 16))
@given(SMALL, st.sampled_from(sorted(HEURISTICS.keys() - BUILT_FOR_STATE)))
def test_goal_states_have_value_0_and_nothing_is_negative(task: Task, heuristic: str) -> None:
    found = values(task, heuristic)
    assert min(found) >= 0
    for state, value in zip(fdr.all_states(task), found, strict=True):
        assert value == 0 or not fdr.holds(task.goal, state)


@settings(max_examples=amount(50, 16))
@given(SMALL)
def test_hff_is_the_cost_of_a_relaxed_plan(task: Task) -> None:
    """At least h_max, at most h_add, and infinite together with them."""
    for least, plan, most in zip(
        values(task, "hmax"), values(task, "ff"), values(task, "hadd"), strict=True
    ):
        assert least <= plan <= most
        assert (plan == INFINITY) == (least == INFINITY)


def test_an_operator_counts_once_however_many_of_its_effects_are_used() -> None:
    both = Operator("both", (), ((0, 1), (1, 1)), 5)
    task = make_task((2, 2), (both,), (0, 0), ((0, 1), (1, 1)))
    assert values(task, "ff")[0] == 5
    assert values(task, "hadd")[0] == 10
    assert values(task, "hmax")[0] == 5


def test_the_first_of_equal_achievers_is_taken() -> None:
    """Via the second operator the other goal would come for free."""
    operators = (
        Operator("one", (), ((0, 1),), 3),
        Operator("two", (), ((0, 1), (1, 1)), 3),
    )
    goal = ((0, 1), (1, 1))
    assert values(make_task((2, 2), operators, (0, 0), goal), "ff")[0] == 6
    assert values(make_task((2, 2), operators[::-1], (0, 0), goal), "ff")[0] == 3


def test_sums_that_explode_stay_finite() -> None:
    """Every level needs both facts of the level below: h_add doubles 70 times."""
    levels = 70
    operators = tuple(
        Operator(
            f"{side} {level}",
            ((2 * level - 2, 1), (2 * level - 1, 1)) if level else (),
            ((2 * level + side, 1),),
            1,
        )
        for level in range(levels)
        for side in (0, 1)
    )
    task = make_task((2,) * (2 * levels), operators, (0,) * (2 * levels), ((2 * levels - 1, 1),))
    start = [task.init]
    assert Evaluator(task, "ff")(start).tolist() == [2 * levels - 1]
    assert Evaluator(task, "hmax")(start).tolist() == [levels]
    assert 2**60 < Evaluator(task, "hadd")(start)[0] < INFINITY


def test_a_batch_may_be_empty_or_one_state() -> None:
    task = make_task((2,), (Operator("set", (), ((0, 1),), 1),), (0,), ((0, 1),))
    evaluator = Evaluator(task, "hmax")
    assert evaluator(np.empty((0, 1), np.int32)).tolist() == []
    assert evaluator(task.init).tolist() == [1]


@pytest.mark.parametrize("states", [[[2]], [[-1]]])
def test_values_outside_their_domain_are_refused(states: list[list[int]]) -> None:
    task = make_task((2,), (), (0,), ((0, 1),))
    with pytest.raises(ValueError, match="out of range"):
        Evaluator(task, "hmax")(states)


def test_states_of_another_width_are_refused() -> None:
    task = make_task((2,), (), (0,), ((0, 1),))
    with pytest.raises(ValueError, match="shape"):
        Evaluator(task, "hmax")([[0, 0]])


def test_successors_must_exist() -> None:
    task = make_task((2,), (Operator("set", ((0, 0),), ((0, 1),), 1),), (0,), ((0, 1),))
    evaluator = Evaluator(task, "hmax")
    assert evaluator.successors((0,), [0]).tolist() == [0]
    for state, operators in (((1,), [0]), ((0,), [1]), ((0,), [-1]), ((2,), [0])):
        with pytest.raises(ValueError, match="out of range"):
            evaluator.successors(state, operators)
    with pytest.raises(ValueError, match=r"expected shape \(1,\), got \(2,\)"):
        evaluator.successors((0, 0), [0])


def test_an_unknown_heuristic_is_an_error_that_names_the_known_ones() -> None:
    task = make_task((2,), (), (0,), ((0, 1),))
    with pytest.raises(UsageError, match="lmcut"):
        Evaluator(task, "lmcutt")
