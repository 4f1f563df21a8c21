"""Heuristics that the kernels build for one state."""

from __future__ import annotations

import ctypes

import numpy as np

from engine.native.library import (
    AbstractionSize,
    Int32Array,
    NativeLimits,
    NativeProgress,
    Outcome,
    as_array,
    create,
)
from engine.native.searches import NativeEvaluator
from engine.native.states import NativeTask

Built = tuple[Outcome, NativeEvaluator | None, tuple[int, int, int]]
"""How it ended, the heuristic if it could be built, and numbers that describe it."""


def native_cartesian(
    task: NativeTask,
    start: Int32Array,
    goal: Int32Array,
    *,
    max_transitions: int,
    landmarks: bool,
    goals: bool,
    limits: NativeLimits,
    progress: NativeProgress,
) -> Built:
    """The numbers are abstractions, states and transitions."""
    options = max_transitions, landmarks, goals
    return _build("cartesian_create", task, start, goal, *options, limits=limits, progress=progress)


def native_merge_and_shrink(
    task: NativeTask,
    start: Int32Array,
    goal: Int32Array,
    *,
    max_states: int,
    max_transitions: int,
    limits: NativeLimits,
    progress: NativeProgress,
) -> Built:
    """The numbers are 1, and the states and transitions of the largest products."""
    return _build(
        *("merge_and_shrink_create", task, start, goal, max_states, max_transitions),
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
    progress: NativeProgress,
) -> Built:
    start = as_array(start, np.int32, (task.n_variables,))
    goal = as_array(goal, np.int32, (None, 2))
    size, outcome = AbstractionSize(), ctypes.c_int64()
    arguments = (task.handle, start, len(goal), goal, *options)
    handle = create(name, *arguments, limits, progress, size, outcome)
    evaluator = NativeEvaluator(task, handle) if handle else None
    return Outcome(outcome.value), evaluator, (size.abstractions, size.states, size.transitions)
