"""The native heuristics by name, and their values in batches of states.

blind, hmax and lmcut are admissible; gc (goal count), hadd and ff guide greedy searches. hadd-unit
counts every operator as 1. lmcut-NAME fixes the rule for the goal zone; lmcut lets the first state
it evaluates choose the better one of the last two. cartesian and ms (merge-and-shrink) are built
for one state and admissible where that leads.
See docs/theory/searches.md, "The goal zone".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from engine.errors import UsageError
from engine.native.library import HEURISTICS, Heuristic, Int64Array
from engine.native.policies import NativePolicy
from engine.native.searches import NativeEvaluator
from engine.search.abstraction import Abstraction, build_cartesian, build_merge_and_shrink
from engine.task.cases import find_split_obstacle
from engine.task.states import facts_array, native_task
from engine.task.task import Fact, Task

Build = Callable[[Task, Sequence[int] | None, Sequence[Fact] | None], Abstraction]
"""Of a task, a state and a goal."""

LMCUT_RULES = tuple(name for name in HEURISTICS if name.startswith("lmcut"))
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


def find_heuristic_obstacle(name: str, task: Task) -> str:
    """Return why a heuristic cannot be used on a task, or an empty string."""
    if name == "ms" and task.derived_variables:
        return "merge-and-shrink (ms) needs a task without axioms"
    if name == "cartesian" and (obstacle := find_split_obstacle(task)):
        return f"Cartesian abstractions (cartesian) do not work here: {obstacle}"
    return ""


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
        kernel = heuristic_called(heuristic, task)
        if heuristic in BUILT_FOR_STATE:
            self._native = BUILT_FOR_STATE[heuristic](task, state, goal).native
        else:
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
