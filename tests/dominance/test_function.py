"""Tables against the definition, and what is done with them."""

import time
from collections.abc import Callable
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from reference.clock import Clock
from reference.dominance import Reference, find_proof_gap, random_task
from reference.random_tasks import dials

from engine.dominance import compute as compute_module
from engine.dominance.checker import DominanceChecker
from engine.dominance.compute import DEFAULT_LIMITS, Variant, compute
from engine.dominance.factors import atomic_system
from engine.dominance.fix_point import initial_tables
from engine.dominance.function import NO_SUM, NO_VALUE, DominanceFunction
from engine.dominance.labels import compile_system
from engine.errors import CancelledError, UnsupportedError, UsageError
from engine.native.control import Control
from engine.native.library import Outcome
from engine.records.config import Factorization
from engine.search.forward import NO_LIMITS, SearchLimits
from engine.task.task import Task

Build = Callable[..., Task]


def entries(function: DominanceFunction) -> list[dict[tuple[tuple[int, ...], ...], int]]:
    found = []
    for number, factor in enumerate(function.factors):
        values = [tuple(row) for row in function.factor_values(number).tolist()]
        pairs = np.argwhere(factor.table != NO_VALUE).tolist()
        found.append({(values[s], values[t]): int(factor.table[s, t]) for s, t in pairs})
    return found


@pytest.mark.parametrize("truncation", [0, 3, 1000])
def test_tables_are_those_of_the_definition(truncation: int) -> None:
    random = Random(truncation)
    compared = 0
    for _ in range(15):
        task = random_task(random)
        for factorization in (Factorization(), Factorization(40)):
            stable = compute(task, factorization, Variant.A, truncation=truncation)
            if not all(factor.n_states for factor in stable.factors):
                continue
            partition = [factor.variables for factor in stable.factors]
            reference = Reference(task, partition, truncation)
            assert entries(stable) == reference.tables
            compared += 1
            if factorization.transitions is None:
                reference.close()
                closed = compute(task, factorization, Variant.R, truncation=truncation)
                assert entries(closed) == reference.tables
    assert compared > 10


def test_stable_tables_are_stable_and_obey_the_triangle_inequality() -> None:
    random = Random(5)
    for _ in range(40):
        system = atomic_system(random_task(random))
        if not system.has_states:
            continue
        compiled = compile_system(system)
        flat = np.concatenate([table.reshape(-1) for table in initial_tables(compiled)])
        arguments = (10**6, True, NO_LIMITS.native(), Control().progress)
        assert compiled.native.fix_point(flat, *arguments) is Outcome.SOLVED
        once = flat.copy()
        assert compiled.native.fix_point(flat, *arguments) is Outcome.SOLVED
        assert np.array_equal(flat, once)
        begin = 0
        for size in compiled.n_states:
            table = once[begin : begin + size * size].reshape(size, size).astype(np.int64)
            begin += size * size
            assert (np.diagonal(table) == 0).all()
            known = table != NO_VALUE
            for middle in range(size):
                both = known[:, middle, None] & known[None, middle, :]
                through = table[:, middle, None] + table[None, middle, :]
                assert (~both | (known & (through <= table))).all()


def test_fewer_answers_give_lower_values() -> None:
    random = Random(6)
    lower = 0
    for _ in range(40):
        system = atomic_system(random_task(random))
        if not system.has_states:
            continue
        compiled = compile_system(system)
        start = np.concatenate([table.reshape(-1) for table in initial_tables(compiled)])
        tables = []
        for all_answers in (True, False):
            flat = start.copy()
            limits, progress = NO_LIMITS.native(), Control().progress
            compiled.native.fix_point(flat, 1000, all_answers, limits, progress)
            tables.append(flat)
        assert (tables[1] <= tables[0]).all()
        lower += int((tables[1] < tables[0]).sum())
    assert lower


def test_the_second_state_is_the_better_one(build: Build) -> None:
    """A chain that can only be walked in one direction (P3)."""
    steps = [({0: 0}, {0: 1}, 2), ({0: 1}, {0: 2}, 3)]
    function = compute(build((3,), steps, (0,), {0: 2}), Factorization())
    assert function.value((0,), (2,)) == 5
    assert function.value((1,), (2,)) == 3
    assert function.value((2,), (0,)) is None or function.value((2,), (0,)) == -5


def test_rows_are_what_single_values_are() -> None:
    random = Random(7)
    task = random_task(random)
    function = compute(task, Factorization(20))
    states = [tuple(random.randrange(n) for n in task.domain_sizes) for _ in range(30)]
    ids = function.ids(states)
    for state, row in zip(states, ids, strict=True):
        ahead = [function.value(state, other) for other in states]
        back = [function.value(other, state) for other in states]
        plain = [None if v == NO_SUM else v for v in function.from_one(row, ids).tolist()]
        assert plain == ahead
        plain = [None if v == NO_SUM else v for v in function.to_one(row, ids).tolist()]
        assert plain == back


def test_merged_tables_are_never_worse() -> None:
    random = Random(8)
    better = 0
    for _ in range(40):
        task = random_task(random)
        fine, merged = compute(task, Factorization()), compute(task, Factorization(60))
        states = [tuple(random.randrange(n) for n in task.domain_sizes) for _ in range(20)]
        for s in states:
            for t in states:
                a, b = fine.value(s, t), merged.value(s, t)
                if a is not None and all(i >= 0 for i in merged.ids([s, t]).reshape(-1)):
                    assert b is not None
                    better += b > a
    assert better


