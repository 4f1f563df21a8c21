"""The typed Python face of the kernels that use dominance functions.

`NativeTables` answers what D of two states is; `NativeComparison` holds the states that an oracle
compares with each other. Both work on rows of factor states, -1 for a pruned one.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence
from functools import cache

import numpy as np

from engine.native.library import Int32Array, Int64Array, as_int32, call, declare, library

NO_SUM = -(2**63)
"""Minus infinity in a sum over factors."""

_POINTER = ctypes.c_void_p
_INT32 = ctypes.c_int32
_INT64 = ctypes.c_int64

_FUNCTIONS = {
    "plumbline_tables_create": [_INT32, *[_POINTER] * 8],
    "plumbline_tables_find": [_POINTER, _INT64, _INT32, _POINTER, _POINTER],
    "plumbline_tables_values": [_POINTER, _INT64, _POINTER, _INT64, _POINTER, _POINTER],
    "plumbline_comparison_create": [_POINTER, _POINTER],
    "plumbline_comparison_add": [_POINTER, _INT64, _POINTER, _INT32, *[_POINTER] * 3],
    "plumbline_comparison_infer": [_POINTER, _INT64, _POINTER, _INT64, *[_POINTER] * 3],
    "plumbline_comparison_tell": [_POINTER, _INT64, *[_POINTER] * 4],
}


@cache
def _declare() -> None:
    """Tell ctypes the signatures, once."""
    declare(_FUNCTIONS, "plumbline_tables_destroy", "plumbline_comparison_destroy")


class NativeTables:
    """The tables of a dominance function, with the lookup of each factor and its variables."""

    def __init__(
        self,
        tables: Sequence[Int32Array],
        lookups: Sequence[Int32Array],
        variables: Sequence[Sequence[int]],
        domain_sizes: Sequence[int],
    ) -> None:
        _declare()
        if any(table.shape != (len(table), len(table)) for table in tables):
            raise ValueError("expected square tables")
        if not len(tables) == len(lookups) == len(variables):
            raise ValueError("every factor needs a table, a lookup and variables")
        self.n_factors = len(tables)
        self._n_variables = len(domain_sizes)
        own = [variable for factor in variables for variable in factor]
        # The kernel looks into these two as long as it lives.
        self._squares = as_int32(np.concatenate([_NOTHING, *map(np.ravel, tables)]))
        self._lookups = as_int32(np.concatenate([_NOTHING, *lookups]))
        handle = _POINTER()
        call(
            "plumbline_tables_create",
            self.n_factors,
            np.array([len(table) for table in tables], np.int32),
            self._squares,
            np.array([len(factor) for factor in variables], np.int32),
            np.array(own, np.int32),
            np.array([domain_sizes[variable] for variable in own], np.int32),
            np.array([len(lookup) for lookup in lookups], np.int64),
            self._lookups,
            ctypes.byref(handle),
        )
        self.handle = handle
        weakref.finalize(self, _destroy_tables, handle, self._squares, self._lookups)

    def find(self, values: Int32Array) -> Int32Array:
        """The factor states of states given by the values of all variables, one row each."""
        values = as_int32(values, self._n_variables)
        ids = np.empty((len(values), self.n_factors), np.int32)
        call("plumbline_tables_find", self.handle, len(values), self._n_variables, values, ids)
        return ids

    def values(self, sources: Int32Array, targets: Int32Array) -> Int64Array:
        """D(s, t) of all pairs, NO_SUM where nothing is known."""
        sources, targets = as_int32(sources, self.n_factors), as_int32(targets, self.n_factors)
        values = np.empty((len(sources), len(targets)), np.int64)
        call(
            "plumbline_tables_values",
            self.handle,
            len(sources),
            sources,
            len(targets),
            targets,
            values,
        )
        return values


_NOTHING: Int32Array = np.empty(0, np.int32)


def _destroy_tables(handle: ctypes.c_void_p, *_arrays: Int32Array) -> None:
    library().plumbline_tables_destroy(handle)


class NativeComparison:
    """States whose bounds, given as an array by state id, say something about each other."""

    def __init__(self, tables: NativeTables) -> None:
        self._tables = tables
        self._size = 0
        self._states: Int32Array = np.empty(256, np.int32)
        self._gains: Int64Array = np.empty(256, np.int64)
        handle = _POINTER()
        call("plumbline_comparison_create", tables.handle, ctypes.byref(handle))
        self._handle = handle
        weakref.finalize(self, _destroy_comparison, handle, tables)

    def add(self, bounds: Int64Array, state: int, ids: Int32Array) -> tuple[int, int]:
        """Know one more state: which other implies the best bound for it (-1: none), by which D."""
        if ids.shape != (self._tables.n_factors,):
            raise ValueError(f"expected {self._tables.n_factors} factor states, got {ids.shape}")
        call(
            "plumbline_comparison_add",
            self._handle,
            len(bounds),
            _checked(bounds),
            state,
            as_int32(ids),
            self._states,
            self._gains,
        )
        best = int(self._states[0]), int(self._gains[0])
        self._size += 1
        if self._size > len(self._states):
            self._states = np.empty(2 * self._size, np.int32)
            self._gains = np.empty(2 * self._size, np.int64)
        return best

    def infer(self, bounds: Int64Array, ids: Int32Array) -> tuple[Int32Array, Int64Array]:
        """For many states: which known one implies the best bound (-1: none), with which D."""
        ids = as_int32(ids, self._tables.n_factors)
        sources, gains = np.empty(len(ids), np.int32), np.empty(len(ids), np.int64)
        call(
            "plumbline_comparison_infer",
            self._handle,
            len(bounds),
            _checked(bounds),
            len(ids),
            ids,
            sources,
            gains,
        )
        return sources, gains

    def tell(self, bounds: Int64Array) -> tuple[int, list[int], list[int]] | None:
        """A known state whose bound fell since it was asked last: whom it improves, by which D.

        None when no such state improves another. Whoever asks must lower the bounds accordingly.
        """
        answer = np.empty(2, np.int64)
        call(
            "plumbline_comparison_tell",
            self._handle,
            len(bounds),
            _checked(bounds),
            self._states,
            self._gains,
            answer,
        )
        count, source = answer.tolist()
        if source < 0:
            return None
        return source, self._states[:count].tolist(), self._gains[:count].tolist()


def _checked(bounds: Int64Array) -> Int64Array:
    if bounds.dtype != np.int64 or bounds.ndim != 1 or not bounds.flags.c_contiguous:
        raise ValueError("expected one int64 array of bounds by state")
    return bounds


def _destroy_comparison(handle: ctypes.c_void_p, _tables: NativeTables) -> None:
    library().plumbline_comparison_destroy(handle)
