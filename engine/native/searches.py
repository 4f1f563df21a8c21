"""The typed Python face of the look-ahead kernel: a short greedy search with h_FF."""

from __future__ import annotations

import ctypes
import weakref
from dataclasses import dataclass
from functools import cache

import numpy as np

from engine.native.library import Int32Array, Int64Array, NativeStates, call, declare, library

_POINTER = ctypes.c_void_p
_INT32 = ctypes.c_int32
_INT64 = ctypes.c_int64

_FUNCTIONS = {
    "plumbline_lookahead_create": [_POINTER, _POINTER],
    "plumbline_lookahead_begin": [_POINTER, _INT32],
    "plumbline_lookahead_go_on": [_POINTER, _INT64, _POINTER],
    "plumbline_lookahead_visits": [_POINTER] * 5,
}


@cache
def _declare() -> None:
    """Tell ctypes the signatures, once."""
    declare(_FUNCTIONS, "plumbline_lookahead_destroy")


@dataclass(frozen=True)
class Visits:
    """Visited states in order, the start first."""

    states: Int32Array
    costs: Int64Array
    before: Int32Array  # rows; -1 for the start
    operators: Int32Array

    def way_to(self, row: int) -> tuple[list[int], list[int]]:
        """The states from the start to a visited one, and the operators between them."""
        states, operators = [int(self.states[row])], list[int]()
        while (before := int(self.before[row])) >= 0:
            operators.append(int(self.operators[row]))
            states.append(int(self.states[before]))
            row = before
        return states[::-1], operators[::-1]


class NativeLookahead:
    """Searches on the states of one table. Not for use by two threads at once."""

    def __init__(self, states: NativeStates) -> None:
        _declare()
        handle = _POINTER()
        call("plumbline_lookahead_create", states.handle, ctypes.byref(handle))
        self._handle = handle
        self._count = np.zeros(1, np.int64)
        weakref.finalize(self, _destroy, handle, states)

    def begin(self, start: int) -> None:
        call("plumbline_lookahead_begin", self._handle, start)

    def go_on(self, size: int) -> int:
        """Go on until so many states are visited; how many there are."""
        call("plumbline_lookahead_go_on", self._handle, size, self._count)
        return int(self._count[0])

    def visits(self) -> Visits:
        n = int(self._count[0])
        found = Visits(
            np.empty(n, np.int32),
            np.empty(n, np.int64),
            np.empty(n, np.int32),
            np.empty(n, np.int32),
        )
        call(
            "plumbline_lookahead_visits",
            self._handle,
            found.states,
            found.costs,
            found.before,
            found.operators,
        )
        return found


def _destroy(handle: ctypes.c_void_p, _states: NativeStates) -> None:
    library().plumbline_lookahead_destroy(handle)
