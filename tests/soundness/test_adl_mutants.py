"""Rules about conditional effects and axioms, broken on purpose: the checks notice each of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from reference import fdr
from reference.adl_rules import MayFire, Relaxation, step
from reference.adl_tasks import axiom_task, conditional_task

from engine.dominance.compute import compute
from engine.records.config import Factorization
from engine.search.heuristics import Evaluator
from engine.task.states import StateTable
from engine.task.task import Task


def wrong_steps(task: Task, defects: tuple[str, ...]) -> int:
    """Steps that the kernels do not take."""
    states = fdr.all_states(task)
    table = StateTable(task)
    row_begin, operators, after = table.successors_of(table.add(states))
    reached = table.values(after).tolist()
    wrong = 0
    for row, state in enumerate(states):
        for k in range(row_begin[row], row_begin[row + 1]):
            taken = step(task, task.operators[operators[k]], state, defects)
            wrong += taken != tuple(reached[k])
    return wrong


@pytest.mark.parametrize(
    ("make", "defect"),
    [
        (conditional_task, None),
        (axiom_task, None),
        (conditional_task, "effects-read-the-new-state"),
        (axiom_task, "effects-read-the-new-state"),
        (axiom_task, "axioms-not-extended"),
    ],
)
def test_a_broken_step_is_noticed(make: Callable[[int], Task], defect: str | None) -> None:
    defects = () if defect is None else (defect,)
    wrong = sum(wrong_steps(make(seed), defects) for seed in range(30))
    assert (wrong > 0) == (defect is not None)


def too_large(task: Task, relaxation: Relaxation) -> int:
    """Values of h_max and LM-cut above h*."""
    states = fdr.all_states(task)
    truth = fdr.optimal_costs(task, states)
    sample = states[::5]
    return sum(
        (relaxation.hmax(state) > truth[state]) + (relaxation.lmcut(state) > truth[state])
        for state in sample
    )


@pytest.mark.parametrize(
    "defect",
    [None, "conditional-deletes-forgotten", "conditions-as-preconditions", "every-piece-pays"],
)
def test_a_broken_relaxation_is_noticed(defect: str | None) -> None:
    """P51 and P52 on random tasks."""
    defects = () if defect is None else (defect,)
    wrong = 0
    for seed in range(40):
        task = conditional_task(seed)
        wrong += too_large(task, Relaxation(task, defects))
    assert (wrong > 0) == (defect is not None)


def test_the_unbroken_relaxation_is_that_of_the_kernel() -> None:
    for seed in range(40):
        task = conditional_task(seed)
        states = fdr.all_states(task)[::3]
        relaxation = Relaxation(task)
        assert Evaluator(task, "hmax")(states).tolist() == [relaxation.hmax(s) for s in states]


def wrong_claims(task: Task, value: Callable[[fdr.State, fdr.State], int | None]) -> int:
    """Pairs (s, t) with D(s, t) > h*(s) - h*(t)."""
    states = fdr.all_states(task)
    truth = fdr.optimal_costs(task, states)
    wrong = 0
    for s in states:
        for t in states:
            claim = value(s, t)
            if claim is not None and truth[s] < fdr.INFINITY:
                wrong += truth[t] == fdr.INFINITY or claim > truth[s] - truth[t]
    return wrong


@pytest.mark.parametrize("may_fire", [False, True])
def test_dominance_with_arcs_that_may_fire_is_noticed(may_fire: bool) -> None:
    wrong = 0
    for seed in range(40):
        task = conditional_task(seed)
        if len(fdr.all_states(task)) > 64:
            continue
        if may_fire:
            partition = [(variable,) for variable in range(len(task.variables))]
            wrong += wrong_claims(task, MayFire(task, partition).D)
        else:
            wrong += wrong_claims(task, compute(task, Factorization()).value)
    assert (wrong > 0) == may_fire
