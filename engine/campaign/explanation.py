"""Why a finding is a bug, in sentences: what the policy does, what is possible, the difference."""

from __future__ import annotations

from collections.abc import Iterable

from engine.campaign.checking import SOLVED
from engine.campaign.rows import Bug
from engine.oracles.evidence import Morph, Walk
from engine.policies.run_graph import Reason
from engine.task.task import Task

_ENDINGS = {
    str(Reason.LOOP): "it runs into a loop",
    str(Reason.NO_ACTION): "it has no action to offer where it stops",
    str(Reason.INAPPLICABLE): "it chooses an action that cannot be applied",
    str(Reason.STEP_LIMIT): "it was stopped at the step limit",
}


def explain(bug: Bug, task: Task) -> tuple[str, ...]:
    """One sentence per link of the chain; every one of them can be checked by itself."""
    return (what_the_policy_does(bug), *_chain(bug, task), _conclusion(bug))


def what_the_policy_does(bug: Bug) -> str:
    steps = _count(len(bug.run.operators), "step")
    if bug.run.outcome == SOLVED:
        return f"The policy reaches the goal in {steps} at a cost of {bug.run.cost}."
    ending = _ENDINGS.get(bug.run.reason, f"it stops: {bug.run.reason}")
    return f"The policy does not reach the goal: after {steps} {ending}."


def _chain(bug: Bug, task: Task) -> list[str]:
    evidence = bug.evidence
    if evidence.is_plan:
        origins = dict.fromkeys(step.origin for step in evidence.steps)
        count = _count(len(evidence.operators), "step")
        return [f"A plan of {count} reaches it at a cost of {evidence.bound}{_by(origins)}."]
    sentences, state = [], 0
    for step in evidence.steps:
        if isinstance(step, Walk):
            cost = sum(task.operators[number].cost for number in step.operators)
            count = _count(len(step.operators), "step")
            here = "From here" if state == 0 else f"From state {state}"
            sentences.append(f"{here}, {count} at a cost of {cost} lead on{_by([step.origin])}.")
        else:
            state += 1
            sentences.append(_morph(step, state))
    return [*sentences, "The goal is reached there."]


def _morph(step: Morph, state: int) -> str:
    if step.gain > 0:
        compared = f"at least {step.gain} less than"
    elif step.gain < 0:
        compared = f"at most {-step.gain} more than"
    else:
        compared = "no more than"
    return (
        f"The dominance function proves that what is reached so far needs {compared} state {state}."
    )


def _conclusion(bug: Bug) -> str:
    row = bug.row
    if row.gap is None:
        return f"So the goal can be reached at a cost of {row.bound}, but the policy fails."
    more = "" if bug.run.outcome == SOLVED else "at least "
    return (
        f"So the goal costs at most {row.bound}, and the policy spends {more}{row.policy_cost}: "
        f"{more}{row.gap} too much."
    )


def _by(origins: Iterable[str]) -> str:
    names = [name for name in origins if name]
    return f" (found by {', '.join(names)})" if names else ""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
