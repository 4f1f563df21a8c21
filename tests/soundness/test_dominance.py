"""D(s, t) <= h*(s) - h*(t) for all pairs of states of random tasks, whatever the variant, the
factors and the truncation; and the check notices when a rule is broken.

    python tests/soundness/test_dominance.py SEED TASKS

checks as many tasks as there is time for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pytest
from reference.amount import amount

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))

from reference import fdr
from reference.dominance import Reference, random_task
from reference.random_tasks import make_task

from engine.dominance.compute import Variant, compute
from engine.dominance.function import NO_SUM, NO_VALUE, DominanceFunction
from engine.records.config import Factorization
from engine.records.finding import INFINITY
from engine.search.exhaustive import hstar_all
from engine.search.forward import SearchLimits
from engine.task.task import Operator, Task

TASKS = amount(200, 40)
TRUNCATIONS = (None, 0, 1, 5)


class Truth:
    """h* of all combinations of values."""

    def __init__(self, task: Task) -> None:
        table, self.hstar = hstar_all(task, "product")
        self.states = table.values(np.arange(len(table)))

    def violations(self, function: DominanceFunction) -> list[str]:
        ids = function.ids(self.states)
        found: list[str] = []
        for s in np.flatnonzero(self.hstar != INFINITY).tolist():
            claims = function.from_one(ids[s], ids)
            known = np.flatnonzero(claims != NO_SUM)
            dead = self.hstar[known] == INFINITY
            most = self.hstar[s] - np.where(dead, 0, self.hstar[known])
            wrong = known[dead | (claims[known] > most)]
            found += [self._say(s, t, int(claims[t])) for t in wrong.tolist()]
        return found

    def _say(self, s: int, t: int, claim: int) -> str:
        pair = f"D({self.states[s].tolist()}, {self.states[t].tolist()}) = {claim}"
        return f"{pair}, but h* is {self.hstar[s]} and {self.hstar[t]}"


def check(random: Random, tasks: int, truncations: tuple[int | None, ...]) -> dict[str, int]:
    """Finite comparisons by variant; an assertion fails where one is not true."""
    finite: dict[str, int] = {}
    for number in range(tasks):
        task = random_task(random)
        truth = Truth(task)
        for factorization in (Factorization(), Factorization(random.choice([8, 20, 60, 10_000]))):
            for variant in Variant:
                truncation = random.choice(truncations)
                function = compute(task, factorization, variant, truncation=truncation)
                problems = truth.violations(function)
                assert not problems, (number, factorization, variant, truncation, problems, task)
                entries = sum(int((f.table > -(2**28)).sum()) for f in function.factors)
                name = f"{'merged' if factorization.transitions else 'atomic'} {variant.value}"
                finite[name] = finite.get(name, 0) + entries
    return finite


def test_no_claim_is_too_large() -> None:
    finite = check(Random(1), TASKS, TRUNCATIONS)
    assert finite["atomic a"] < finite["atomic b"] < finite["atomic r"]


def test_stopping_at_any_moment_is_sound() -> None:
    """Limits end the fix-point and the closure in the middle (P1, P2)."""
    random = Random(2)
    cut = 0
    for number in range(amount(60, 15)):
        task = random_task(random)
        truth = Truth(task)
        for factorization in (Factorization(), Factorization(60)):
            limits = SearchLimits(expansions=random.choice([1, 10, 40, 160, 640]))
            function = compute(task, factorization, limits=limits)
            assert not truth.violations(function), (number, factorization, limits)
            cut += not function.complete
    assert cut > 0


# Rules broken on purpose: smallest tasks where that makes a claim wrong.

Facts = dict[int, int]
Mutant = tuple[str, tuple[int, ...], list[tuple[Facts, Facts, int]], tuple[int, ...], Facts]
MUTANTS: list[Mutant] = [
    ("no-goal-condition", (2, 2), [({1: 0}, {0: 1, 1: 1}, 1)], (0, 0), {0: 1}),
    ("answers-are-free", (2, 2), [({}, {0: 0, 1: 1}, 1)], (1, 0), {0: 0, 1: 1}),
    (
        "one-sweep",
        (3, 2),
        [({}, {0: 1}, 1), ({0: 1}, {0: 0, 1: 0}, 1)],
        (2, 1),
        {0: 0, 1: 0},
    ),
    (
        "dead-label-is-irrelevant",
        (3, 2),
        [({0: 1}, {0: 2, 1: 0}, 1), ({0: 0}, {1: 0}, 1)],
        (1, 1),
        {1: 0},
    ),
    (
        "prices-only-where-applicable",
        (2, 2),
        [({0: 0}, {1: 1}, 1), ({1: 1}, {0: 0}, 1)],
        (1, 0),
        {1: 1},
    ),
    (
        "effect-only-is-self-loop",
        (2, 2),
        [({0: 1}, {0: 0}, 1), ({}, {0: 0}, 0)],
        (1, 0),
        {0: 0},
    ),
    ("one-state-factor-is-dropped", (2, 2), [({}, {0: 0}, 1)], (1, 0), {1: 0}),
]


def build(
    sizes: tuple[int, ...],
    ops: list[tuple[Facts, Facts, int]],
    init: tuple[int, ...],
    goal: Facts,
) -> Task:
    operators = tuple(
        Operator(f"op {i}", tuple(sorted(pre.items())), tuple(sorted(eff.items())), cost)
        for i, (pre, eff, cost) in enumerate(ops)
    )
    return make_task(sizes, operators, init, tuple(sorted(goal.items())))


def wrong_claims(task: Task, value: Callable[[fdr.State, fdr.State], int | None]) -> int:
    states = fdr.all_states(task)
    hstar = fdr.optimal_costs(task, states)
    wrong = 0
    for s in states:
        for t in states:
            claim = value(s, t)
            if claim is not None and hstar[s] != fdr.INFINITY:
                wrong += hstar[t] == fdr.INFINITY or claim > hstar[s] - hstar[t]
    return wrong


def atomic(task: Task) -> list[tuple[int, ...]]:
    return [(variable,) for variable in range(len(task.variables))]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant[0])
def test_a_broken_rule_is_noticed(mutant: Mutant) -> None:
    """P4-P7 and P11, one mutant each; and P1, stopping after one sweep."""
    defect, sizes, ops, init, goal = mutant
    task = build(sizes, ops, init, goal)
    assert wrong_claims(task, Reference(task, atomic(task), defects=[defect]).D)
    assert not wrong_claims(task, Reference(task, atomic(task)).D)
    function = compute(task, Factorization())
    assert not Truth(task).violations(function)


def free_walks(random: Random) -> Task:
    """Variables that move by themselves, most of it for nothing, and steps that need the others."""
    sizes = tuple(random.randint(2, 4) for _ in range(random.randint(2, 3)))
    ops: list[tuple[Facts, Facts, int]] = []
    for variable, size in enumerate(sizes):
        for _ in range(random.randint(1, 2 * size)):
            x, y = random.randrange(size), random.randrange(size)
            ops.append(({variable: x}, {variable: y}, random.choice([0, 0, 0, 1, 2])))
    for _ in range(random.randint(1, 4)):
        mover, guard = random.sample(range(len(sizes)), 2)
        before = {guard: random.randrange(sizes[guard])}
        after = {mover: random.randrange(sizes[mover]), guard: random.randrange(sizes[guard])}
        ops.append((before, after, random.choice([0, 1, 3])))
    goal = {v: random.randrange(n) for v, n in enumerate(sizes) if random.random() < 0.7}
    return build(sizes, ops, tuple(random.randrange(n) for n in sizes), goal)


@pytest.mark.parametrize("variant", Variant)
def test_walks_for_nothing_prove_nothing_wrong(variant: Variant) -> None:
    """P8: zero-cost steps of single variables, with which circular arguments would cost nothing."""
    random = Random(8)
    finite = 0
    for number in range(amount(60, 15)):
        task = free_walks(random)
        for factorization in (Factorization(), Factorization(60)):
            function = compute(task, factorization, variant)
            assert not Truth(task).violations(function), (number, factorization)
            finite += sum(int((f.table > NO_VALUE).sum()) for f in function.factors)
    assert finite > 100


@pytest.mark.parametrize("variant", Variant)
def test_a_place_that_is_reached_twice_is_one_place(variant: Variant) -> None:
    """P9: the cheaper way to 1 is found later; without 3, not all is reached from all."""
    walks: list[tuple[Facts, Facts, int]] = [
        *(({0: 0}, {0: 1}, 5), ({0: 0}, {0: 2}, 1), ({0: 2}, {0: 1}, 1), ({0: 1}, {0: 0}, 1)),
        ({0: 3}, {0: 0}, 1),
        *(({0: x, 1: 0}, {0: y, 1: 1}, 1) for x, y in ((3, 2), (1, 2), (2, 2))),
    ]
    task = build((4, 2), walks, (3, 0), {1: 1})
    function = compute(task, Factorization(), variant)
    assert not Truth(task).violations(function)
    away = function.value((3, 0), (0, 0))
    assert away is None or away <= -1  # there one is one step before the goal, here two


def test_swapped_arguments_are_noticed() -> None:
    task = build((2, 2), [({}, {0: 0}, 1)], (1, 1), {0: 0})
    function = compute(task, Factorization())
    assert wrong_claims(task, lambda s, t: function.value(t, s))
    assert not wrong_claims(task, function.value)


if __name__ == "__main__":
    print(check(Random(int(sys.argv[1])), int(sys.argv[2]), TRUNCATIONS))
