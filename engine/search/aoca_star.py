"""AOCA*: one search that decides whether an action is optimal.

The kernel (engine/native/search/aoca_star.hpp) looks at the open nodes only once it knows that the
state has a plan: because the caller says so, or because it has generated a goal. A plan it finds is
replayed before it is trusted. See docs/theory/localization.md, "AOCA*".
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from engine.errors import UsageError
from engine.native.control import Control
from engine.native.library import TABLE_HEURISTIC, Heuristic, Int64Array, Outcome
from engine.native.searches import NativeAnswer, native_check_action
from engine.records.finding import INFINITY
from engine.search.forward import NO_LIMITS, SearchLimits
from engine.search.heuristics import ADMISSIBLE, heuristic_called
from engine.search.results import SearchResult, replay
from engine.task.states import native_task
from engine.task.successors import State, is_applicable, successor
from engine.task.task import Task


def aoca_star(
    task: Task,
    state: Sequence[int],
    operator: int,
    heuristic: str | Int64Array = "lmcut",
    *,
    solvable: bool = False,
    plan_cost: int | None = None,
    limits: SearchLimits = NO_LIMITS,
    control: Control | None = None,
) -> SearchResult:
    """Ask about an applicable operator; `plan_cost` is that of any plan from the state.

    The outcome is ACTION_OPTIMAL, ACTION_NOT_OPTIMAL, UNSOLVABLE or what ended the search. A plan
    is an optimal one from the state, which starts with the action if that is optimal; an answer
    that came before the first goal was expanded has none.

    An array of heuristic values is as in `engine.search.forward.search`.
    """
    start = task.extend([int(value) for value in state])
    action = task.operators[operator]
    if not is_applicable(action, start):
        raise UsageError(f"({action.name}) is not applicable in the state")
    kernel, table = admissible_kernel(heuristic, task)
    control = control or Control()
    began = time.perf_counter()
    compiled = native_task(task)
    answer = control.run(
        lambda: native_check_action(
            compiled,
            kernel,
            table=table,
            start=np.array(start, np.int32),
            successor=np.array(successor(task, action, start), np.int32),
            action_cost=action.cost,
            is_solvable=solvable,
            plan_cost=INFINITY if plan_cost is None else plan_cost,
            limits=limits.native(),
            progress=control.progress,
        )
    )
    return SearchResult.of(answer, _plan(task, start, operator, answer), control, began)


def admissible_kernel(heuristic: str | Int64Array, task: Task) -> tuple[Heuristic, Int64Array]:
    """The kernels' form of a heuristic that can prove something; the user's error if it cannot."""
    if not isinstance(heuristic, str):
        return TABLE_HEURISTIC, heuristic
    kernel = heuristic_called(heuristic, task)
    if not kernel.is_admissible:
        raise UsageError(
            f"{heuristic} may overestimate, so it cannot prove that anything is optimal",
            hint=f"choose one of {', '.join(sorted(ADMISSIBLE))}",
        )
    return kernel, np.empty(0, np.int64)


def _plan(task: Task, start: State, operator: int, answer: NativeAnswer) -> tuple[int, ...] | None:
    if answer.cost == INFINITY:
        return None
    is_first = answer.outcome is Outcome.ACTION_OPTIMAL
    plan = (operator, *answer.plan) if is_first else answer.plan
    replay(task, plan, answer.cost, start)
    return plan
