"""A heuristic that was built for one state, and how building one may end.

See docs/theory/searches.md, "Heuristics built for one state".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.errors import CancelledError, LimitReachedError
from engine.native.abstractions import Built
from engine.native.control import Control
from engine.native.library import Int32Array, Int64Array, Outcome
from engine.native.searches import NativeEvaluator
from engine.task.states import facts_array
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


def build_for_state(
    build: Callable[[Int32Array, Int32Array], Built],
    task: Task,
    state: Sequence[int] | None,
    goal: Sequence[Fact] | None,
    control: Control,
) -> Abstraction:
    """Build an abstraction for a state and a goal; an unfinished one is refused."""
    start = task.init if state is None else task.extend([int(value) for value in state])
    facts = facts_array(task.goal if goal is None else sorted(goal))
    began = time.perf_counter()
    outcome, native, numbers = control.run(lambda: build(np.array(start, np.int32), facts))
    if outcome is Outcome.CANCELLED:
        raise CancelledError
    if native is None:
        raise LimitReachedError("the heuristic could not be built within the limits")
    return Abstraction(start, native, *numbers, time.perf_counter() - began)
