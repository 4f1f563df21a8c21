"""A finding is only as good as its evidence: every forgery is noticed."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from reference.random_tasks import make_task

from engine.policies.policy import NO_ACTION
from engine.records.evidence import Evidence, Morph, Walk
from engine.records.finding import BugKind, EndReason, Finding, Run, RunOutcome
from engine.task.task import Operator
from engine.verify.claims import find_problem

# One variable 0..3; the goal is 3. "jump" is short, "step" long, "back" makes a loop.
OPERATORS = (
    Operator("step 0", ((0, 0),), ((0, 1),), 2),
    Operator("step 1", ((0, 1),), ((0, 2),), 2),
    Operator("step 2", ((0, 2),), ((0, 3),), 2),
    Operator("jump", ((0, 0),), ((0, 3),), 3),
    Operator("back", ((0, 1),), ((0, 0),), 1),
)
TASK = make_task((4,), OPERATORS, (0,), ((0, 3),))

EXPENSIVE = Finding(
    state=(0,),
    kind=BugKind.TOO_EXPENSIVE,
    run=Run(RunOutcome.SOLVED, EndReason.GOAL, 6, (0, 1, 2)),
    bound=3,
    evidence=Evidence((0,), (Walk((3,), "astar"),), 3),
    oracle="astar",
)
FAILING = replace(
    EXPENSIVE,
    kind=BugKind.FAILS,
    run=Run(RunOutcome.FAILED, EndReason.LOOP, None, (0,), last_decision=4),
)
STOPPED = replace(
    EXPENSIVE,
    kind=BugKind.STOPPED,
    run=Run(RunOutcome.ABORTED, EndReason.STEP_LIMIT, 4, (0, 1)),
)
IDLE = replace(
    FAILING, run=Run(RunOutcome.FAILED, EndReason.NO_ACTION, None, (0,), last_decision=NO_ACTION)
)
HONEST = (EXPENSIVE, FAILING, STOPPED, IDLE)


@pytest.mark.parametrize("finding", HONEST)
def test_true_findings_hold(finding: Finding) -> None:
    assert find_problem(finding, TASK) == ""


def run_of(finding: Finding, **changes: object) -> Finding:
    return replace(finding, run=replace(finding.run, **changes))


FORGERIES = {
    "another state": replace(EXPENSIVE, state=(1,)),
    "a smaller bound": replace(EXPENSIVE, bound=2),
    "a bound the chain does not reach": replace(
        EXPENSIVE, bound=2, evidence=replace(EXPENSIVE.evidence, bound=2)
    ),
    "a plan that is none": replace(EXPENSIVE, evidence=Evidence((0,), (Walk((1,), "astar"),), 3)),
    "a plan that ends early": replace(
        EXPENSIVE, evidence=Evidence((0,), (Walk((0,), "astar"),), 3)
    ),
    "a dominance step that cannot be checked": replace(
        EXPENSIVE, evidence=Evidence((0,), (Morph((3,), -3, "bmo"),), 3)
    ),
    "a run that costs less": run_of(EXPENSIVE, operators=(3,)),
    "a run with a wrong cost": run_of(EXPENSIVE, cost=7),
    "a run that goes nowhere": run_of(EXPENSIVE, operators=(1, 2)),
    "a run with an unknown operator": run_of(EXPENSIVE, operators=(9,)),
    "a run that stops before the goal": run_of(EXPENSIVE, operators=(0, 1), cost=4),
    "a failure that is none": run_of(FAILING, operators=(3,)),
    "a loop that is none": run_of(FAILING, last_decision=1),
    "a loop without an end": run_of(FAILING, last_decision=-3),
    "idleness that is none": run_of(IDLE, last_decision=1),
    "a walk in circles": run_of(FAILING, operators=(0, 4)),
    "a failure by an error of the policy": run_of(FAILING, reason=EndReason.POLICY_ERROR),
    "a failure called expensive": replace(EXPENSIVE, run=FAILING.run),
    "an expensive run called failure": replace(FAILING, run=EXPENSIVE.run),
    "a failure with a cost": run_of(FAILING, cost=6),
    "a stopped run that had cost less": run_of(STOPPED, cost=5),
    "a stopped run that had reached the goal": replace(STOPPED, run=EXPENSIVE.run),
    "no gap at all": replace(
        EXPENSIVE,
        bound=6,
        evidence=Evidence((0,), (Walk((0, 1, 2), "astar"),), 6),
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_noticed(name: str) -> None:
    assert find_problem(FORGERIES[name], TASK)
