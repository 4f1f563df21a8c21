"""Whether a finding holds: its evidence, and the policy's run it is compared with.

Both are replayed on the task alone, without kernels, tables or the policy; dominance values are
put to their own checker. The unit asks before it reports a finding, `plumbline verify` asks again
about what the store says.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.errors import WorkspaceError
from engine.policies.policy import NO_ACTION, NO_OPERATION
from engine.records.evidence import State, Walk
from engine.records.finding import BugKind, EndReason, Finding, Run, RunOutcome
from engine.records.localization import Localization
from engine.task.successors import is_applicable, is_goal, successor
from engine.task.task import Task
from engine.verify.evidence import DominanceCheck, verify
from engine.workspace.rows import Bug

SOLVED, FAILED, ABORTED = RunOutcome.SOLVED, RunOutcome.FAILED, RunOutcome.ABORTED


_OUTCOMES = {BugKind.FAILS: FAILED, BugKind.TOO_EXPENSIVE: SOLVED, BugKind.STOPPED: ABORTED}


def find_problem(finding: Finding, task: Task, dominance: DominanceCheck | None = None) -> str:
    """Return why a finding does not hold; empty if it does."""
    if finding.evidence.state != finding.state or finding.evidence.bound != finding.bound:
        return "the evidence is for another state or bound"
    verification = verify(finding.evidence, task, dominance)
    if not verification.ok:
        return f"evidence: {verification.problem}"
    if problem := _problem_with_run(finding.state, finding.run, task):
        return f"policy run: {problem}"
    return _problem_with_gap(finding)


def _problem_with_gap(finding: Finding) -> str:
    run, gap = finding.run, finding.gap
    if run.outcome is not _OUTCOMES[finding.kind]:
        return f"the policy's run is '{run.outcome}', which is not {finding.kind}"
    if finding.kind is BugKind.FAILS:
        return "" if gap is None else "a run that fails has a cost"
    if gap is None or gap <= 0:
        return f"the policy's run costs {run.cost}, which is not more than {finding.bound}"
    return ""


def _problem_with_run(start: State, run: Run, task: Task) -> str:
    walked = _walk(start, run, task)
    if isinstance(walked, str):
        return walked
    states, cost = walked
    at_goal = is_goal(task, states[-1])
    if at_goal != (run.outcome == SOLVED):
        return "it reaches the goal" if at_goal else "it ends before the goal"
    if run.outcome == FAILED:
        return _problem_with_end(states, run, task)
    return "" if run.cost == cost else f"it costs {cost}, not {run.cost}"


def _walk(start: State, run: Run, task: Task) -> tuple[list[State], int] | str:
    """The states of a run and its cost, or which step cannot have been made."""
    states, seen, cost = [start], {start}, 0
    for number, index in enumerate(run.operators, 1):
        if not 0 <= index < len(task.operators):
            return f"step {number}: there is no operator {index}"
        operator = task.operators[index]
        if is_goal(task, states[-1]):
            return f"step {number}: the goal was reached before"
        if not is_applicable(operator, states[-1]):
            return f"step {number}: ({operator.name}) is not applicable"
        states.append(successor(operator, states[-1]))
        cost += operator.cost
        if states[-1] in seen:
            return f"step {number}: the run was here before"
        seen.add(states[-1])
    return states, cost


def _problem_with_end(states: list[State], run: Run, task: Task) -> str:
    """Whether a failed run fails as it says; that the policy answered nonsense cannot be seen."""
    last = run.last_decision
    if run.reason == EndReason.NO_ACTION and last != NO_ACTION:
        return "it ends with a decision"
    if run.reason == EndReason.LOOP and last != NO_OPERATION:
        if not 0 <= last < len(task.operators):
            return "the step that closes the loop is missing"
        operator = task.operators[last]
        if not is_applicable(operator, states[-1]) or successor(operator, states[-1]) not in states:
            return f"({operator.name}) does not close a loop"
    return ""


def require_fit(bug: Bug, task: Task, localization: Localization | None = None) -> None:
    """Before anybody looks up the names of its facts and actions."""
    sizes = task.domain_sizes
    for state in _states(bug, localization):
        if len(state) != len(sizes) or any(
            not 0 <= value < size for value, size in zip(state, sizes, strict=True)
        ):
            raise _damaged(bug, "one of its states does not belong to the task")
    count = len(task.operators)
    if any(not 0 <= operator < count for operator in _operators(bug, localization)):
        raise _damaged(bug, "one of its actions does not belong to the task")
    if not _can_be_walked(bug, task):
        raise _damaged(bug, "the policy's run cannot be walked")
    if localization is not None and len(localization.steps) > len(bug.finding.run.operators) + 1:
        raise _damaged(bug, "its run is shorter than what is known of its steps")


def _can_be_walked(bug: Bug, task: Task) -> bool:
    state = bug.finding.state
    for number in bug.finding.run.operators:
        operator = task.operators[number]
        if not is_applicable(operator, state):
            return False
        state = successor(operator, state)
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


def _operators(bug: Bug, localization: Localization | None) -> Iterator[int]:
    yield from bug.finding.run.operators
    yield max(bug.finding.run.last_decision, 0)  # less than 0: none
    for part in bug.finding.evidence.steps:
        if isinstance(part, Walk):
            yield from part.operators
    if localization is not None:
        for step in localization.steps:
            yield step.operator
            yield from step.better_plan or ()
        if localization.failure is not None:
            yield from localization.failure.plan or ()
