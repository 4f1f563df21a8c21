"""From a task to its dominance function: factors, fix-point, closure.

The tables of merged factors are never worse than those of atomic ones: a maximum of dominance
functions over the same factors is one again, so what merging finds is added to
what the variables say by themselves, and a limit can only cost the difference.
See docs/theory/dominance.md, "Merged and atomic factors together".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np

from engine.dominance.factors import Factor, FactoredSystem, atomic_system
from engine.dominance.fix_point import b_closure, default_truncation, fix_point, r_closure, scaled
from engine.dominance.function import DominanceFunction, FactorTable
from engine.dominance.labels import CompiledSystem, compile_system
from engine.dominance.merging import merge
from engine.errors import CancelledError
from engine.native.control import Control
from engine.native.dominance import NO_SUM, NO_VALUE
from engine.native.library import Int32Array
from engine.records.config import Factorization
from engine.search.forward import SearchLimits
from engine.task.cases import find_obstacle
from engine.task.task import Task

DEFAULT_LIMITS = SearchLimits(expansions=20_000_000_000)
"""Steps, not seconds, so that the same task always has the same function."""

CLOSURE_SHARE = 0.3


class Variant(Enum):
    A = "a"  # stable tables as they are
    B = "b"  # and walks that concern one factor only
    R = "r"  # and everything that can be put back in order


def compute(
    task: Task,
    factorization: Factorization,
    variant: Variant = Variant.R,
    *,
    limits: SearchLimits = DEFAULT_LIMITS,
    truncation: int | None = None,
    control: Control | None = None,
) -> DominanceFunction:
    """The dominance function of a task; the identity where the task allows no other."""
    if obstacle := find_obstacle(task):
        return DominanceFunction.identity(task, variant.value, obstacle)
    work = _Computation(task, variant, limits, truncation, control or Control())
    system = atomic_system(task, work.look_for_stop)
    merges = factorization.transitions is not None
    finer = None
    try:
        if not merges or variant is Variant.R:
            finer = work.function(system)
        if factorization.transitions is None:
            assert finer is not None
            return finer
        return work.function(merge(system, factorization.transitions, work.look), finer)
    except _OutOfTimeError:
        return work.nothing(system) if finer is None else replace(finer, complete=False)


class _OutOfTimeError(Exception):
    pass


@dataclass(frozen=True)
class _Computation:
    task: Task
    variant: Variant
    limits: SearchLimits
    truncation: int | None
    control: Control
    began: float = field(default_factory=time.monotonic)

    def look_for_stop(self) -> None:
        if self.control.cancelled:
            raise CancelledError

    def look(self) -> None:
        """Raise if it is cancelled or the time is up; long computations call this often."""
        self.look_for_stop()
        if self.left.seconds == 0.0:
            raise _OutOfTimeError

    @property
    def left(self) -> SearchLimits:
        """The limits, without the time that has passed."""
        if self.limits.seconds is None:
            return self.limits
        passed = time.monotonic() - self.began
        return replace(self.limits, seconds=max(self.limits.seconds - passed, 0.0))

    def function(
        self, system: FactoredSystem, finer: DominanceFunction | None = None
    ) -> DominanceFunction:
        if not system.has_states:
            return self.nothing(system, complete=True)
        compiled = compile_system(system, self.look)
        truncation = default_truncation(compiled) if self.truncation is None else self.truncation
        base, complete = fix_point(compiled, truncation, self.left, self.control)
        if self.variant is Variant.A:
            return self._assembled(system, base, base, complete=complete)
        if self.variant is Variant.B:
            closed = b_closure(system, base, self.look)
            return self._assembled(system, base, closed, complete=complete)
        start = base if finer is None else _raised(system, compiled, base, finer, self.look)
        share = scaled(self.limits, CLOSURE_SHARE)
        limits = replace(share, seconds=self.left.seconds)
        tables, finished = r_closure(compiled, start, limits, self.control)
        complete = complete and finished and (finer is None or finer.complete)
        return self._assembled(system, base, tables, finer, complete)

    def nothing(self, system: FactoredSystem, complete: bool = False) -> DominanceFunction:
        """A function that compares nothing, as where the goal is out of reach in one factor."""
        empty = np.empty((0, 0), np.int32)
        factors = tuple(
            FactorTable(factor.variables, np.full_like(factor.lookup, -1), empty, empty)
            for factor in system.factors
            if not self._is_derived(factor)
        )
        return DominanceFunction(
            self.task.hash, self.task.domain_sizes, self.variant.value, factors, None, complete
        )

    def _is_derived(self, factor: Factor) -> bool:
        """Derived values follow from the others: they are the same where those are."""
        return factor.frozen and factor.variables[0] in self.task.derived_variables

    def _assembled(
        self,
        system: FactoredSystem,
        base: Sequence[Int32Array],
        tables: Sequence[Int32Array],
        finer: DominanceFunction | None = None,
        complete: bool = True,
    ) -> DominanceFunction:
        factors = tuple(
            FactorTable(factor.variables, factor.lookup, table, stable)
            for factor, table, stable in zip(system.factors, tables, base, strict=True)
            if not self._is_derived(factor)
        )
        return DominanceFunction(
            self.task.hash, self.task.domain_sizes, self.variant.value, factors, finer, complete
        )


def _raised(
    system: FactoredSystem,
    compiled: CompiledSystem,
    tables: Sequence[Int32Array],
    finer: DominanceFunction,
    look: Callable[[], None],
) -> list[Int32Array]:
    """The maximum with the sum of the finer tables, which must not break (B)."""
    raised = []
    parts = {factor.variables[0]: factor for factor in finer.factors}
    for factor, table, heights in zip(system.factors, tables, compiled.heights, strict=True):
        if factor.frozen:
            raised.append(table)
            continue
        combinations = np.flatnonzero(factor.lookup >= 0)
        combinations = combinations[np.argsort(factor.lookup[combinations])]
        sizes = [finer.domain_sizes[variable] for variable in factor.variables]
        values = np.unravel_index(combinations, sizes)
        total = np.zeros(table.shape, np.int64)
        for variable, column in zip(factor.variables, values, strict=True):
            look()
            states = parts[variable].lookup[column]
            entries = parts[variable].table[np.ix_(states, states)].astype(np.int64)
            unknown = (total == NO_SUM) | (entries == NO_VALUE)
            total = np.where(unknown, NO_SUM, np.where(unknown, 0, total) + entries)
        most = np.minimum(total, heights[:, None].astype(np.int64) - heights[None, :])
        raised.append(np.maximum(table, np.maximum(most, NO_VALUE)).astype(np.int32))
    return raised
