"""Looks in the background for a plan that is better than the policy's run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.work.link import Link
from app.work.stopping import stoppable
from engine.campaign.fitting import refuse_misfit
from engine.campaign.found_plan import keep_plan
from engine.campaign.store import Store
from engine.errors import CancelledError
from engine.oracles.better_plan import better_plan


@dataclass(frozen=True, slots=True)
class FoundPlan:
    """`operators` is None if there was no plan within the limits.

    `kept`: it is as good as the bound, and the bug's evidence now.
    """

    bug: int
    operators: tuple[int, ...] | None
    cost: int | None = None
    kept: bool = False


def find_better_plan(link: Link, workspace: Path, number: int) -> FoundPlan:
    with Store.open(workspace) as store:
        bug = store.bug(number)
        task = store.task(bug.problem_id)
        refuse_misfit(bug, task)
        link.progress(0, None, "searching")
        with stoppable(link) as control:
            plan = better_plan(
                task, bug.state, bug.row.policy_cost, control=control, cancelled=link.cancelled
            )
        if plan is None:
            if link.cancelled():
                raise CancelledError
            return FoundPlan(number, None)
        cost = sum(task.operators[operator].cost for operator in plan)
        return FoundPlan(number, plan, cost, keep_plan(store, bug, task, plan))
