"""Checks dominance values again, by code that shares nothing with what computed them.

A function is a certificate. Its stable tables must satisfy (B), (G) and (T), which is one plain
evaluation and no iteration, over all factors: each rests on all others. What is used beyond them
must follow by the steps of the closure; that is derived only as far as it is
used. Where even that would take too long, nothing is confirmed; and it can be cancelled.
See docs/theory/dominance.md, "Checking a dominance function again".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.dominance.cache import dominance_function
from engine.dominance.compute import Variant
from engine.dominance.derivation import NEVER, Derivation, closed_row, problem_with_base
from engine.dominance.function import DominanceFunction, FactorTable
from engine.dominance.plain_system import (
    MAX_CELLS,
    Budget,
    FloatArray,
    PlainSystem,
    TooLargeError,
    cells,
    derived_tables,
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

TOO_LARGE = "the factors are too large to check the dominance function"


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
        self._sums: dict[int, TableSum] = {}

    def __call__(self, source: State, target: State, gain: int) -> str | None:
        """Return why the claim could not be confirmed, or None if it was."""
        best: int | None = None
        complaint: str | None = None
        for number, factorization in enumerate(self._factorizations):
            function = dominance_function(
                self._task, factorization, limits=None, control=self._control
            )
            value = self._plain_value(number, function, source, target)
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

    def _plain_value(
        self, number: int, function: DominanceFunction, source: State, target: State
    ) -> int | None:
        """D(s, t) without a kernel."""
        if number not in self._sums:
            tables = [factor.table for factor in function.factors]
            self._sums[number] = TableSum(function.factors, function.domain_sizes, tables)
        values = self._sums[number].values(source, target)
        return None if values is None or NO_VALUE in values else int(values.sum(dtype=np.int64))

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
        return f"the checker could derive only {proven:.0f}, not {claim[2]}"


class UnprovenError(Exception):
    """The stable tables of a function do not hold, or checking them would take too long."""


def prove(function: DominanceFunction, task: Task, control: Control | None = None) -> Proof:
    """Check the stable tables of a function; return what it proves."""
    if function.task_hash != task.hash:
        raise UnprovenError("the dominance function belongs to another task")
    if sorted(v for factor in function.factors for v in factor.variables) != list(
        task.state_variables
    ):
        raise UnprovenError("the factors of the dominance function do not partition the variables")
    if function.is_trivial:
        return Proof(function, None, None, control)  # nothing is compared
    finer = None if function.finer is None else prove(function.finer, task, control)
    if any(factor.n_states == 0 for factor in function.factors):
        return Proof(function, None, finer, control)  # nothing is compared
    derived = tuple(derived_tables(task))
    system = _checked_system((*function.factors, *derived), task, Budget(control))
    return Proof(function, system, finer, control, derived)


def _checked_system(factors: Sequence[FactorTable], task: Task, budget: Budget) -> PlainSystem:
    """The system in which the stable tables of a function hold."""
    if cells(factors, task) > MAX_CELLS:
        raise UnprovenError(TOO_LARGE)
    seen, alive = views(factors, task, budget)
    for view, factor in zip(seen, factors, strict=True):
        if not np.array_equal(view.alive, factor.lookup >= 0):
            raise UnprovenError(f"the states of variables {factor.variables} do not match the task")
        if view.frozen and not (_is_identity(factor.base) and _is_identity(factor.table)):
            raise UnprovenError(_complaint(factor, "a value that axioms do not allow"))
    system = plain_system(factors, task, seen, alive, budget)
    try:
        problem = problem_with_base(system, [wide(factor.base) for factor in factors], budget)
    except TooLargeError:
        raise UnprovenError(TOO_LARGE) from None
    if problem is not None:
        raise UnprovenError(_complaint(factors[problem[0]], problem[1]))
    return system


def _is_identity(table: np.ndarray) -> bool:
    return bool(((table == 0) == np.eye(len(table), dtype=np.bool_)).all()) and bool(
        (table[table != 0] == NO_VALUE).all()
    )


@dataclass
class Proof:
    """A function whose stable tables hold; without a system it compares nothing."""

    function: DominanceFunction
    system: PlainSystem | None
    finer: Proof | None
    control: Control | None = None
    derived_factors: tuple[FactorTable, ...] = ()
    _start_rows: Rows = field(default_factory=dict)
    _derived_rows: Rows = field(default_factory=dict)

    @property
    def factors(self) -> tuple[FactorTable, ...]:
        return (*self.function.factors, *self.derived_factors)

    def value(self, source: State, target: State, wanted: int) -> float:
        """Return what is proven of D(s, t): as much as is asked for, or can be derived."""
        if self.system is None:
            return NEVER
        proven = NEVER
        for tables, rows in self._stages():
            values = tables.values(source, target)
            if values is None:
                return NEVER
            direct = float(values.sum())
            if direct < wanted and self.function.variant == Variant.R.value:
                places = zip(tables.places(source), tables.places(target), strict=True)
                direct = sum(
                    float(self._row(tables.tables[i], rows, i, s)[t])
                    for i, (s, t) in enumerate(places)
                )
            proven = max(proven, direct)
            if proven >= wanted:
                break
        return proven

    def _stages(self) -> Iterator[tuple[TableSum, Rows]]:
        """Tables from which values follow, from what is there to what takes long."""
        yield self._start_sum, self._start_rows
        if self.function.variant == Variant.R.value:
            yield self._derived_sum, self._derived_rows

    @cached_property
    def _start_sum(self) -> TableSum:
        return TableSum(self.factors, self.function.domain_sizes, self.start)

    @cached_property
    def _derived_sum(self) -> TableSum:
        return TableSum(self.factors, self.function.domain_sizes, self.derived.tables)

    def _row(self, table: FloatArray, rows: Rows, i: int, s: int) -> FloatArray:
        if (i, s) not in rows:
            rows[i, s] = closed_row(table, s, Budget(self.control))
        return rows[i, s]

    @cached_property
    def start(self) -> list[FloatArray]:
        """The stable tables, raised by what the finer function proves of single variables."""
        tables = [wide(factor.base) for factor in self.factors]
        if self.finer is None or self.system is None:
            return tables
        parts = {factor.variables[0]: factor for factor in self.finer.function.factors}
        proven = {
            factor.variables[0]: table
            for factor, table in zip(self.finer.factors, self.finer.closed, strict=True)
        }
        for i, factor in enumerate(self.function.factors):
            if self.system.frozen[i]:
                continue
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
        claims = [wide(factor.table) for factor in self.factors]
        if all((claim <= table).all() for claim, table in zip(claims, self.start, strict=True)):
            return None
        if self.function.variant == Variant.B.value:
            return "values closed by walks cannot be checked; use the closure 'r'"
        for factor, claim, table in zip(self.factors, claims, self.closed, strict=True):
            if (claim > table).any():
                return _complaint(factor, "a value that does not follow from the stable ones")
        return None


class TableSum:
    """The tables of factors side by side: what they say about two states in one pass."""

    def __init__(
        self,
        factors: Sequence[FactorTable],
        domain_sizes: Sequence[int],
        tables: Sequence[npt.NDArray[Any]],
    ) -> None:
        self.tables = tables
        self._variables, self._weights, self._begin = list[int](), list[int](), list[int]()
        for factor in factors:
            self._begin.append(len(self._variables))
            for place, variable in enumerate(factor.variables):
                self._variables.append(variable)
                others = factor.variables[place + 1 :]
                self._weights.append(prod(domain_sizes[other] for other in others))
        sizes = [len(table) for table in tables]
        self._sizes = np.array(sizes, np.int64)
        self._first_lookup = _starts([len(factor.lookup) for factor in factors])
        self._first_entry = _starts([size * size for size in sizes])
        self._lookups = np.concatenate([np.empty(0, np.int64), *(f.lookup for f in factors)])
        self._entries = np.concatenate([np.empty(0), *(np.ravel(table) for table in tables)])
        self.places = lru_cache(4096)(self._places)  # chains of evidence meet in the same states

    def _places(self, state: State) -> npt.NDArray[np.int64]:
        """The state of each factor in which a state is; -1 for a pruned one."""
        if not len(self.tables):
            return self._sizes
        parts = np.array(state)[self._variables] * self._weights
        return self._lookups[self._first_lookup + np.add.reduceat(parts, self._begin)]

    def values(self, source: State, target: State) -> FloatArray | None:
        """The entry of each table; None if one of the states is pruned."""
        s, t = self.places(source), self.places(target)
        if (s < 0).any() or (t < 0).any():
            return None
        return self._entries[self._first_entry + s * self._sizes + t]


def _starts(lengths: Sequence[int]) -> npt.NDArray[np.int64]:
    return np.append(0, np.cumsum(lengths, dtype=np.int64))[:-1]


def wide(table: np.ndarray) -> FloatArray:
    return np.where(table == NO_VALUE, NEVER, table.astype(np.float64))


def _complaint(factor: FactorTable, what: str) -> str:
    return f"the table of variables {factor.variables} has {what}"
