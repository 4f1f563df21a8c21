"""Keeps a concrete plan for a bug of which only a bound was known.

The plan becomes the bug's evidence if it is as good as the bound; the finding is checked once more
before anything is written. A plan that is better than the policy but not as good as the bound
proves less than what is there, so it is not kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec import structs

from engine.oracles.better_plan import better_plan
from engine.records.evidence import Evidence, Walk
from engine.records.localization import Localization
from engine.task.task import Task
from engine.verify.claims import find_problem, require_fit
from engine.workers.link import Link
from engine.workspace.rows import Bug
from engine.workspace.workspace import Workspace

ORIGIN = "search"


def plan_of_localization(bug: Bug, found: Localization) -> tuple[int, ...] | None:
    """A plan that localization came across: the policy's run until its first bad step, then right.

    It is cheaper than the run; it is optimal if all steps before are.
    """
    for step in found.steps:
        if step.better_plan is not None:
            return (*bug.finding.run.operators[: step.index], *step.better_plan)
    return None


def keep_plan(store: Workspace, bug: Bug, task: Task, operators: Sequence[int]) -> bool:
    """Whether the plan is the bug's evidence now."""
    cost = sum(task.operators[number].cost for number in operators)
    if cost > bug.finding.bound:
        return False
    evidence = Evidence(bug.finding.state, (Walk(tuple(operators), ORIGIN),), cost)
    finding = structs.replace(bug.finding, bound=cost, evidence=evidence)
    if find_problem(finding, task):
        return False
    store.save_evidence(bug.row.id, evidence, finding.gap)
    return True


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
        return FoundPlan(number, plan, cost, keep_plan(store, bug, task, plan))
