"""The native heuristics by name, and their values in batches of states.

blind, hmax and lmcut are admissible; gc (goal count), hadd and ff guide greedy searches. hadd-unit
counts every operator as 1. lmcut-NAME fixes the rule for the goal zone; lmcut lets the first state
it evaluates choose the better one of the last two. cartesian and ms (merge-and-shrink) are built
for one state and admissible where that leads.
See docs/theory/searches.md, "The goal zone".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from engine.errors import CancelledError, LimitReachedError, UsageError
from engine.native.abstractions import Built, native_cartesian, native_merge_and_shrink
from engine.native.control import Control
from engine.native.library import HEURISTICS, Heuristic, Int64Array, Outcome
from engine.native.policies import NativePolicy
from engine.native.searches import NativeEvaluator
from engine.records.finding import INFINITY
from engine.search.obstacle import find_heuristic_obstacle
from engine.search.results import NO_LIMITS, SearchLimits
from engine.task.states import facts_array, native_task
from engine.task.task import Fact, Task


@dataclass(frozen=True, slots=True)
class Abstraction:
    """Admissible and consistent in the states that can be reached from `state`."""

    state: tuple[int, ...]
    native: NativeEvaluator
    abstractions: int
    states: int
    transitions: int
    seconds: float

    def __call__(self, states: npt.ArrayLike) -> Int64Array:
        """One value per row; INFINITY for dead ends."""
        return self.native.values(np.atleast_2d(np.asarray(states)))


@dataclass(frozen=True, slots=True)
class CartesianOptions:
    """How far to refine (None: to the end), and the subtasks to have, landmarks first."""

    max_transitions: int | None = 1_000_000
    landmarks: bool = True
    goals: bool = True


@dataclass(frozen=True, slots=True)
class MergeAndShrinkOptions:
    """How large a product may be; None: as large as it is."""

    max_states: int | None = 50_000
    max_transitions: int | None = 10_000_000


CARTESIAN, MERGE_AND_SHRINK = CartesianOptions(), MergeAndShrinkOptions()


def build_cartesian(
    task: Task,
    state: Sequence[int] | None = None,
    goal: Sequence[Fact] | None = None,
    *,
    options: CartesianOptions = CARTESIAN,
    limits: SearchLimits = NO_LIMITS,
    control: Control | None = None,
) -> Abstraction:
    """Build additive Cartesian abstractions for `state` (default: the initial state).

    One abstraction per fact landmark and per goal, which share the operators' costs. Each is
    refined where its cheapest plan fails, until it has its share of the transitions. Loops do not
    count, and the last split may exceed the share.
    See docs/theory/searches.md, "Cartesian abstractions".
    """
    build = partial(
        native_cartesian,
        max_transitions=_limit(options.max_transitions),
        landmarks=options.landmarks,
        goals=options.goals,
    )
    return _build("cartesian", build, task, state, goal, limits=limits, control=control)


def build_merge_and_shrink(
    task: Task,
    state: Sequence[int] | None = None,
    goal: Sequence[Fact] | None = None,
    *,
    options: MergeAndShrinkOptions = MERGE_AND_SHRINK,
    limits: SearchLimits = NO_LIMITS,
    control: Control | None = None,
) -> Abstraction:
    """Merge-and-shrink with SCC-DFP merging, bisimulation and exact label reduction.

    Exact where the limits allow it. Unlike the original, it also limits the transitions of a
    product by shrinking its factors, so that building takes seconds and little memory.
    See docs/theory/searches.md, "Merge-and-shrink".
    """
    build = partial(
        native_merge_and_shrink,
        max_states=_limit(options.max_states),
        max_transitions=_limit(options.max_transitions),
    )
    return _build("ms", build, task, state, goal, limits=limits, control=control)


def _limit(value: int | None) -> int:
    return INFINITY if value is None else value


def _build(
    name: str,
    build: Callable[..., Built],
    task: Task,
    state: Sequence[int] | None,
    goal: Sequence[Fact] | None,
    *,
    limits: SearchLimits,
    control: Control | None,
) -> Abstraction:
    """Build an abstraction for a state and a goal; reject an unfinished one.

    Raises a usage error for a task on which its values would be wrong.
    """
    heuristic_called(name, task)
    control = control or Control()
    start = task.init if state is None else task.extend([int(value) for value in state])
    inputs = (
        native_task(task),
        np.array(start, np.int32),
        facts_array(task.goal if goal is None else sorted(goal)),
    )
    began = time.perf_counter()
    outcome, native, numbers = control.run(
        lambda: build(*inputs, limits=limits.native(), progress=control.progress)
    )
    if outcome is Outcome.CANCELLED:
        raise CancelledError
    if native is None:
        raise LimitReachedError("the heuristic could not be built within the limits")
    return Abstraction(start, native, *numbers, time.perf_counter() - began)


Build = Callable[[Task, Sequence[int] | None, Sequence[Fact] | None], Abstraction]
"""Of a task, a state and a goal."""

BUILT_FOR_STATE: dict[str, Build] = {"cartesian": build_cartesian, "ms": build_merge_and_shrink}
"""Their values mean nothing in states that cannot be reached from the one they are built for."""

ADMISSIBLE = frozenset(name for name, heuristic in HEURISTICS.items() if heuristic.is_admissible)


def heuristic_called(name: str, task: Task) -> Heuristic:
    """Return the heuristic of this name; raise a usage error if it does not exist or fit."""
    if name not in HEURISTICS:
        known = ", ".join(HEURISTICS)
        raise UsageError(f"unknown heuristic '{name}'", hint=f"choose one of {known}")
    if obstacle := find_heuristic_obstacle(name, task):
        raise UsageError(obstacle, hint="use lmcut")
    return HEURISTICS[name]


class Evaluator:
    """h of many states toward one goal (default: the task's). For one thread at a time.

    A heuristic that is built for one state is built for `state` (default: the initial one).
    """

    def __init__(
        self,
        task: Task,
        heuristic: str,
        goal: Sequence[Fact] | None = None,
        *,
        state: Sequence[int] | None = None,
    ) -> None:
        if heuristic in BUILT_FOR_STATE:
            self._native = BUILT_FOR_STATE[heuristic](task, state, goal).native
        else:
            kernel = heuristic_called(heuristic, task)
            facts = facts_array(task.goal if goal is None else sorted(goal))
            self._native = NativeEvaluator.of(native_task(task), kernel, facts)

    def __call__(self, states: npt.ArrayLike) -> Int64Array:
        """One value per row; INFINITY for dead ends."""
        return self._native.values(np.atleast_2d(np.asarray(states)))

    def successors(self, state: Sequence[int], operators: Sequence[int]) -> Int64Array:
        """The values after each of these applicable operators, as a search from `state` has them.

        LM-cut then starts from the landmarks of `state` and may find others than on its own.
        """
        return self._native.successor_values(
            np.array(state, np.int32), np.array(operators, np.int32)
        )

    def greedy_policy(self) -> NativePolicy:
        """The policy that goes to the successor with the smallest value."""
        return NativePolicy.greedy(self._native)
