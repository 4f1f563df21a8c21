"""What compared states say about each other, against plain loops over pairs."""

from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from reference import fdr
from reference.dominance import random_task

from engine.dominance.compute import compute
from engine.dominance.function import NO_SUM, DominanceFunction
from engine.native.bounds import NativeMaintenance
from engine.native.dominance import NativeTables
from engine.native.library import Int32Array
from engine.oracles.bounds import Bounds
from engine.records.config import Factorization
from engine.records.finding import INFINITY
from engine.task.states import StateTable
from engine.task.task import Task

Build = Callable[..., Task]
State = tuple[int, ...]


def random_states(task: Task, random: Random, n: int) -> list[State]:
    states = (tuple(random.randrange(size) for size in task.domain_sizes) for _ in range(n))
    return list(dict.fromkeys(states))


def random_plan(task: Task, state: State, random: Random) -> list[int] | None:
    """Operators that lead to the goal, if a random walk finds some."""
    plan: list[int] = []
    while not fdr.holds(task.goal, state):
        steps = fdr.successors(task, state)
        if not steps or len(plan) == 60:
            return None
        operator, state = random.choice(steps)
        plan.append(operator)
    return plan


def implied(function: DominanceFunction, bound: int, source: State, target: State) -> int:
    value = function.value(source, target)
    return INFINITY if value is None or bound == INFINITY else bound - value


class Compared:
    """Some states of a task that are compared, a few of them with plans."""

    def __init__(self, task: Task, function: DominanceFunction) -> None:
        self.task, self.function = task, function
        self.table = StateTable(task)
        self.bounds = Bounds(self.table)
        self.known: list[State] = []
        self.maintenance = NativeMaintenance(
            function.native, self.bounds.native, self.bounds.number_of("bmo")
        )

    def id_of(self, state: State) -> int:
        return int(self.table.add(state)[0])

    def u(self, state: State) -> int:
        return self.bounds.u(self.id_of(state))

    def add_plan(self, state: State, random: Random) -> None:
        if (plan := random_plan(self.task, state, random)) is not None:
            self.bounds.add_plan(self.id_of(state), plan, "walk")

    def compare(self, states: list[State]) -> None:
        self.known += states
        self.maintenance.compare([self.id_of(state) for state in states])

    def implied(self, target: State) -> int:
        pairs = (implied(self.function, self.u(s), s, target) for s in self.known)
        return min(pairs, default=INFINITY)


def test_no_pair_is_left_with_something_to_say() -> None:
    """P26: what the kernel remembers of a bound is never better than what is proven."""
    random = Random(2)
    improved = 0
    for _ in range(25):
        task = random_task(random)
        function = compute(task, Factorization(random.choice([None, 30])))
        compared = Compared(task, function)
        states = random_states(task, random, 15)
        for part in (states[:5], states[5:6], states[6:]):
            for state in part:
                if random.random() < 0.5:
                    compared.add_plan(state, random)
            compared.compare(part)
            for target in compared.known:
                assert compared.u(target) <= compared.implied(target)
        for _ in range(3):  # another source finds out more
            compared.add_plan(random.choice(states), random)
            before = [compared.u(state) for state in states]
            compared.compare([])
            improved += sum(compared.u(s) < u for s, u in zip(states, before, strict=True))
            for target in compared.known:
                assert compared.u(target) <= compared.implied(target)
        for state in states:
            if compared.u(state) != INFINITY:
                assert compared.bounds.evidence(compared.id_of(state)).bound == compared.u(state)
    assert improved


def test_states_get_the_best_bound_that_compared_ones_imply() -> None:
    random = Random(1)
    inferred = 0
    for _ in range(25):
        task = random_task(random)
        function = compute(task, Factorization(random.choice([None, 30])))
        compared = Compared(task, function)
        states = random_states(task, random, 12)
        for state in states:
            compared.add_plan(state, random)
        compared.compare(states)
        others = random_states(task, random, 9)
        ids = np.array([compared.id_of(other) for other in others], np.int32)
        found = zip(*(column.tolist() for column in compared.maintenance.infer(ids)), strict=True)
        for other, (bound, source, gain) in zip(others, found, strict=True):
            assert bound == compared.implied(other)
            assert (source < 0) == (bound == INFINITY)
            if source >= 0:
                inferred += 1
                values = tuple(compared.table.values([source])[0].tolist())
                assert function.value(values, other) == gain
                assert compared.u(values) - gain == bound
                first = next(
                    s for s in compared.known if implied(function, compared.u(s), s, other) == bound
                )
                assert values == first  # of equals the one known longest
    assert inferred > 20


