"""The typed Python face of the kernels that compute dominance functions.

Tables of all factors lie in one array, one square after the other; row s, column t of a square is
D_i(s, t). What the numbers mean and which are possible is in `dominance_system.hpp`.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence
from functools import cache

import numpy as np

from engine.native.library import (
    Int32Array,
    Int64Array,
    NativeLimits,
    Outcome,
    as_int32,
    as_int64,
    call,
    declare,
    library,
)

NO_VALUE = -(2**29)
"""Minus infinity in a table: nothing is known."""

RANGE = 2**27
"""Finite entries lie between -RANGE and RANGE."""

_POINTER = ctypes.c_void_p
_INT32 = ctypes.c_int32

_FUNCTIONS = {
    "plumbline_dominance_create": [_INT32, *[_POINTER] * 6, _INT32, *[_POINTER] * 3],
    "plumbline_dominance_fix_point": [_POINTER, _POINTER, _INT32, _INT32, *[_POINTER] * 3],
    "plumbline_dominance_closure": [_POINTER] * 6,
}


@cache
def _declare() -> None:
    """Tell ctypes the signatures, once."""
    declare(_FUNCTIONS, "plumbline_dominance_destroy")


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
        _declare()
        self.n_states = tuple(n_states)
        groups, sources, targets = (
            as_int32(np.concatenate([factor[column] for factor in arcs])) for column in range(3)
        )
        n_groups = label_groups.max(axis=1, initial=0) + 1
        if label_groups.shape != (len(n_states), len(costs)) or len(arcs) != len(n_states):
            raise ValueError("every factor needs states, arcs and a group for every label")
        handle = _POINTER()
        call(
            "plumbline_dominance_create",
            len(n_states),
            as_int32(np.array(n_states)),
            as_int32(n_groups),
            as_int64(np.array([len(factor[0]) for factor in arcs])),
            groups,
            sources,
            targets,
            len(costs),
            as_int64(costs),
            as_int32(label_groups, len(costs)),
            ctypes.byref(handle),
        )
        self.handle = handle
        weakref.finalize(self, library().plumbline_dominance_destroy, handle)

    def fix_point(
        self,
        tables: Int32Array,
        truncation: int,
        all_answers: bool,
        limits: NativeLimits,
        progress: Int64Array,
    ) -> Outcome:
        """Lower the tables in place until they are stable: unless SOLVED they are too large."""
        self._check(tables)
        outcome = np.empty(1, np.int64)
        call(
            "plumbline_dominance_fix_point",
            self.handle,
            tables,
            truncation,
            int(all_answers),
            ctypes.byref(limits),
            progress,
            outcome,
        )
        return Outcome(int(outcome[0]))

    def closure(
        self,
        tables: Int32Array,
        heights: Int32Array,
        limits: NativeLimits,
        progress: Int64Array,
    ) -> Outcome:
        """Raise the tables in place to their R-closure; they are sound however it ended."""
        self._check(tables)
        heights = as_int32(heights)
        if len(heights) != sum(self.n_states):
            raise ValueError(f"{len(heights)} goal distances for {sum(self.n_states)} states")
        outcome = np.empty(1, np.int64)
        call(
            "plumbline_dominance_closure",
            self.handle,
            tables,
            heights,
            ctypes.byref(limits),
            progress,
            outcome,
        )
        return Outcome(int(outcome[0]))

    def _check(self, tables: Int32Array) -> None:
        size = sum(n * n for n in self.n_states)
        if tables.dtype != np.int32 or tables.shape != (size,) or not tables.flags.c_contiguous:
            raise ValueError(f"expected {size} table entries in one int32 array")
