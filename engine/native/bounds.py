"""Bounds in the kernels: upper bounds of costs-to-go, and the oracle that maintains them."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.native.dominance import NativeTables
from engine.native.library import (
    Int32Array,
    Int64Array,
    as_array,
    call,
    create,
    destroy_with,
    library,
)
from engine.native.policies import NativeRuns
from engine.native.states import NativeStates

MORPH = -1
"""Stands for an operator where a step is a dominance value."""

GOAL, POLICY = 0, 1
"""Who found a step; all other numbers are free."""


@dataclass(frozen=True, slots=True)
class NativeChain:
    """Steps to a goal: by which operator or morph, to which state, by which D, and who found it."""

    vias: list[int]
    nexts: list[int]
    gains: list[int]
    origins: list[int]


class NativeBounds:
    """Bounds by state of a table. Not for use by two threads at once."""

    def __init__(self, states: NativeStates, runs: NativeRuns | None) -> None:
        self.handle = create("bounds_create", states.handle, runs and runs.handle)
        destroy_with(self, "bounds_destroy", self.handle, states, runs)
        self._begin(states)

    def _begin(self, states: NativeStates) -> None:
        self._states = states
        self._count = np.zeros(1, np.int64)
        self._u = library().plumbline_bounds_u
        self._changed: Int32Array = np.empty(256, np.int32)
        self._chain = _chain_columns(64)

    def plans(self) -> NativeBounds | None:
        """The bounds that rest on operators alone, if there are others."""
        handle = library().plumbline_bounds_plans(self.handle)
        return None if handle is None else _Plans(self, ctypes.c_void_p(handle), self._states)

    def u(self, state: int) -> int:
        return int(self._u(self.handle, state))

    def all(self, states: Int32Array) -> Int64Array:
        states = as_array(states, np.int32)
        values = np.empty(len(states), np.int64)
        call("bounds_all", self.handle, len(states), states, values)
        return values

    def by_state(self) -> Int64Array:
        """A copy of the bounds of all states of the table."""
        values = np.empty(len(self._states), np.int64)
        call("bounds_by_state", self.handle, len(values), values)
        return values

    def add_path(
        self, states: Sequence[int], operators: Sequence[int], origin: int, *, register: bool
    ) -> None:
        path, steps = as_array(states, np.int32), as_array(operators, np.int32)
        if len(path) != len(steps) + 1:
            raise ValueError(f"{len(path)} states but {len(steps)} operators")
        call("bounds_add_path", self.handle, len(steps), path, steps, origin, int(register))

    def add_plan(self, state: int, operators: Sequence[int], origin: int) -> None:
        steps = as_array(operators, np.int32)
        call("bounds_add_plan", self.handle, state, len(steps), steps, origin)

    def add_morph(self, state: int, source: int, gain: int, origin: int) -> None:
        call("bounds_add_morph", self.handle, state, source, gain, origin)

    def take_changed(self) -> list[int]:
        """The states whose bounds fell since this was asked last."""
        while True:
            room = len(self._changed)
            call("bounds_changed", self.handle, room, self._changed, self._count)
            if (n := int(self._count[0])) <= room:
                changed: list[int] = self._changed[:n].tolist()
                return changed
            self._changed = np.empty(2 * n, np.int32)

    def chain(self, state: int) -> NativeChain:
        """The steps that prove the bound of a state, which must have one."""
        while True:
            vias, nexts, gains, origins = self._chain
            room = len(vias)
            call(
                *("bounds_chain", self.handle, state, room, vias, nexts, gains, origins),
                self._count,
            )
            n = int(self._count[0])
            if n > len(self._states):
                raise RuntimeError("the evidence of a bound runs in a circle")
            if n <= room:
                return NativeChain(*(column[:n].tolist() for column in self._chain))
            self._chain = _chain_columns(2 * n)


def _chain_columns(n: int) -> tuple[Int32Array, Int32Array, Int64Array, Int32Array]:
    return (
        np.empty(n, np.int32),
        np.empty(n, np.int32),
        np.empty(n, np.int64),
        np.empty(n, np.int32),
    )


class _Plans(NativeBounds):
    """A part of other bounds, which it keeps alive."""

    def __init__(self, whole: NativeBounds, handle: ctypes.c_void_p, states: NativeStates) -> None:
        self.handle, self._whole = handle, whole
        self._begin(states)


class NativeMaintenance:
    """States that are compared with each other by a dominance function, to lower their bounds."""

    def __init__(self, tables: NativeTables, bounds: NativeBounds, origin: int) -> None:
        self._handle = create("maintenance_create", tables.handle, bounds.handle, origin)
        destroy_with(self, "maintenance_destroy", self._handle, tables, bounds)

    def compare(self, states: Sequence[int]) -> None:
        """Compare new states with all others, and let all know of bounds that fell."""
        numbers = as_array(states, np.int32)
        call("maintenance_compare", self._handle, len(numbers), numbers)

    def infer(self, states: Int32Array) -> tuple[Int64Array, Int32Array, Int64Array]:
        """Return for many states the best bound that a compared one implies, which one, and its D.

        INFINITY and -1 where that is none.
        """
        states = as_array(states, np.int32)
        sources, gains = np.empty(len(states), np.int32), np.empty(len(states), np.int64)
        bounds = np.empty(len(states), np.int64)
        call("maintenance_infer", self._handle, len(states), states, sources, gains, bounds)
        return bounds, sources, gains
