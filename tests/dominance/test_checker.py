"""What a checker of dominance values must not fall for, and how far it gets with little work."""

from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from reference.dominance import find_proof_gap, random_task
from reference.random_tasks import dials

from engine.dominance import checker as check
from engine.dominance import derivation
from engine.dominance.cache import dominance_function
from engine.dominance.compute import Variant, compute
from engine.dominance.function import DominanceFunction
from engine.dominance.plain_system import Budget
from engine.errors import CancelledError
from engine.native.control import Control
from engine.records.config import Factorization
from engine.task.task import Task

Build = Callable[..., Task]
MERGED = Factorization(60)


def random_states(task: Task, random: Random, n: int) -> list[tuple[int, ...]]:
    return [tuple(random.randrange(size) for size in task.domain_sizes) for _ in range(n)]


def proven_pairs(function: DominanceFunction, task: Task, random: Random) -> tuple[int, int]:
    """How many values of some random pairs there are, and how many the proof confirms."""
    proof = check.prove(function, task)
    values = confirmed = 0
    states = random_states(task, random, 12)
    for s in states:
        for t in states:
            value = function.value(s, t)
            if value is not None:
                proven = proof.value(s, t, value)
                assert proven <= value
                values += 1
                confirmed += proven == value
    return values, confirmed


@pytest.mark.parametrize("n", [2, 9, 17, 33])
def test_many_factors_without_an_answer_are_no_answer(build: Build, n: int) -> None:
    """Who has the first thing already cannot do all at once; n - 1 factors know that."""
    all_at_once = (dict.fromkeys(range(n), 0), dict.fromkeys(range(n), 1), 1)
    task = build((2,) * n, [all_at_once], (0,) * n, dict.fromkeys(range(n), 1))
    function = compute(task, Factorization())
    assert find_proof_gap(function, task) is None
    function.factors[0].base[0, 1] = function.factors[0].table[0, 1] = 1
    assert "no answer" in (find_proof_gap(function, task) or "")


@pytest.mark.parametrize("factorization", [Factorization(), MERGED], ids=str)
def test_everything_a_function_says_is_confirmed(factorization: Factorization) -> None:
    random = Random(3)
    total = 0
    for _ in range(12):
        task = random_task(random)
        values, confirmed = proven_pairs(compute(task, factorization), task, random)
        assert values == confirmed
        total += values
    assert total > 100


def test_rows_are_closed_where_tables_are_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derivation, "MAX_DERIVATION", 0)
    random = Random(4)
    values = confirmed = 0
    for _ in range(25):
        task = random_task(random)
        there, proven = proven_pairs(compute(task, MERGED), task, random)
        values, confirmed = values + there, confirmed + proven
    assert 0.8 * values < confirmed < values


def test_a_closed_row_is_a_row_of_the_closure() -> None:
    random = np.random.default_rng(5)
    for _ in range(20):
        table = random.integers(-9, 0, (8, 8)).astype(float)
        table[random.random((8, 8)) < 0.6] = derivation.NEVER
        np.fill_diagonal(table, 0)
        closed = table.copy()
        derivation.close(closed, Budget())
        for s in range(8):
            assert (derivation.closed_row(table, s, Budget()) == closed[s]).all()


def test_what_takes_too_long_is_not_confirmed(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = build((3,), [({0: 0}, {0: 1}, 2), ({0: 1}, {0: 2}, 3)], (0,), {0: 2})
    monkeypatch.setattr(check, "Budget", lambda _: Budget(steps=3))
    assert "too large" in (check.DominanceChecker(task)((0,), (2,), 5) or "")
    monkeypatch.setattr(check, "MAX_CELLS", 5)
    assert "too large" in (find_proof_gap(compute(task, Factorization()), task) or "")


def test_labels_that_do_the_same_are_looked_at_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each dial has 12 labels of its own and 228 that do not touch it."""
    task = dials(20, 6)
    monkeypatch.setattr(check, "Budget", lambda _: Budget(steps=3_000_000))
    assert find_proof_gap(compute(task, Factorization()), task) is None


@pytest.mark.parametrize("steps", [0, 50, 500])
def test_a_derivation_that_is_cut_short_stays_below(
    monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    random = Random(6)
    for _ in range(10):
        task = random_task(random)
        function = compute(task, MERGED)
        proof = check.prove(function, task)
        if proof.system is None:
            continue
        start = proof.start
        monkeypatch.setattr(derivation, "MAX_DERIVATION", steps)
        short = derivation.Derivation(proof.system, start)
        monkeypatch.undo()
        for table, factor in zip(short.tables, function.factors, strict=True):
            assert (table <= check.wide(factor.table)).all()


def test_stable_tables_need_no_derivation(build: Build) -> None:
    task = build((3,), [({0: 0}, {0: 1}, 2), ({0: 1}, {0: 2}, 3)], (0,), {0: 2})
    proof = check.prove(compute(task, Factorization(), Variant.A), task)
    assert proof.value((0,), (2,), 5) == 5
    assert "derived" not in vars(proof)


class Impatient(Control):
    """Is cancelled when it is asked for the n-th time."""

    def __init__(self, patience: int) -> None:
        super().__init__()
        self.patience = patience

    @property
    def cancelled(self) -> bool:
        self.patience -= 1
        return self.patience < 0


def test_a_check_can_be_cancelled_anywhere_and_leaves_nothing_half_done() -> None:
    """The more patience, the further it gets: through enumeration, base tables and closures."""
    task = dials(2, 3)
    function = compute(task, MERGED)
    claims = [((0, 0), (0, 1), -1), ((1, 0), (0, 0), -1), ((1, 1), (0, 2), -2)]
    expected = [check.prove(function, task).value(*claim) for claim in claims]
    looks = 0
    while True:
        try:
            proof = check.prove(function, task, Impatient(looks))
            values = [proof.value(*claim) for claim in claims]
            break
        except CancelledError:
            looks += 1
    assert values == expected
    assert looks > 20


def test_a_cancelled_check_may_be_asked_again() -> None:
    task = dials(2, 3)
    control = Control()
    checker = check.DominanceChecker(task, [MERGED], control)
    value = dominance_function(task, MERGED).value((0, 0), (0, 1))
    assert value is not None
    control.cancel()
    with pytest.raises(CancelledError):
        checker((0, 0), (0, 1), value)
    control.progress.cancel = 0
    assert checker((0, 0), (0, 1), value) is None