def test_visited_flags_and_walks(build: Build) -> None:
    """Two places, the second to be visited: having visited is never worse, walking costs 1."""
    walks = [({0: 0}, {0: 1, 1: 1}, 1), ({0: 1}, {0: 0}, 1)]
    function = compute(build((2, 2), walks, (0, 0), {1: 1}), Factorization())
    assert (function.value((0, 0), (0, 1)) or 0) >= 0
    assert function.value((1, 0), (0, 0)) is not None


def test_a_changed_table_does_not_pass_the_check() -> None:
    random = Random(9)
    noticed = 0
    for _ in range(30):
        task = random_task(random)
        function = compute(task, Factorization())
        if not all(factor.n_states for factor in function.factors):
            continue
        assert find_proof_gap(function, task) is None
        for factor in function.factors:
            for part in (factor.table, factor.base):
                s, t = random.randrange(factor.n_states), random.randrange(factor.n_states)
                kept = part[s, t]
                part[s, t] = 1 if kept == NO_VALUE else kept + 1
                noticed += find_proof_gap(function, task) is not None
                part[s, t] = kept
    assert noticed > 50


def test_the_checker_confirms_what_the_function_says_and_not_more(build: Build) -> None:
    steps = [({0: 0}, {0: 1}, 2), ({0: 1}, {0: 2}, 3)]
    check = DominanceChecker(build((3,), steps, (0,), {0: 2}))
    assert check((0,), (2,), 5) is None
    assert check((0,), (2,), 3) is None
    assert "says 5, not 6" in (check((0,), (2,), 6) or "")
    pruned = build((3,), [({0: 0}, {0: 1}, 1)], (0,), {0: 1})
    assert "does not compare" in (DominanceChecker(pruned)((0,), (2,), 0) or "")


def test_a_function_of_another_task_does_not_pass(build: Build) -> None:
    one = build((3,), [({0: 0}, {0: 1}, 2)], (0,), {0: 1})
    other = build((3,), [({0: 0}, {0: 1}, 3)], (0,), {0: 1})
    assert "another task" in (find_proof_gap(compute(one, Factorization()), other) or "")


def test_cancelling(build: Build) -> None:
    control = Control()
    control.cancel()
    task = build((3, 2), [({0: 0}, {0: 1}, 2)], (0, 0), {0: 1})
    with pytest.raises(CancelledError):
        compute(task, Factorization(), control=control)


STAGES = ("merge", "compile_system", "fix_point", "_raised", "b_closure", "r_closure")


@pytest.mark.parametrize("variant", [Variant.B, Variant.R])
@pytest.mark.parametrize("in_time", range(1, 9))
def test_what_begins_after_the_limit_takes_no_time(
    monkeypatch: pytest.MonkeyPatch, variant: Variant, in_time: int
) -> None:
    """Each stage takes 100 seconds, and a few of them begin within the limit."""
    clock, began = Clock(), list[tuple[str, bool]]()
    clock.now = time.monotonic()
    limits = replace(DEFAULT_LIMITS, seconds=100 * in_time - 50)
    deadline = clock.now + limits.seconds

    def slow(name: str, stage: Callable[..., object]) -> Callable[..., object]:
        def run(*arguments: object) -> object:
            is_late = clock.now > deadline
            found = stage(*arguments)  # raises where the time is up
            kernel = [one for one in arguments if isinstance(one, SearchLimits)]
            began.append((name, is_late and not (kernel and kernel[0].seconds == 0.0)))
            clock.now += 100
            return found

        return run

    task = dials(2, 4)
    monkeypatch.setattr(compute_module, "time", clock)
    for name in STAGES:
        monkeypatch.setattr(compute_module, name, slow(name, getattr(compute_module, name)))
    found = compute(task, Factorization(60), variant, limits=limits)
    assert [name for name, is_late in began if is_late] == []
    assert found.complete == (in_time >= {Variant.B: 4, Variant.R: 8}[variant])
    assert variant is Variant.B or find_proof_gap(found, task) is None


def test_sums_with_an_unknown_part_are_unknown() -> None:
    """P10: whatever is known of the other factors, nothing makes up for what is not."""
    random = Random(12)
    unknown = 0
    for _ in range(20):
        task = random_task(random)
        function = compute(task, Factorization())
        states = [tuple(random.randrange(n) for n in task.domain_sizes) for _ in range(12)]
        ids = function.ids(states)
        for s, row in enumerate(ids.tolist()):
            for t, other in enumerate(ids.tolist()):
                parts = [
                    NO_VALUE if a < 0 or b < 0 else int(factor.table[a, b])
                    for factor, a, b in zip(function.factors, row, other, strict=True)
                ]
                expected = None if NO_VALUE in parts else sum(parts)
                assert function.value(states[s], states[t]) == expected
                unknown += NO_VALUE in parts and any(part > 0 for part in parts)
    assert unknown > 20


def test_huge_costs_are_refused(build: Build) -> None:
    """P47: sums of tables must fit."""
    task = build((3, 2), [({0: 0}, {0: 1}, 2**31)], (0, 0), {0: 1})
    with pytest.raises(UnsupportedError, match="unit-costs"):
        compute(task, Factorization())


@pytest.mark.parametrize("text", ["", "atom", "merged:", "merged:0", "merged:-1", "merged:1e3"])
def test_no_factorization(text: str) -> None:
    with pytest.raises(UsageError, match="merged:1000"):
        Factorization.parse(text)


def test_factorizations_by_name() -> None:
    assert str(Factorization.parse("merged:17")) == "merged:17"
    assert str(Factorization.parse("merged")) == "merged:10000"
    assert Factorization.parse("atomic") == Factorization()
