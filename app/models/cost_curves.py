"""The cost-to-go along a policy's run and the optimal cost-to-go."""

from __future__ import annotations

from dataclasses import dataclass

from app.models.plan_table import PlanComparison
from engine.records.finding import INFINITY
from engine.report.trace import Ending, Trace


@dataclass(frozen=True, slots=True)
class CostCurves:
    """Numbers by step of the policy's run; what is not known is left out.

    `optimum` and `possible` (an upper bound on h*) come from localization. Without it, the better
    plan's own cost-to-go stands in for it, by the steps of that plan.
    """

    policy: tuple[tuple[int, int], ...]
    optimum: tuple[tuple[int, int], ...]
    possible: tuple[tuple[int, int], ...]
    better: tuple[tuple[int, int], ...]
    lost_from: int | None  # from this step on the goal is out of reach


def cost_curves(comparison: PlanComparison) -> CostCurves:
    found = comparison.localization
    policy = comparison.policy
    ours = _to_go(policy) if policy.ending is Ending.GOAL else ()
    if found is None:
        better = comparison.better
        known = better is not None and better.ending is Ending.GOAL
        theirs = _to_go(better) if better is not None and known else ()
        return CostCurves(ours, (), (), theirs, None)
    optimum, possible, lost = [], [], None
    for step in found.steps:
        if step.optimal_low == INFINITY:
            lost = step.index if lost is None else lost
        elif step.optimal_low == step.optimal_high:
            optimum.append((step.index, step.optimal_low))
        elif step.optimal_high < INFINITY:
            possible.append((step.index, step.optimal_high))
    if policy.ending is Ending.GOAL:
        optimum.append((len(policy.steps), 0))
    return CostCurves(ours, tuple(optimum), tuple(possible), (), lost)


def _to_go(trace: Trace) -> tuple[tuple[int, int], ...]:
    total = trace.cost
    return (
        *((step.index, total - step.cost_before) for step in trace.steps),
        (len(trace.steps), 0),
    )
