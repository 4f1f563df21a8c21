"""A localisation as a JSON document, and in words."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from engine.localize.localisation import CauseKind, Failure, Localisation, StepVerdict, Verdict
from engine.native.library import INFINITY
from engine.task.atoms import format_atom, state_atoms
from engine.task.task import Task


def document(task: Task, found: Localisation) -> dict[str, Any]:
    """`root_state` has a value per variable; costs are null where nothing is known or finite."""
    cause = found.cause
    return {
        "steps": [_step(task, step) for step in found.steps],
        "bad_steps": list(found.bad_steps),
        "undecided_steps": list(found.undecided_steps),
        "root_state": None if cause is None else list(cause.state),
        "cause": None
        if cause is None
        else {
            "kind": cause.kind.value,
            "step": cause.index,
            "action": f"({cause.action})" if cause.action else None,
            "facts": sorted(format_atom(atom) for atom in state_atoms(task, cause.state)),
        },
        "failure": None if found.failure is None else _failure(task, found.failure),
        "searches": found.searches,
        "naive_searches": found.naive_searches,
        "expanded": found.expanded,
        "seconds": round(found.seconds, 6),
        "limited": found.limited,
    }


def _failure(task: Task, failure: Failure) -> dict[str, Any]:
    plan = failure.plan
    names = None if plan is None else [_name(task, number) for number in plan]
    return {**asdict(failure), "plan": names}


def _step(task: Task, step: StepVerdict) -> dict[str, Any]:
    plan = step.better_plan
    return {
        "i": step.index,
        "action": _name(task, step.operator),
        "verdict": step.verdict.value,
        "policy_to_go": step.policy_cost_to_go,
        "optimal_to_go": step.optimal_cost_to_go,
        "optimal_low": _finite(step.optimal_low),
        "optimal_high": _finite(step.optimal_high),
        "cost_with_action": _finite(step.after_low) if step.after_low == step.after_high else None,
        "lost": step.lost,
        "better_plan": None if plan is None else [_name(task, number) for number in plan],
    }


def text(task: Task, found: Localisation) -> str:
    width = max((len(_name(task, step.operator)) for step in found.steps), default=0)
    lines = [f"{s.index:>4}  {_name(task, s.operator):<{width}}  {_words(s)}" for s in found.steps]
    lines.append(_cause(found))
    lines.append(
        f"{found.searches} searches (one per state: {found.naive_searches}), "
        f"{found.expanded:,} states expanded, {found.seconds:.2f} s"
    )
    return "\n".join(lines)


def _words(step: StepVerdict) -> str:
    if step.lost:
        return "the goal is out of reach"
    if step.verdict is Verdict.NOT_OPTIMAL:
        before = _costs(step.optimal_low, step.optimal_high)
        if step.after_low == INFINITY:
            return f"BAD: the goal, {before} away, is out of reach after it"
        return f"BAD: should be {before}, is {_costs(step.after_low, step.after_high)}"
    if step.verdict is Verdict.OPTIMAL:
        return f"optimal, {_costs(step.optimal_low, step.optimal_high)} to go"
    return f"undecided, {_costs(step.optimal_low, step.optimal_high)} to go"


def _costs(low: int, high: int) -> str:
    if low == high:
        return str(low)
    return f"{low} or more" if high == INFINITY else f"{low} to {high}"


_BLAME = {
    CauseKind.DETOUR: "it costs more than needed",
    CauseKind.DEAD_END: "the goal could be reached before it, and not after it",
    CauseKind.LOOP: "the policy runs in a loop from which the goal could be reached",
    CauseKind.NO_ACTION: "the policy gives up where the goal could be reached",
    CauseKind.FAULT: "the policy's answer cannot be executed",
}


def _cause(found: Localisation) -> str:
    cause = found.cause
    if cause is not None:
        action = f" ({cause.action})" if cause.action else ""
        return f"to blame: step {cause.index}{action}: {_BLAME[cause.kind]}"
    if found.limited:
        return "undecided within the limits"
    if found.failure is not None and found.failure.first_unsolvable == 0:
        return "the goal was out of reach from the beginning"
    return "no step is bad"


def _name(task: Task, operator: int) -> str:
    return f"({task.operators[operator].name})"


def _finite(bound: int) -> int | None:
    return None if bound == INFINITY else bound
