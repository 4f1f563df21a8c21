"""Forward searches on the native kernels: A*, greedy best-first and enforced hill-climbing.

A* re-opens, so it is optimal with every admissible heuristic, and only then it proves lower
bounds. Every plan is replayed on the task before it is returned.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from engine.errors import UsageError
from engine.native.control import Control
from engine.native.library import TABLE_HEURISTIC, Algorithm, Int64Array, Outcome
from engine.native.searches import native_search
from engine.records.finding import INFINITY
from engine.search.heuristics import heuristic_called
from engine.search.results import NO_LIMITS, SearchLimits, SearchResult, replay
from engine.task.states import facts_array, native_task
from engine.task.task import Fact, Task

__all__ = ["NO_LIMITS", "Control", "Outcome", "SearchLimits", "SearchResult", "search"]

ALGORITHMS = {
    "astar": Algorithm.ASTAR,
    "gbfs": Algorithm.GREEDY_BEST_FIRST,
    "ehc": Algorithm.ENFORCED_HILL_CLIMBING,
}


def search(
    task: Task,
    algorithm: str = "astar",
    heuristic: str | Int64Array = "lmcut",
    *,
    state: Sequence[int] | None = None,
    goal: Sequence[Fact] | None = None,
    bound: int | None = None,
    limits: SearchLimits = NO_LIMITS,
    control: Control | None = None,
) -> SearchResult:
    """Search from `state` (default: the initial one) for `goal`, for plans that cost < `bound`.

    A heuristic may also be an array with one value per state of a small task, the last variable
    counting fastest; A* believes it to be admissible.
    """
    if algorithm not in ALGORITHMS:
        known = ", ".join(ALGORITHMS)
        raise UsageError(f"unknown algorithm '{algorithm}'", hint=f"choose one of {known}")
    start = task.init if state is None else task.extend([int(value) for value in state])
    target = task if goal is None else replace(task, goal=tuple(sorted(goal)))
    if isinstance(heuristic, str):
        kernel, table = heuristic_called(heuristic, task), np.empty(0, np.int64)
    else:
        kernel, table = TABLE_HEURISTIC, heuristic
    control = control or Control()
    began = time.perf_counter()
    compiled = native_task(task)
    answer = control.run(
        lambda: native_search(
            compiled,
            ALGORITHMS[algorithm],
            kernel,
            table=table,
            start=np.array(start, np.int32),
            goal=facts_array(target.goal),
            bound=INFINITY if bound is None else min(max(bound, 0), INFINITY),
            limits=limits.native(),
            progress=control.progress,
        )
    )
    solved = answer.outcome is Outcome.SOLVED
    if solved:
        replay(target, answer.plan, answer.cost, start)
    return SearchResult.of(answer, answer.plan if solved else None, control, began)
