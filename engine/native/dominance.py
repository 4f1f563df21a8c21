"""Dominance functions in the kernels: how they are computed, and how oracles use them.

`NativeSystem` computes tables; those of all factors lie in one array, one square after the other,
and row s, column t of a square is D_i(s, t). What the numbers mean is in `dominance/system.hpp`.
`NativeTables` answers what D of two states is. It works on rows of factor states, -1 for a pruned
one.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from engine.native.library import (
    Int32Array,
    Int64Array,
    NativeLimits,
    NativeProgress,
    Outcome,
    as_array,
    call,
    check_shape,
    create,
    destroy_with,
)

NO_VALUE = -(2**29)
"""Minus infinity in a table: nothing is known."""

RANGE = 2**27
"""Finite entries lie between -RANGE and RANGE."""

NO_SUM = -(2**63)
"""Minus infinity in a sum over factors."""


class NativeSystem:
    """Factored transition systems in the kernels' memory.

    `arcs` has per factor the columns (group, source, target), `label_groups` a row per factor with
    the group of every label; group 0 are labels that change nothing in the factor.
    """

    def __init__(
        self,
        n_states: Sequence[int],
        arcs: Sequence[tuple[Int32Array, Int32Array, Int32Array]],
        label_groups: Int32Array,
        costs: Int64Array,
    ) -> None:
        if len(arcs) != len(n_states):
            raise ValueError("every factor needs states and arcs")
        self.n_states = tuple(n_states)
        n_arcs = [len(factor[0]) for factor in arcs]
        groups, sources, targets = (
            as_array(np.concatenate([factor[column] for factor in arcs]), np.int32, (sum(n_arcs),))
            for column in range(3)
        )
        label_groups = as_array(label_groups, np.int32, (len(n_states), len(costs)))
        self.handle = create(
            "dominance_create",
            len(n_states),
            as_array(self.n_states, np.int32),
            as_array(label_groups.max(axis=1, initial=0) + 1, np.int32),
            as_array(n_arcs, np.int64),
            groups,
            sources,
            targets,
            len(costs),
            as_array(costs, np.int64),
            label_groups,
        )
        destroy_with(self, "dominance_destroy", self.handle)

    def fix_point(
        self,
        tables: Int32Array,
        truncation: int,
        all_answers: bool,
        limits: NativeLimits,
        progress: NativeProgress,
    ) -> Outcome:
        """Lower the tables in place until they are stable: unless SOLVED they are too large."""
        self._check(tables)
        outcome = ctypes.c_int64()
        call(
            *("dominance_fix_point", self.handle, tables, truncation, all_answers),
            *(limits, progress, outcome),
        )
        return Outcome(outcome.value)

    def closure(
        self,
        tables: Int32Array,
        heights: Int32Array,
        limits: NativeLimits,
        progress: NativeProgress,
    ) -> Outcome:
        """Raise the tables in place to their R-closure; they are sound however it ended."""
        self._check(tables)
        heights = as_array(heights, np.int32, (sum(self.n_states),))
        outcome = ctypes.c_int64()
        call("dominance_closure", self.handle, tables, heights, limits, progress, outcome)
        return Outcome(outcome.value)

    def _check(self, tables: Int32Array) -> None:
        check_shape(tables, (sum(n * n for n in self.n_states),))


class NativeTables:
    """The tables of a dominance function, with the lookup of each factor and its variables."""

    def __init__(
        self,
        tables: Sequence[Int32Array],
        lookups: Sequence[Int32Array],
        variables: Sequence[Sequence[int]],
        domain_sizes: Sequence[int],
    ) -> None:
        if any(table.shape != (len(table), len(table)) for table in tables):
            raise ValueError("expected square tables")
        if not len(tables) == len(lookups) == len(variables):
            raise ValueError("every factor needs a table, a lookup and variables")
        self.n_factors = len(tables)
        self._n_variables = len(domain_sizes)
        own = [variable for factor in variables for variable in factor]
        squares = as_array(np.concatenate([_NOTHING, *map(np.ravel, tables)]), np.int32)
        all_lookups = as_array(np.concatenate([_NOTHING, *lookups]), np.int32)
        self.handle = create(
            "tables_create",
            self.n_factors,
            as_array([len(table) for table in tables], np.int32),
            squares,
            as_array([len(factor) for factor in variables], np.int32),
            as_array(own, np.int32),
            as_array([domain_sizes[variable] for variable in own], np.int32),
            as_array([len(lookup) for lookup in lookups], np.int64),
            all_lookups,
        )
        destroy_with(self, "tables_destroy", self.handle, squares, all_lookups)

    def find(self, values: Int32Array) -> Int32Array:
        """The factor states of states given by the values of all variables, one row each."""
        values = as_array(values, np.int32, (None, self._n_variables))
        ids = np.empty((len(values), self.n_factors), np.int32)
        call("tables_find", self.handle, len(values), self._n_variables, values, ids)
        return ids

    def values(self, sources: Int32Array, targets: Int32Array) -> Int64Array:
        """D(s, t) of all pairs, NO_SUM where nothing is known."""
        sources = as_array(sources, np.int32, (None, self.n_factors))
        targets = as_array(targets, np.int32, (None, self.n_factors))
        values = np.empty((len(sources), len(targets)), np.int64)
        call("tables_values", self.handle, len(sources), sources, len(targets), targets, values)
        return values


_NOTHING: Int32Array = np.empty(0, np.int32)
