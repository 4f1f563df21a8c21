"""Checks dominance values again, by code that shares nothing with what computed them.

A function is a certificate. Its stable tables must satisfy (B), (G) and (T), which is one plain
evaluation and no iteration, over all factors: each rests on all others. What is used beyond them
must follow by the steps of the closure; that is derived only as far as it is
used. Where even that would take too long, nothing is confirmed; and it can be cancelled.
See docs/theory/dominance.md, "Checking a dominance function again".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from engine.dominance.cache import dominance_function
from engine.dominance.compute import Variant
from engine.dominance.derivation import (
    NEVER,
    Derivation,
    closed_row,
    problem_with_base,
)
from engine.dominance.function import DominanceFunction, FactorTable
from engine.dominance.plain_system import (
    MAX_CELLS,
    Budget,
    FloatArray,
    PlainSystem,
    TooLargeError,
    cells,
    plain_system,
    views,
)
from engine.native.control import Control
from engine.native.dominance import NO_VALUE
from engine.records.config import Factorization
from engine.task.task import Task

State = tuple[int, ...]

Rows = dict[tuple[int, int], FloatArray]
"""Closed rows that were asked for, by factor and state."""

TOO_LARGE = "the factors are too large to check the dominance function again"


class DominanceChecker:
    """Whether D(s, t) >= d, by any of the functions of a task. For `engine.verify.evidence`."""

    def __init__(
        self,
        task: Task,
        factorizations: Iterable[Factorization] = (Factorization(),),
        control: Control | None = None,
    ) -> None:
        self._task = task
        self._factorizations = tuple(factorizations)
        self._control = control
        self._proofs: dict[int, Proof | str] = {}

    def __call__(self, source: State, target: State, gain: int) -> str | None:
        """Why the claim could not be confirmed, None when it was."""
        best: int | None = None
        complaint: str | None = None
        for number, factorization in enumerate(self._factorizations):
            function = dominance_function(self._task, factorization, control=self._control)
            value = plain_value(function, source, target)
            if value is not None and (best is None or value > best):
                best = value
            if value is None or value < gain:
                continue
            complaint = self._problem_with(number, function, (source, target, gain))
            if complaint is None:
                return None
        if best is None:
            return "the dominance function does not compare these states"
        return complaint or f"the dominance function says {best}, not {gain}"

    def _problem_with(
        self, number: int, function: DominanceFunction, claim: tuple[State, State, int]
    ) -> str | None:
        if number not in self._proofs:
            try:
                self._proofs[number] = prove(function, self._task, self._control)
            except UnprovenError as problem:
                self._proofs[number] = str(problem)
        proof = self._proofs[number]
        if isinstance(proof, str):
            return proof
        proven = proof.value(*claim)
        if proven >= claim[2]:
            return None
        return f"only {proven:.0f} of {claim[2]} could be derived again"


def plain_value(function: DominanceFunction, source: State, target: State) -> int | None:
    """D(s, t) without a kernel."""
    total = 0
    for factor in function.factors:
        s, t = place_of(factor, function, source), place_of(factor, function, target)
        if s < 0 or t < 0 or factor.table[s, t] == NO_VALUE:
            return None
        total += int(factor.table[s, t])
    return total


class UnprovenError(Exception):
    """The stable tables of a function do not hold, or that cannot be found out."""


def find_proof_gap(function: DominanceFunction, task: Task) -> str | None:
    """What is wrong with a function of a task, None if all of it is proven."""
    try:
        return prove(function, task).problem_with_tables()
    except UnprovenError as problem:
        return str(problem)


def prove(function: DominanceFunction, task: Task, control: Control | None = None) -> Proof:
    """What the function proves, once its stable tables are known to hold."""
    if function.task_hash != task.hash:
        raise UnprovenError("the dominance function belongs to another task")
    if sorted(v for factor in function.factors for v in factor.variables) != list(
        range(len(task.variables))
    ):
        raise UnprovenError("the factors of the dominance function do not partition the variables")
    finer = None if function.finer is None else prove(function.finer, task, control)
    if any(factor.n_states == 0 for factor in function.factors):
        return Proof(function, None, finer, control)  # nothing is compared
    return Proof(function, _checked_system(function, task, Budget(control)), finer, control)


def _checked_system(function: DominanceFunction, task: Task, budget: Budget) -> PlainSystem:
    """The system in which the stable tables of a function hold."""
    if cells(function.factors, task) > MAX_CELLS:
        raise UnprovenError(TOO_LARGE)
    seen, alive = views(function.factors, task, budget)
    for view, factor in zip(seen, function.factors, strict=True):
        if not np.array_equal(view.alive, factor.lookup >= 0):
            raise UnprovenError(
                f"the states of variables {factor.variables} are not those that matter"
            )
    system = plain_system(function.factors, task, seen, alive, budget)
    try:
        problem = problem_with_base(system, [wide(f.base) for f in function.factors], budget)
    except TooLargeError:
        raise UnprovenError(TOO_LARGE) from None
    if problem is not None:
        raise UnprovenError(_complaint(function.factors[problem[0]], problem[1]))
    return system


@dataclass
class Proof:
    """A function whose stable tables hold; without a system it compares nothing."""

    function: DominanceFunction
    system: PlainSystem | None
    finer: Proof | None
    control: Control | None = None
    _start_rows: Rows = field(default_factory=dict)
    _derived_rows: Rows = field(default_factory=dict)

    def value(self, source: State, target: State, wanted: int) -> float:
        """What is proven of D(s, t): as much as is wanted, or as much as can be derived."""
        if self.system is None:
            return NEVER
        places = [
            (place_of(factor, self.function, source), place_of(factor, self.function, target))
            for factor in self.function.factors
        ]
        if any(s < 0 or t < 0 for s, t in places):
            return NEVER
        proven = NEVER
        for tables, rows in self._stages():
            direct = sum(float(table[s, t]) for table, (s, t) in zip(tables, places, strict=True))
            if direct < wanted and self.function.variant == Variant.R.value:
                direct = sum(
                    float(self._row(table, rows, i, s)[t])
                    for i, (table, (s, t)) in enumerate(zip(tables, places, strict=True))
                )
            proven = max(proven, direct)
            if proven >= wanted:
                break
        return proven

    def _stages(self) -> Iterator[tuple[list[FloatArray], Rows]]:
        """Tables from which values follow, from what is there to what takes long."""
        yield self.start, self._start_rows
        if self.function.variant == Variant.R.value:
            yield self.derived.tables, self._derived_rows

    def _row(self, table: FloatArray, rows: Rows, i: int, s: int) -> FloatArray:
        if (i, s) not in rows:
            rows[i, s] = closed_row(table, s, Budget(self.control))
        return rows[i, s]

    @cached_property
    def start(self) -> list[FloatArray]:
        """The stable tables, raised by what the finer function proves of single variables."""
        tables = [wide(factor.base) for factor in self.function.factors]
        if self.finer is None or self.system is None:
            return tables
        parts = {factor.variables[0]: factor for factor in self.finer.function.factors}
        proven = {
            factor.variables[0]: table
            for factor, table in zip(self.finer.function.factors, self.finer.closed, strict=True)
        }
        for i, factor in enumerate(self.function.factors):
            values = self.function.factor_values(i)
            total = np.zeros_like(tables[i])
            for column, variable in enumerate(factor.variables):
                states = parts[variable].lookup[values[:, column]]
                total += proven[variable][np.ix_(states, states)]
            heights = self.system.heights[i]
            tables[i] = np.maximum(
                tables[i], np.minimum(total, heights[:, None] - heights[None, :])
            )
        return tables

    @cached_property
    def derived(self) -> Derivation:
        assert self.system is not None
        return Derivation(self.system, self.start, self.control)

    @property
    def closed(self) -> list[FloatArray]:
        """The tables as far as they follow from the stable ones."""
        is_derived = self.function.variant == Variant.R.value
        return self.derived.tables if is_derived else self.start

    def problem_with_tables(self) -> str | None:
        """Whether the final tables are at most what can be derived from the stable ones."""
        if self.system is None:
            return None
        claims = [wide(factor.table) for factor in self.function.factors]
        if all((claim <= table).all() for claim, table in zip(claims, self.start, strict=True)):
            return None
        if self.function.variant == Variant.B.value:
            return "walks are not checked again: use the closure 'r'"
        for factor, claim, table in zip(self.function.factors, claims, self.closed, strict=True):
            if (claim > table).any():
                return _complaint(factor, "a value that does not follow from the stable ones")
        return None


def place_of(factor: FactorTable, function: DominanceFunction, state: State) -> int:
    """The state of a factor in which a state is; -1 for a pruned one."""
    place = 0
    for variable in factor.variables:
        place = place * function.domain_sizes[variable] + state[variable]
    return int(factor.lookup[place])


def wide(table: np.ndarray) -> FloatArray:
    return np.where(table == NO_VALUE, NEVER, table.astype(np.float64))


def _complaint(factor: FactorTable, what: str) -> str:
    return f"the table of variables {factor.variables} has {what}"
