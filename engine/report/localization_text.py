"""What localization found, as a document and in words.

Steps count from 0 in documents, and from 1 in words.
"""

from __future__ import annotations

from typing import Any

from msgspec import structs

from engine.records.evidence import State
from engine.records.finding import INFINITY
from engine.records.localization import Failure, Localization, LocalizedStep, StepVerdict
from engine.report.loss_text import describe_losses, loss_words
from engine.report.words import count_text
from engine.task.atoms import format_atom, format_fact, state_atoms
from engine.task.successors import successor
from engine.task.task import Task


def document(task: Task, found: Localization) -> dict[str, Any]:
    """`root_state` has a value per variable; costs are null where nothing is known or finite.

    A loss that is null is the loss of the goal; that of a step may be an interval.
    """
    cause = found.cause
    return {
        "steps": [_step(task, step) for step in found.steps],
        "bad_steps": list(found.bad_steps),
        "worst_step": found.worst_step,
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
        "better_plan": _names(task, found.better_plan),
        "failure": None if found.failure is None else _failure(task, found.failure),
        "searches": found.searches,
        "naive_searches": found.naive_searches,
        "expanded": found.expanded,
        "seconds": round(found.seconds, 6),
        "limited": found.limited,
    }


def _failure(task: Task, failure: Failure) -> dict[str, Any]:
    return {**structs.asdict(failure), "plan": _names(task, failure.plan)}


def _step(task: Task, step: LocalizedStep) -> dict[str, Any]:
    return {
        "i": step.index,
        "action": _name(task, step.operator),
        "verdict": step.verdict.value,
        "policy_to_go": step.policy_cost_to_go,
        "optimal_to_go": step.optimal_cost_to_go,
        "optimal_low": _finite(step.optimal_low),
        "optimal_high": _finite(step.optimal_high),
        "cost_with_action": _finite(step.after_low) if step.after_low == step.after_high else None,
        "loss": [_finite(step.loss_low), _finite(step.loss_high)],
        "lost": step.lost,
        "better_plan": _names(task, step.better_plan),
    }


def text(task: Task, found: Localization) -> str:
    """A line per step, the sentence, and the effort."""
    width = max((len(_name(task, step.operator)) for step in found.steps), default=0)
    losses = [_short_loss(step) for step in found.steps]
    room = max(map(len, losses), default=0)
    lines = [
        f"{step.index + 1:>4}  {_name(task, step.operator):<{width}}  {loss:>{room}}  "
        f"{_words(step)}"
        for step, loss in zip(found.steps, losses, strict=True)
    ]
    lines.append(describe_losses(found))
    lines.append(
        f"{count_text(found.searches, 'search')} (one per state: {found.naive_searches}), "
        f"{count_text(found.expanded, 'state')} expanded, {found.seconds:.2f} s"
    )
    return "\n".join(lines)


def _short_loss(step: LocalizedStep) -> str:
    return "lost" if step.loses_goal else loss_words(step).removesuffix(", undecided")


def _words(step: LocalizedStep) -> str:
    if step.lost:
        return "the goal is unreachable"
    before = _costs(step.optimal_low, step.optimal_high)
    if step.verdict is StepVerdict.NOT_OPTIMAL:
        if step.loses_goal:
            return f"BAD: makes the goal unreachable; cost-to-go before: {before}"
        return f"BAD: should be {before}, is {_costs(step.after_low, step.after_high)}"
    if step.verdict is StepVerdict.OPTIMAL:
        return f"optimal, {before} to go"
    return f"undecided, {before} to go"


def _costs(low: int, high: int) -> str:
    if low == high:
        return str(low)
    return f"{low} or more" if high == INFINITY else f"{low} to {high}"


def _name(task: Task, operator: int) -> str:
    return f"({task.operators[operator].name})"


def _names(task: Task, plan: tuple[int, ...] | None) -> list[str] | None:
    return None if plan is None else [_name(task, number) for number in plan]


def _finite(bound: int) -> int | None:
    return None if bound == INFINITY else bound


def verdict_text(step: LocalizedStep) -> str:
    """A step's verdict in a few words, as in "cost-to-go 9, should be 7"."""
    if step.verdict is StepVerdict.UNDECIDED:
        return "undecided within the limits"
    if step.lost:
        return "the goal is already unreachable"
    if step.verdict is StepVerdict.OPTIMAL:
        known = step.optimal_cost_to_go
        return "optimal" if known is None else f"optimal: cost-to-go {known}"
    should = f"should be {_at_most(step)}"
    if step.loses_goal:
        return f"loses the goal, cost-to-go {should}"
    if step.after_low == step.after_high:
        return f"cost-to-go {step.after_low}, {should}"
    return f"cost-to-go at least {step.after_low}, {should}"


def instead_text(step: LocalizedStep) -> str:
    """Return the costs of a bad step and of a better one: "7 to go instead of 9"."""
    if step.loses_goal:
        return f"{_at_most(step)} to go; after this step the goal cannot be reached"
    least = "" if step.after_low == step.after_high else "at least "
    return f"{_at_most(step)} to go instead of {least}{step.after_low}"


def _at_most(step: LocalizedStep) -> str:
    exact = step.optimal_low == step.optimal_high
    return str(step.optimal_high) if exact else f"at most {step.optimal_high}"


def why_bad(step: LocalizedStep, state: State, task: Task) -> list[str]:
    """Explain what is wrong with a bad step, and what to do instead."""
    operator = task.operators[step.operator]
    number, action = step.index + 1, f"({operator.name})"
    if step.loses_goal:
        first = (
            f"Step {number} {action} loses the goal: no plan exists after it, but a plan of cost "
            f"{step.optimal_high} existed before it."
        )
    else:
        after = "" if step.after_low == step.after_high else "at least "
        exact = step.loss_low == step.loss_high
        more = f"{step.loss_low:,}" if exact else f"at least {step.loss_low:,}"
        first = (
            f"Step {number} {action} costs {more} more than necessary: with it the "
            f"goal costs {after}{step.after_low}, without it {_at_most(step)}."
        )
    sentences = [first]
    if step.better_operator is not None:
        better = task.operators[step.better_operator]
        plan = step.better_plan
        length = "" if plan is None else f" with {count_text(len(plan), 'step')}"
        sentences.append(
            f"Better: ({better.name}) starts a plan of cost {step.optimal_high}{length}."
        )
        ours = _effects(task, state, step.operator)
        theirs = _effects(task, state, step.better_operator)
        if ours or theirs:
            sentences.append(
                f"The policy makes {_listed(ours - theirs)} true; "
                f"the better action makes {_listed(theirs - ours)} true."
            )
    return sentences


def _effects(task: Task, state: State, number: int) -> set[str]:
    """The facts that an operator makes true in a state."""
    after = successor(task, task.operators[number], state)
    return {
        format_fact(task.variables[variable].values[value])
        for variable, value in enumerate(after)
        if state[variable] != value and task.fact_atoms[variable][value] is not None
    }


def _listed(facts: set[str]) -> str:
    shown = sorted(facts)[:4]
    if not shown:
        return "nothing new"
    more = f" and {len(facts) - 4} more" if len(facts) > 4 else ""
    return ", ".join(shown) + more
