"""h* of all states of a small task, against which everything else is checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from engine.errors import CancelledError, LimitReachedError
from engine.native.control import Control
from engine.native.library import Int64Array, Outcome
from engine.search.forward import NO_LIMITS, SearchLimits
from engine.task.states import StateTable
from engine.task.task import Fact, Task


def hstar_all(
    task: Task,
    states: Literal["reachable", "product"] = "reachable",
    *,
    goal: Sequence[Fact] | None = None,
    limits: SearchLimits = NO_LIMITS,
    control: Control | None = None,
) -> tuple[StateTable, Int64Array]:
    """A table with all states and h* by id; INFINITY where the goal cannot be reached.

    "reachable" are those from the initial state in breadth-first order, "product" are all
    combinations of values of the state variables, the last of them counting fastest.
    """
    table = StateTable(task)
    if states == "product":
        sizes = [1 if variable.is_derived else len(variable.values) for variable in task.variables]
        table.add(np.indices(sizes).reshape(len(sizes), -1).T)
    else:
        table.add(task.init)
    control = control or Control()
    return table, optimal_costs(table, goal=goal, limits=limits, control=control)


def optimal_costs(
    table: StateTable,
    *,
    goal: Sequence[Fact] | None = None,
    limits: SearchLimits = NO_LIMITS,
    control: Control | None = None,
) -> Int64Array:
    """Return h* by id, after adding all states that can be reached from those in the table."""
    control = control or Control()
    facts = table.task.goal if goal is None else tuple(sorted(goal))
    outcome = control.run(lambda: table.close(limits.native(), control.progress))
    costs = np.empty(0, np.int64)
    if outcome is Outcome.SOLVED:
        outcome, costs = control.run(
            lambda: table.optimal_costs(facts, limits.native(), control.progress)
        )
    if outcome is Outcome.CANCELLED:
        raise CancelledError
    if outcome is not Outcome.SOLVED:
        raise LimitReachedError("the task has too many states to look at all of them")
    return costs
