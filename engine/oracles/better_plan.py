"""A concrete plan that is cheaper than the policy's run, where only a bound is known.

A* with LM-cut comes first: within its limits it either finds such a plan or proves that there is
none. Where it gives up, LAMA looks for any plan below the cost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.native.control import Control
from engine.native.library import Outcome
from engine.search.forward import SearchLimits, search
from engine.search.planners import Planner, run_planner
from engine.task.task import Task
from engine.task.translate import Limits
from engine.workers.link import NULL_LINK

EXPANSIONS = 200_000
LAMA_SECONDS = 30.0
MEGABYTES = 4096


def better_plan(
    task: Task,
    state: Sequence[int],
    policy_cost: int | None,
    *,
    expansions: int = EXPANSIONS,
    lama_seconds: float = LAMA_SECONDS,
    control: Control | None = None,
    cancelled: Callable[[], bool] = NULL_LINK.cancelled,
) -> tuple[int, ...] | None:
    """A plan from `state` that costs less than `policy_cost` (None: any plan), or None.

    Its finder has replayed every plan on the task.
    """
    limits = SearchLimits(bytes=MEGABYTES * 2**20, expansions=expansions)
    found = search(
        task, "astar", "lmcut", state=state, bound=policy_cost, limits=limits, control=control
    )
    if found.plan is not None:
        return found.plan
    if found.outcome in (Outcome.UNSOLVABLE, Outcome.NO_CHEAPER_PLAN) or cancelled():
        return None
    result = run_planner(
        Planner.LAMA,
        task,
        state,
        bound=policy_cost,
        limits=Limits(lama_seconds, MEGABYTES),
        cancelled=cancelled,
    )
    return result.plan.operators if result.plan else None
