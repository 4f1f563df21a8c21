"""What tested states say about each other, against plain loops over pairs."""

from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from reference.dominance import random_task

from engine.dominance.compute import compute
from engine.dominance.function import NO_SUM, DominanceFunction
from engine.native.dominance import NativeComparison, NativeTables
from engine.native.library import Int32Array, Int64Array
from engine.records.config import Factorization
from engine.records.finding import INFINITY
from engine.task.task import Task

Build = Callable[..., Task]
State = tuple[int, ...]


def random_states(task: Task, random: Random, n: int) -> list[State]:
    return [tuple(random.randrange(size) for size in task.domain_sizes) for _ in range(n)]


def random_bounds(random: Random, n: int) -> Int64Array:
    values = [random.choice([INFINITY, *range(20)]) for _ in range(n)]
    return np.array(values, np.int64)


def implied(function: DominanceFunction, bound: int, source: State, target: State) -> int:
    value = function.value(source, target)
    return INFINITY if value is None or bound == INFINITY else bound - value


def told_completely(comparison: NativeComparison, bounds: Int64Array) -> Int64Array:
    """The bounds when nobody has anything to tell any more."""
    bounds = bounds.copy()
    while (told := comparison.tell(bounds)) is not None:
        source, states, gains = told
        assert states
        for state, gain in zip(states, gains, strict=True):
            assert bounds[source] - gain < bounds[state]
            bounds[state] = bounds[source] - gain
    return bounds


def test_states_get_the_best_bound_that_known_ones_imply() -> None:
    random = Random(1)
    inferred = 0
    for _ in range(25):
        task = random_task(random)
        function = compute(task, Factorization(random.choice([None, 30])))
        states = random_states(task, random, 12)
        bounds = random_bounds(random, len(states))
        ids = function.ids(states)
        comparison = NativeComparison(function.native)
        for number, state in enumerate(states):
            pairs = [
                (implied(function, int(bounds[k]), states[k], state), k) for k in range(number)
            ]
            best, expected = min(pairs, default=(INFINITY, -1))
            expected = expected if best < INFINITY else -1
            source, gain = comparison.add(bounds, number, ids[number])
            assert source == expected
            if source >= 0:
                assert bounds[source] - gain == best
                inferred += 1
        others = random_states(task, random, 9)
        sources, gains = comparison.infer(bounds, function.ids(others))
        for other, source, gain in zip(others, sources.tolist(), gains.tolist(), strict=True):
            best = min(implied(function, int(bounds[k]), s, other) for k, s in enumerate(states))
            assert (source < 0) == (best == INFINITY)
            assert source < 0 or bounds[source] - gain == best
    assert inferred > 20


def test_no_pair_is_left_with_something_to_say() -> None:
    """P26: what the kernel remembers of a bound is never better than what is proven."""
    random = Random(2)
    improved = 0
    for _ in range(25):
        task = random_task(random)
        function = compute(task, Factorization())
        states = random_states(task, random, 15)
        bounds = random_bounds(random, len(states))
        comparison = NativeComparison(function.native)
        for number, ids in enumerate(function.ids(states)):
            comparison.add(bounds, number, ids)
        for _ in range(3):
            after = told_completely(comparison, bounds)
            improved += int((after < bounds).sum())
            for t, target in enumerate(states):
                best = min(implied(function, int(after[s]), states[s], target) for s in range(15))
                assert after[t] <= best
            bounds = after
            finite = np.flatnonzero(bounds != INFINITY)
            if len(finite):  # somebody else finds out more
                bounds[random.choice(finite.tolist())] -= 1
    assert improved > 20


def test_a_bound_nobody_has_says_nothing(build: Build) -> None:
    """P13: a dominance value tells of t only if s can be solved."""
    task = build((2,), [({}, {0: 1}, 1), ({}, {0: 0}, 1)], (0,), {0: 1})
    function = compute(task, Factorization())
    assert function.value((0,), (1,)) is not None
    comparison = NativeComparison(function.native)
    unknown = np.full(2, INFINITY, np.int64)
    for number, ids in enumerate(function.ids([(0,), (1,)])):
        assert comparison.add(unknown, number, ids)[0] == -1
    assert comparison.tell(unknown) is None


def test_more_states_than_at_first_expected(build: Build) -> None:
    task = build((700,), [({}, {0: 0}, 1)], (5,), {0: 0})
    function = compute(task, Factorization())
    comparison = NativeComparison(function.native)
    bounds = np.full(700, INFINITY, np.int64)
    for number, ids in enumerate(function.ids([[0], *([5] for _ in range(699))])):
        comparison.add(bounds, number, ids)
    bounds[0] = 0
    assert told_completely(comparison, bounds).max() == 1


def test_what_does_not_fit_is_refused(build: Build) -> None:
    task = build((2, 3), [({}, {0: 1, 1: 2}, 1)], (0, 0), {0: 1})
    function = compute(task, Factorization())
    row: Int32Array = function.ids([(0, 0)])[0]
    bounds = np.zeros(4, np.int64)
    comparison = NativeComparison(function.native)
    with pytest.raises(ValueError, match=r"expected shape \(2,\), got \(1,\)"):
        comparison.add(bounds, 0, row[:1])
    with pytest.raises(ValueError, match="out of range"):
        comparison.add(bounds, 0, row + 100)
    with pytest.raises(ValueError, match="out of range"):
        comparison.add(bounds, -1, row)
    with pytest.raises(TypeError, match="int64"):
        comparison.add(bounds.astype(np.int32), 0, row)
    comparison.add(bounds, 4, row)
    with pytest.raises(ValueError, match="out of range"):
        comparison.tell(bounds)  # there is no bound of state 4
    with pytest.raises(ValueError, match="out of range"):
        function.ids([(0, 3)])
    with pytest.raises(ValueError, match="out of range"):
        function.values(row[None, :] + 100, row[None, :])
    with pytest.raises(ValueError, match="out of range"):
        NativeTables([np.zeros((1, 1), np.int32)], [np.array([0, 1], np.int32)], [(0,)], (2,))
    with pytest.raises(ValueError, match="out of range"):
        NativeTables([np.zeros((1, 1), np.int32)], [np.array([0], np.int32)], [(0,)], (2,))
    assert function.values(row[None, :], row[None, :])[0, 0] != NO_SUM