@pytest.mark.parametrize(("values", "cost"), [(9, 1), (16, 8), (16, 9), (17, 1), (40, 3)])
def test_blocks_of_pairs_have_the_values_of_pairs(build: Build, values: int, cost: int) -> None:
    """Few states and small values take the quick way, and others the plain one: same answers."""
    random = Random(values)
    steps = [
        ({v: k}, {v: k + d}, cost)
        for v in range(3)
        for d in (-1, 1)
        for k in range(values)
        if 0 <= k + d < values
    ]
    task = build((values,) * 3, steps, (0, 0, 0), {0: values - 1, 1: 0, 2: values // 2})
    function = compute(task, Factorization())
    largest = max(int(factor.table.max()) for factor in function.factors)
    assert (largest == 120) == ((values, cost) == (16, 8))
    compared = Compared(task, function)
    states = random_states(task, random, 200)
    for state in states[:30]:
        compared.bounds.add_plan(compared.id_of(state), straight_plan(task, state), "walk")
    compared.compare(states)
    ids = np.array([compared.id_of(state) for state in states], np.int32)
    rows = function.ids(states)
    pairs = function.values(rows, rows)
    known = np.array([compared.u(state) for state in states], np.int64)
    usable = (pairs != NO_SUM) & (known != INFINITY)[:, None]
    best = np.where(usable, known[:, None] - np.where(usable, pairs, 0), INFINITY).min(axis=0)
    assert (compared.maintenance.infer(ids)[0] == best).all()
    assert (known <= best).all()
    assert (known != INFINITY).all()


def straight_plan(task: Task, state: State) -> list[int]:
    """Each variable goes to its goal, step by step."""
    plan: list[int] = []
    while not fdr.holds(task.goal, state):
        variable, value = next((v, g) for v, g in task.goal if state[v] != g)
        wanted = state[variable] + (1 if value > state[variable] else -1)
        operator, state = next(
            (o, after) for o, after in fdr.successors(task, state) if after[variable] == wanted
        )
        plan.append(operator)
    return plan


def test_an_unknown_bound_says_nothing(build: Build) -> None:
    """P13: a dominance value tells of t only if s can be solved."""
    task = build((2,), [({}, {0: 1}, 1), ({}, {0: 0}, 1)], (0,), {0: 1})
    function = compute(task, Factorization())
    assert function.value((0,), (1,)) is not None
    compared = Compared(task, function)
    compared.compare([(0,), (1,)])
    assert [compared.u(state) for state in compared.known] == [INFINITY] * 2


def test_what_does_not_fit_is_refused(build: Build) -> None:
    task = build((2, 3), [({}, {0: 1, 1: 2}, 1)], (0, 0), {0: 1})
    function = compute(task, Factorization())
    row: Int32Array = function.ids([(0, 0)])[0]
    compared = Compared(task, function)
    for states in ([0], [-1]):
        with pytest.raises(ValueError, match="out of range"):
            compared.maintenance.compare(states)
        with pytest.raises(ValueError, match="out of range"):
            compared.maintenance.infer(np.array(states, np.int32))
    with pytest.raises(ValueError, match="out of range"):
        function.ids([(0, 3)])
    with pytest.raises(ValueError, match="out of range"):
        function.values(row[None, :] + 100, row[None, :])
    with pytest.raises(ValueError, match="out of range"):
        NativeTables([np.zeros((1, 1), np.int32)], [np.array([0, 1], np.int32)], [(0,)], (2,))
    with pytest.raises(ValueError, match="out of range"):
        NativeTables([np.zeros((1, 1), np.int32)], [np.array([0], np.int32)], [(0,)], (2,))
    assert function.values(row[None, :], row[None, :])[0, 0] != NO_SUM
