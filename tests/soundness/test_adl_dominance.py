"""Dominance with conditional effects: labels are cases, values hold, both builders agree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from random import Random

import numpy as np
import pytest
from reference import fdr
from reference.adl_tasks import axiom_task, conditional_task, eventful_task
from reference.amount import amount
from reference.dominance import find_proof_gap
from reference.random_tasks import make_task

from engine.dominance.checker import DominanceChecker
from engine.dominance.compute import Variant, compute
from engine.dominance.function import NO_SUM, NO_VALUE, DominanceFunction
from engine.dominance.plain_system import plain_labels
from engine.oracles.obstacle import describe_obstacle
from engine.records.config import Factorization
from engine.records.finding import INFINITY
from engine.search.exhaustive import hstar_all
from engine.task.axioms import Axiom
from engine.task.cases import MAX_CASES, all_cases, case_count, find_obstacle
from engine.task.task import ConditionalEffect, Operator, Task

COUNT = amount(3000, 60)


def violations(task: Task, function: DominanceFunction) -> list[tuple[int, int]]:
    """Pairs (s, t) with D(s, t) > h*(s) - h*(t)."""
    table, hstar = hstar_all(task, "product")
    ids = function.ids(table.values(np.arange(len(table))))
    found = []
    for s in np.flatnonzero(hstar != INFINITY).tolist():
        claims = function.from_one(ids[s], ids)
        known = np.flatnonzero(claims != NO_SUM)
        dead = hstar[known] == INFINITY
        most = hstar[s] - np.where(dead, 0, hstar[known])
        found += [(s, t) for t in known[dead | (claims[known] > most)].tolist()]
    return found


def comparisons(function: DominanceFunction) -> int:
    """Pairs of different states of a factor of which something is known."""
    return sum(int((item.table != NO_VALUE).sum()) - item.n_states for item in function.factors)


def test_p57_p58_values_hold_on_cases() -> None:
    random = Random(5)
    compared = 0
    for seed in range(COUNT):
        task = conditional_task(seed)
        for factors in (Factorization(), Factorization(random.choice([8, 20, 60, 10_000]))):
            function = compute(task, factors, random.choice(list(Variant)))
            assert function.reason == find_obstacle(task)
            assert not violations(task, function), seed
            compared += comparisons(function)
    assert compared > COUNT


def test_the_separate_checker_confirms_them() -> None:
    for seed in range(amount(300, 25)):
        task = conditional_task(seed)
        for factors in (Factorization(), Factorization(40)):
            assert find_proof_gap(compute(task, factors), task) is None, seed


def allowed(task: Task, number: int, images: dict[int, dict[int, int]]) -> tuple[object, ...]:
    sizes = task.domain_sizes
    whole = tuple(
        tuple(images[v].items()) if v in images else tuple((x, x) for x in range(size))
        for v, size in enumerate(sizes)
    )
    return number, whole


def test_p59_both_builders_have_the_same_labels() -> None:
    for seed in range(amount(500, 60)):
        task = conditional_task(seed)
        first = [allowed(task, case.operator, case.images) for case in all_cases(task)]
        second = []
        for label in plain_labels(task):
            images = {}
            for variable, size in enumerate(task.domain_sizes):
                values = np.arange(size, dtype=np.int32)
                after, excluded = label.after(variable, values), label.excludes(variable, values)
                images[variable] = {x: int(after[x]) for x in values.tolist() if not excluded[x]}
            number = next(n for n, item in enumerate(task.operators) if item is label.operator)
            second.append(allowed(task, number, images))
        assert first == second, seed


def test_exactly_one_case_fits_and_gives_the_successor() -> None:
    for seed in range(amount(500, 60)):
        task = conditional_task(seed)
        cases = list(all_cases(task))
        for state in fdr.all_states(task):
            for number, after in fdr.successors(task, state):
                fitting = [
                    case
                    for case in cases
                    if case.operator == number
                    and all(state[v] in image for v, image in case.images.items())
                ]
                assert len(fitting) == 1
                images = fitting[0].images
                assert after == tuple(
                    images[v][x] if v in images else x for v, x in enumerate(state)
                )


def test_p57_arcs_that_may_or_may_not_fire_would_claim_too_much() -> None:
    """The answering side would use transitions that do not exist."""
    operators = (
        Operator("a", ((1, 1),), (), 2, ((((1, 1),), (0, 1)),)),
        Operator("b", (), (), 1, ((((0, 1),), (1, 0)),)),
    )
    task = make_task((2, 2), operators, (1, 1), ((1, 0),))
    table, hstar = hstar_all(task, "product")
    cost = {s: hstar[table.find([s])[0]] for s in product((0, 1), (0, 1))}
    assert (cost[1, 1], cost[0, 1]) == (1, 3)
    function = compute(task, Factorization())
    value = function.value((1, 1), (0, 1))
    assert value is None or value <= -2


def axiom_tasks(count: int) -> Iterator[Task]:
    for seed in range(count):
        yield axiom_task(seed)
        yield eventful_task(axiom_task, seed)


def test_with_axioms_what_they_depend_on_is_frozen() -> None:
    random = Random(6)
    compared = 0
    for number, task in enumerate(axiom_tasks(amount(1000, 15))):
        for factors in (Factorization(), Factorization(random.choice([8, 20, 60, 10_000]))):
            function = compute(task, factors, random.choice([Variant.A, Variant.B, Variant.R]))
            assert not violations(task, function), number
            if function.variant != Variant.B.value:  # those of B cannot be checked
                assert find_proof_gap(function, task) is None, number
            compared += comparisons(function) > 0
    assert compared > amount(1000, 15) / 2


def test_comparing_what_axioms_depend_on_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Task, "cone", frozenset())
    false, refused = 0, 0
    for task in axiom_tasks(40):
        function = compute(task, Factorization())
        false += bool(violations(task, function))
        refused += find_proof_gap(function, task) is not None
    assert 0 < false <= refused


def bound_to_axioms() -> Iterator[Task]:
    """Tasks whose axioms depend on every variable."""
    for seed in range(100):
        task = axiom_task(seed)
        if task.axioms and task.cone == set(task.state_variables):
            yield task


def test_p61_where_dominance_does_not_apply_a_state_is_as_good_as_itself_only() -> None:
    for task in bound_to_axioms():
        function = compute(task, Factorization())
        assert "axioms" in function.reason
        assert not function.complete
        states = fdr.all_states(task)
        ids = function.ids(states)
        for number in range(len(states)):
            claims = function.from_one(ids[number], ids)
            assert claims[number] == 0
            assert (np.delete(claims, number) == NO_SUM).all()
        confirmed = DominanceChecker(task)(states[0], states[-1], 0)
        assert confirmed is not None or len(states) == 1


def many_cases() -> Task:
    effects: tuple[ConditionalEffect, ...] = tuple((((v, 1),), ((v + 1) % 7, 1)) for v in range(7))
    operators = (Operator("spread", (), (), 1, effects),)
    return make_task((2,) * 7, operators, (1, *(0,) * 6), tuple((v, 1) for v in range(7)))


def test_an_operator_with_too_many_cases_is_named() -> None:
    task = many_cases()
    assert case_count(task.operators[0], task) == 2**7 > MAX_CASES
    function = compute(task, Factorization())
    assert function.reason == "the conditional effects of (spread) have more than 64 cases"
    assert not violations(task, function)


@pytest.mark.parametrize("factors", [Factorization(), Factorization(40)], ids=str)
def test_conditions_on_the_changed_variable_cost_no_case(factors: Factorization) -> None:
    """What the translator makes of a delete that need not hold is exact."""
    forget: tuple[ConditionalEffect, ...] = ((((0, 1),), (0, 2)), (((1, 1),), (1, 2)))
    operators = (
        Operator("forget", (), (), 1, forget),
        Operator("learn", ((0, 2),), ((0, 0),), 1),
    )
    task = make_task((3, 3), operators, (1, 1), ((0, 0), (1, 2)))
    assert [case_count(item, task) for item in task.operators] == [1, 1]
    function = compute(task, factors)
    assert function.reason == ""
    assert not violations(task, function)


def test_what_axioms_depend_on_is_reported() -> None:
    operators = (Operator("a", ((2, 1),), ((0, 1),), 1), Operator("b", (), ((1, 1),), 1))
    task = make_task((2, 2, 2), operators, (0, 0, 0), ((0, 1),))
    variables = (*task.variables[:2], replace(task.variables[2], layer=0, default=0))
    task = replace(task, variables=variables, axioms=(Axiom(((1, 1),), 2),))
    assert describe_obstacle(task) == (
        "dominance is limited: axioms depend on 1 of the 2 variables; smo, bmo, undo, combined and "
        "composite compare only states that agree on these"
    )
    function = compute(task, Factorization())
    assert function.reason == ""
    assert function.value((0, 1, 1), (1, 1, 1)) == 1
    assert function.value((0, 0, 0), (0, 1, 1)) is None
