"""The typed Python face of the kernels that build heuristics for one state."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

from engine.native.library import (
    Int32Array,
    Int64Array,
    NativeEvaluator,
    NativeLimits,
    NativeTask,
    Outcome,
    as_int32,
    call,
    declare,
)

_POINTER = ctypes.c_void_p
_INT32 = ctypes.c_int32
_INT64 = ctypes.c_int64

_FUNCTIONS: dict[str, list[type[Any]]] = {
    "plumbline_cartesian_create": [_INT64, _INT32, _INT32],
    "plumbline_merge_and_shrink_create": [_INT64, _INT64],
}
"""What each takes between the goal and the limits."""

Built = tuple[Outcome, NativeEvaluator | None, tuple[int, int, int]]
"""How it ended, the heuristic if it could be built, and numbers that describe it."""


@cache
def _declare() -> None:
    """Tell ctypes the signatures, once."""
    declare(
        {
            name: [_POINTER, _POINTER, _INT32, _POINTER, *options, *[_POINTER] * 5]
            for name, options in _FUNCTIONS.items()
        }
    )


def native_cartesian(
    task: NativeTask,
    start: Int32Array,
    goal: Int32Array,
    *,
    max_transitions: int,
    landmarks: bool,
    goals: bool,
    limits: NativeLimits,
    progress: Int64Array,
) -> Built:
    """The numbers are abstractions, states and transitions."""
    return _build(
        *("plumbline_cartesian_create", task, start, goal),
        *(max_transitions, int(landmarks), int(goals)),
        limits=limits,
        progress=progress,
    )


def native_merge_and_shrink(
    task: NativeTask,
    start: Int32Array,
    goal: Int32Array,
    *,
    max_states: int,
    max_transitions: int,
    limits: NativeLimits,
    progress: Int64Array,
) -> Built:
    """The numbers are 1, and the states and transitions of the largest products."""
    return _build(
        *("plumbline_merge_and_shrink_create", task, start, goal),
        *(max_states, max_transitions),
        limits=limits,
        progress=progress,
    )


def _build(
    name: str,
    task: NativeTask,
    start: Int32Array,
    goal: Int32Array,
    *options: int,
    limits: NativeLimits,
    progress: Int64Array,
) -> Built:
    _declare()
    start, goal = as_int32(start), as_int32(goal, 2)
    if len(start) != task.n_variables:
        raise ValueError(f"the task has {task.n_variables} variables, the state {len(start)}")
    statistics, outcome, handle = np.zeros(3, np.int64), np.zeros(1, np.int64), _POINTER()
    call(
        name,
        task.handle,
        start,
        len(goal),
        goal,
        *options,
        ctypes.byref(limits),
        progress,
        statistics,
        outcome,
        ctypes.byref(handle),
    )
    evaluator = NativeEvaluator(task, handle) if handle else None
    abstractions, states, transitions = statistics.tolist()
    return Outcome(int(outcome[0])), evaluator, (abstractions, states, transitions)
