"""Bugs, their evidence and their runs in words."""

from __future__ import annotations

from collections.abc import Iterable

from engine.records.evidence import Morph, Walk
from engine.records.finding import BugKind, EndReason
from engine.report.trace import Ending, Trace
from engine.report.words import count_text
from engine.task.task import Task
from engine.verify.claims import SOLVED
from engine.workspace.filter import KIND_WORDS
from engine.workspace.rows import Bug, BugRow, StateCounts

_ENDINGS = {
    EndReason.LOOP: "it runs into a loop",
    EndReason.NO_ACTION: "it chooses no action",
    EndReason.INAPPLICABLE: "it chooses an inapplicable action",
    EndReason.STEP_LIMIT: "it reaches the step limit",
}


def tested_text(counts: StateCounts, *, is_running: bool) -> str:
    """Return what campaigns without bugs have shown, the last of which may be running."""
    rest = counts.tested - counts.optimal
    tested = f"{count_text(counts.tested, 'state')} tested"
    known = (
        f"The policy is proven optimal in {counts.optimal}; in {rest}, no oracle refuted it. "
        if counts.tested
        else ""
    )
    if is_running:
        more = "The campaign has not ended yet; the bugs it finds appear here."
        return f"{tested} so far. {known}{more}"
    return f"{tested}. {known}Test more states or use other oracles to look further."


def explain(bug: Bug, task: Task) -> tuple[str, ...]:
    """Return one sentence per link of the chain; each can be checked by itself."""
    return (what_the_policy_does(bug), *_chain(bug, task), _conclusion(bug))


def what_the_policy_does(bug: Bug) -> str:
    steps = count_text(len(bug.finding.run.operators), "step")
    if bug.finding.run.outcome == SOLVED:
        return f"The policy reaches the goal in {steps} at a cost of {bug.finding.run.cost}."
    ending = _ENDINGS.get(bug.finding.run.reason, f"it stops ({bug.finding.run.reason})")
    return f"The policy does not reach the goal; after {steps} {ending}."


def _chain(bug: Bug, task: Task) -> list[str]:
    evidence = bug.finding.evidence
    if evidence.is_plan:
        origins = dict.fromkeys(step.origin for step in evidence.steps)
        count = count_text(len(evidence.operators), "step")
        return [f"A plan of {count} reaches the goal at a cost of {evidence.bound}{_by(origins)}."]
    sentences, state = [], 0
    for step in evidence.steps:
        if isinstance(step, Walk):
            cost = sum(task.operators[number].cost for number in step.operators)
            count = count_text(len(step.operators), "step")
            here = "From here" if state == 0 else f"From state {state}"
            sentences.append(f"{here}, take {count} at a cost of {cost}{_by([step.origin])}.")
        else:
            state += 1
            sentences.append(_morph(step, state))
    return [*sentences, "This reaches the goal."]


def _morph(step: Morph, state: int) -> str:
    if step.gain > 0:
        compared = f"is at least {step.gain} less than"
    elif step.gain < 0:
        compared = f"is at most {-step.gain} more than"
    else:
        compared = "is at most"
    return (
        "The dominance function proves that the optimal cost of the state reached so far "
        f"{compared} that of state {state}."
    )


def _conclusion(bug: Bug) -> str:
    row = bug.row
    if row.gap is None:
        return f"Therefore the goal can be reached at a cost of {row.bound}, but the policy fails."
    more = "" if bug.finding.run.outcome == SOLVED else "at least "
    return (
        f"Therefore a cost of {row.bound} suffices, but the policy costs {more}{row.policy_cost}: "
        f"{more}{row.gap} too much."
    )


def _by(origins: Iterable[str]) -> str:
    names = [name for name in origins if name]
    return f" (found by {', '.join(names)})" if names else ""


def kind_text(kind: BugKind) -> str:
    return KIND_WORDS[kind]


def headline(row: BugRow) -> str:
    """The bug in one sentence."""
    if row.kind is BugKind.FAILS:
        return f"Never reaches the goal; {row.bound} suffices."
    least = "at least " if row.kind is BugKind.STOPPED else ""
    return f"Costs {least}{row.policy_cost}; {row.bound} suffices."


_OUTCOME_TEXT = {
    Ending.INAPPLICABLE: "the policy chooses an inapplicable action",
    Ending.POLICY_ERROR: "the policy raises an error",
}


def ending_text(trace: Trace) -> str:
    """Describe how a run or a plan ends."""
    if trace.ending is Ending.LOOP:
        return _loop_words(trace)
    if trace.ending is Ending.NO_ACTION:
        stuck, gives_up = "dead end: no action is applicable", "the policy chooses no action"
        return stuck if trace.stuck else gives_up
    if trace.ending is Ending.BOUND:
        more = " more" if trace.steps else ""
        return f"at most {trace.rest}{more}; no plan known"
    steps = f"{len(trace.steps)} steps" if len(trace.steps) != 1 else "1 step"
    if trace.ending is Ending.GOAL:
        return f"goal reached, {steps}"
    stopped = f"goal not reached after {steps} at a cost of {trace.cost}"
    return _OUTCOME_TEXT.get(trace.ending, stopped)


def _loop_words(trace: Trace) -> str:
    assert trace.loop_begin is not None
    if trace.loop_begin == len(trace.steps):
        return "loop: does nothing forever"
    return f"loop: back to step {trace.loop_begin + 1} forever"
