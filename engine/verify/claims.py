"""Whether a finding holds: its evidence, and the policy's run it is compared with.

Both are replayed on the task alone, without kernels, tables or the policy; dominance values are
put to their own checker. The unit asks before it reports a finding, `plumbline verify` asks again
about what the store says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import structs

from engine.errors import WorkspaceError
from engine.policies.policy import NO_ACTION, NO_OPERATION
from engine.records.evidence import Evidence, State, Walk
from engine.records.finding import NO_DECISION, BugKind, EndReason, Finding, Run, RunOutcome
from engine.records.localization import CauseKind, Localization
from engine.task.task import Task
from engine.verify.evidence import DominanceCheck, verify
from engine.verify.replay import cost_of, replay
from engine.verify.semantics import is_applicable, is_goal, successor
from engine.workspace.rows import Bug

SOLVED, FAILED, ABORTED = RunOutcome.SOLVED, RunOutcome.FAILED, RunOutcome.ABORTED


_REASONS: dict[str, tuple[str, ...]] = {
    SOLVED: (EndReason.GOAL,),
    FAILED: (EndReason.LOOP, EndReason.NO_ACTION, EndReason.INAPPLICABLE),
    ABORTED: (EndReason.STEP_LIMIT, EndReason.POLICY_ERROR),
}
_OUTCOMES = {BugKind.FAILS: FAILED, BugKind.TOO_EXPENSIVE: SOLVED, BugKind.STOPPED: ABORTED}


def find_problem(finding: Finding, task: Task, dominance: DominanceCheck | None = None) -> str:
    """Return why a finding does not hold; empty if it does."""
    if finding.evidence.state != finding.state or finding.evidence.bound != finding.bound:
        return "the evidence is for another state or bound"
    verification = verify(finding.evidence, task, dominance)
    if not verification.ok:
        return f"evidence: {verification.problem}"
    if problem := find_run_problem(finding.state, finding.run, task):
        return f"policy run: {problem}"
    return find_gap_problem(finding)


def better_evidence(finding: Finding, found: Localization, task: Task) -> Evidence | None:
    """Return the plan that localizing came across, if it proves more than the evidence so far."""
    plan = found.better_plan
    if plan is None or (finding.evidence.is_plan and cost_of(plan, task) >= finding.bound):
        return None
    return plan_evidence(finding, plan, task)


def plan_evidence(finding: Finding, plan: Sequence[int], task: Task) -> Evidence | None:
    """Return a plan as evidence of a finding; None if it proves less than is known, or nothing."""
    cost = cost_of(plan, task)
    if cost > finding.bound:
        return None
    evidence = Evidence(finding.state, (Walk(tuple(plan), "search"),), cost)
    proven = structs.replace(finding, bound=cost, evidence=evidence)
    return None if find_problem(proven, task) else evidence


def find_gap_problem(finding: Finding) -> str:
    """Return why run and bound do not make a bug of this kind; empty if they do."""
    run, gap = finding.run, finding.gap
    if run.outcome is not _OUTCOMES[finding.kind]:
        return f"the policy's run is '{run.outcome}', which is not {finding.kind}"
    if finding.kind is BugKind.FAILS:
        return "" if gap is None else "a failed run has a cost"
    if gap is None or gap <= 0:
        return f"the policy's run costs {run.cost}, which is not more than {finding.bound}"
    return ""


def find_end_problem(outcome: str | None, reason: str | None, cost: int | None) -> str:
    """Return what is wrong with the claimed end of a run, or an empty string."""
    if outcome is None or reason is None:
        return "only a part of how its run ends is stored"
    if reason not in _REASONS.get(outcome, ()):
        return f"a run that is {outcome} does not end by '{reason}'"
    if (cost is None) != (outcome == FAILED):
        return f"a run that is {outcome} has {'no' if cost is None else 'a'} cost"
    return ""


def find_run_problem(start: State, run: Run, task: Task) -> str:
    """Return why a run cannot have been made as it says; empty if it can."""
    if problem := find_end_problem(run.outcome, run.reason, run.cost):
        return problem
    states = replay(start, run.operators, task)
    return states if isinstance(states, str) else next(_run_problems(states, run, task), "")


def _run_problems(states: list[State], run: Run, task: Task) -> Iterator[str]:
    for number, state in enumerate(states[:-1], 1):
        if is_goal(task, state):
            yield f"step {number}: the goal was reached before"
    if len(set(states)) < len(states):
        yield "it visits a state twice"
    at_goal = is_goal(task, states[-1])
    if at_goal != (run.outcome is SOLVED):
        yield "it reaches the goal" if at_goal else "it ends before the goal"
    if run.outcome is FAILED:
        yield from _problems_with_end(states, run, task)
    elif run.last_decision != NO_DECISION:
        yield "it does not fail, but has a decision that ends it"
    elif run.cost != (cost := cost_of(run.operators, task)):
        yield f"it costs {cost}, not {run.cost}"


def _problems_with_end(states: list[State], run: Run, task: Task) -> Iterator[str]:
    """Check how a failed run ends; an invalid answer of the policy cannot be checked here."""
    last = run.last_decision
    expected = {EndReason.NO_ACTION: NO_ACTION, EndReason.INAPPLICABLE: NO_DECISION}
    if last != expected.get(run.reason, last):
        yield "its last decision does not match its end reason"
    if run.reason is EndReason.LOOP and last != NO_OPERATION:
        if not 0 <= last < len(task.operators):
            yield "the step that closes the loop is missing"
            return
        operator = task.operators[last]
        if (
            not is_applicable(operator, states[-1])
            or successor(task, operator, states[-1]) not in states
        ):
            yield f"({operator.name}) does not close a loop"


def require_fit(bug: Bug, task: Task, localization: Localization | None = None) -> None:
    """Require that a bug fits its task, before names of its facts and actions are looked up."""
    if not all(is_state_of(task, state) for state in _states(bug, localization)):
        raise _damaged(bug, "one of its states does not belong to the task")
    count = len(task.operators)
    plans = filter(None, _plans(bug, localization))
    if any(min(plan) < 0 or max(plan) >= count for plan in plans):  # there may be millions
        raise _damaged(bug, "one of its actions does not belong to the task")
    if not _can_be_walked(bug, task):
        raise _damaged(bug, "the policy's run cannot be replayed")
    if localization is not None:
        steps = len(bug.finding.run.operators)
        if problem := find_description_problem(localization, steps):
            raise _damaged(bug, problem)


def find_description_problem(found: Localization, steps: int) -> str:
    """Return why what localizing says about a run of so many steps cannot be put into words."""
    if max(len(found.steps), found.worst_step or 0) > steps + 1:
        return "its localization has more steps than its run"
    if any(number is None or number >= len(found.steps) for number in _described_steps(found)):
        return "its localization is about a step that it does not have"
    return ""


def is_state_of(task: Task, state: State) -> bool:
    sizes = task.domain_sizes
    return len(state) == len(sizes) and all(
        0 <= value < size for value, size in zip(state, sizes, strict=True)
    )


def _can_be_walked(bug: Bug, task: Task) -> bool:
    state = bug.finding.state
    for number in bug.finding.run.operators:
        operator = task.operators[number]
        if not is_applicable(operator, state):
            return False
        state = successor(task, operator, state)
    return True


def _damaged(bug: Bug, reason: str) -> WorkspaceError:
    return WorkspaceError(f"bug {bug.row.id} is damaged: {reason}", hint="restore a backup")


def _states(bug: Bug, localization: Localization | None) -> Iterator[State]:
    yield bug.finding.state
    yield bug.finding.evidence.state
    for step in bug.finding.evidence.steps:
        if not isinstance(step, Walk):
            yield step.state
    if localization is not None and localization.cause is not None:
        yield localization.cause.state


def _plans(bug: Bug, localization: Localization | None) -> Iterator[Sequence[int]]:
    """All sequences of operators."""
    yield bug.finding.run.operators
    yield (max(bug.finding.run.last_decision, 0),)  # less than 0: none
    for part in bug.finding.evidence.steps:
        if isinstance(part, Walk):
            yield part.operators
    if localization is not None:
        for step in localization.steps:
            yield (step.operator,)
            yield step.better_plan or ()
        yield localization.better_plan or ()
        if localization.failure is not None:
            yield localization.failure.plan or ()


def _described_steps(found: Localization) -> Iterator[int | None]:
    """The steps that are there in order to describe what went wrong."""
    cause, failure = found.cause, found.failure
    if cause is None:
        if found.worst_step is not None:
            yield found.worst_step
    elif cause.kind is CauseKind.DETOUR:
        yield from (found.worst_step, cause.index)
    elif cause.kind is CauseKind.LOOP and failure is not None and failure.loop_begin is not None:
        yield from (found.worst_step or 0, failure.loop_begin)
