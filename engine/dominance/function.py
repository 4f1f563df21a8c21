"""A dominance function: D(s, t) <= h*(s) - h*(t) for every solvable s.

The second argument is the better one: D says by how much. The function is the sum of one table
per factor. A state is looked up once; then many states against many others are one pass over
their factor states. See docs/theory/dominance.md, "Evaluation".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from engine.native.dominance import NO_SUM, NO_VALUE, NativeTables
from engine.native.library import Int32Array, Int64Array
from engine.search.effort import NO_EFFORT, Effort
from engine.task.task import Task

__all__ = ["NO_SUM", "NO_VALUE", "DominanceFunction", "FactorTable"]


@dataclass(frozen=True)
class FactorTable:
    """One summand: `table[s, t]` is D_i(s, t), NO_VALUE if nothing is known.

    `base` is the stable table the other one was derived from; the checker needs it.
    """

    variables: tuple[int, ...]
    lookup: Int32Array  # as in Factor
    table: Int32Array
    base: Int32Array

    @property
    def n_states(self) -> int:
        return len(self.table)

    @cached_property
    def transposed(self) -> Int32Array:
        return np.ascontiguousarray(self.table.T)

    @cached_property
    def places(self) -> Int64Array:
        """The place of each state in the lookup; for an atomic factor that is its value."""
        known = np.flatnonzero(self.lookup >= 0)
        return known[np.argsort(self.lookup[known])]


@dataclass(frozen=True)
class DominanceFunction:
    """Valid for one encoding of a task, the one with this hash (P14).

    `variant` is how the tables were closed; `finer` is the function of atomic factors that went
    into those of merged ones.
    """

    task_hash: str
    domain_sizes: tuple[int, ...]
    variant: str
    factors: tuple[FactorTable, ...]
    finer: DominanceFunction | None = None
    complete: bool = True  # no limit made it weaker than it could be
    effort: Effort = NO_EFFORT  # what computing it took
    reason: str = ""  # why it compares no two different states, if the task does not allow it

    @classmethod
    def identity(cls, task: Task, variant: str, reason: str) -> DominanceFunction:
        """The function that compares a state only with itself, where dominance does not apply."""
        factors = []
        for variable in task.state_variables:
            size = task.domain_sizes[variable]
            table = np.where(np.eye(size, dtype=np.bool_), 0, NO_VALUE).astype(np.int32)
            factors.append(FactorTable((variable,), np.arange(size, dtype=np.int32), table, table))
        return cls(
            task.hash, task.domain_sizes, variant, tuple(factors), complete=False, reason=reason
        )

    @property
    def is_trivial(self) -> bool:
        return bool(self.reason)

    @cached_property
    def native(self) -> NativeTables:
        """The tables as the kernels see them."""
        return NativeTables(
            [factor.table for factor in self.factors],
            [factor.lookup for factor in self.factors],
            [factor.variables for factor in self.factors],
            self.domain_sizes,
        )

    def factor_values(self, number: int) -> Int64Array:
        """What each state of a factor means: a row with the values of the factor's variables."""
        factor = self.factors[number]
        sizes = [self.domain_sizes[variable] for variable in factor.variables]
        return np.stack(np.unravel_index(factor.places, sizes), axis=1)

    def ids(self, values: npt.ArrayLike) -> Int32Array:
        """The factor states of many states, one row each; -1 is a pruned one."""
        return self.native.find(np.atleast_2d(np.asarray(values)))

    def values(self, sources: Int32Array, targets: Int32Array) -> Int64Array:
        """D(s, t) of all pairs of states given by ids; NO_SUM: nothing is known."""
        return self.native.values(sources, targets)

    def from_one(self, source: Int32Array, others: Int32Array) -> Int64Array:
        """D(s, t) of one s (a row of ids) for many t (rows of ids)."""
        return self.values(source[None, :], others).reshape(-1)

    def to_one(self, target: Int32Array, others: Int32Array) -> Int64Array:
        """D(s, t) of one t for many s."""
        return self.values(others, target[None, :]).reshape(-1)

    def value(self, source: Sequence[int], target: Sequence[int]) -> int | None:
        """D(s, t) of two states, None if nothing is known."""
        s, t = self.ids([source, target])
        value = int(self.from_one(s, t[None, :])[0])
        return None if value == NO_SUM else value
