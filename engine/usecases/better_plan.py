"""Finds a concrete plan for a bug of which only a bound was known.

The plan becomes the bug's evidence if it is as good as the bound; the finding is verified again
before anything is written. A plan that is better than the policy but not as good as the bound
proves less than the evidence, so it is not kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.oracles.better_plan import better_plan
from engine.verify.claims import plan_evidence, require_fit
from engine.workers.link import Link
from engine.workspace.workspace import Workspace


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
    with Workspace.open(workspace) as store:
        bug = store.bug(number)
        task = store.task(bug.problem_id)
        require_fit(bug, task)
        link.progress(0, None, "searching")
        plan = better_plan(
            task,
            bug.finding.state,
            bug.row.policy_cost,
            control=link.control,
            cancelled=link.cancelled,
        )
        if plan is None:
            link.check()
            return FoundPlan(number, None)
        cost = sum(task.operators[operator].cost for operator in plan)
        evidence = plan_evidence(bug.finding, plan, task)
        if evidence is not None:
            store.save_evidence(number, evidence)
        return FoundPlan(number, plan, cost, kept=evidence is not None)
