"""Plans for bugs that had only a bound: kept if they are as good, never if they prove less."""

from __future__ import annotations

from collections.abc import Callable

from engine.localize.localizer import Localizer
from engine.oracles.better_plan import better_plan
from engine.records.verification import HOLDS
from engine.task.states import StateTable
from engine.task.validate import validate_operators
from engine.usecases.verify import FINDERS
from engine.verify.claims import plan_evidence
from engine.verify.stored import Verifier, VerifyOptions
from engine.workspace.rows import Bug
from engine.workspace.workspace import Workspace

Find = Callable[..., Bug]


def test_a_plan_as_good_as_the_bound_becomes_the_evidence(store: Workspace, bug_with: Find) -> None:
    bug = bug_with("loop", "dominance")
    task = store.task(bug.problem_id)
    plan = better_plan(task, bug.finding.state, bug.row.policy_cost)
    assert plan is not None
    evidence = plan_evidence(bug.finding, plan, task)
    assert evidence is not None
    store.save_evidence(bug.row.id, evidence)
    kept = store.bug(bug.row.id)
    assert kept.finding.evidence.operators == plan
    assert kept.row.evidence_kind == "plan"
    assert kept.row.bound <= bug.row.bound
    verifier = Verifier(store, FINDERS, VerifyOptions(bugs=(bug.row.id,)))
    assert {claim.verdict for claim in verifier.claims()} == {HOLDS}
    assert min(bound for bound, _, _ in store.history(bug.row.id)) == kept.row.bound


def test_a_plan_that_proves_less_or_nothing_is_not_kept(store: Workspace, bug_with: Find) -> None:
    bug = bug_with("loop", "dominance")
    task = store.task(bug.problem_id)
    plan = better_plan(task, bug.finding.state, None)
    assert plan is not None
    there_and_back = (*bug.finding.run.operators, bug.finding.run.last_decision)[-2:]
    too_expensive = (*there_and_back, *plan) * 9
    assert plan_evidence(bug.finding, too_expensive, task) is None
    assert plan_evidence(bug.finding, plan[:-1], task) is None  # does not reach the goal


def test_localization_comes_across_plans(store: Workspace) -> None:
    seen = 0
    for row in store.bugs()[::7]:
        bug = store.bug(row.id)
        task = store.task(bug.problem_id)
        plan = Localizer(StateTable(task)).localize_finding(bug.finding).better_plan
        if plan is None:
            continue
        seen += 1
        verdict = validate_operators(task, plan, bug.finding.state)
        assert verdict.valid, verdict.reason
        assert verdict.cost is not None
        assert verdict.cost <= row.bound
        if row.policy_cost is not None:
            assert verdict.cost < row.policy_cost
    assert seen > 5
