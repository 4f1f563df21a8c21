"""Claims about what steps lose: they follow from the bounds and verdicts, and so does the worst.

F(k) = what was spent before state k, plus h* of it, never falls along a run, and a step loses what
F rises. That is how the losses are worked out again here; finders reckon in costs-to-go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.records.finding import INFINITY
from engine.records.localization import CauseKind, Localization, LocalizedStep, StepVerdict
from engine.task.task import Task

Bounds = tuple[int, int]


def find_loss_problems(
    found: Localization, bounds: Sequence[Bounds], costs: Sequence[int], solved: bool, task: Task
) -> Iterator[str]:
    """What losses do not follow; `bounds` are those of h* of all states, `costs` of all steps."""
    spent = 0
    rises: list[Bounds] = []
    for step, cost, before, after in zip(found.steps, costs, bounds, bounds[1:], strict=False):
        start = plus(before[0], spent), plus(before[1], spent)
        spent += cost
        rises.append(_rise(step, start, (plus(after[0], spent), plus(after[1], spent))))
    known = sum(low for low, _ in rises if low < INFINITY)
    for step, (low, most) in zip(found.steps, rises, strict=True):
        # F ends at the cost of a solved run, and the other steps have their part in its rise.
        high = min(most, spent - bounds[0][0] - (known - low)) if solved else most
        if (step.loss_low, step.loss_high) != (low, high):
            said, follows = _words(step.loss_low, step.loss_high), _words(low, high)
            yield f"step {step.index + 1}: its stored loss is {said}, but {follows} follows"
    expected = _worst(found)
    if found.worst_step != expected:
        yield f"the worst step is {_name(expected)}, not {_name(found.worst_step)}"
    elif found.worst_action != _action(found, task):
        yield "the worst step has another action"


def _rise(step: LocalizedStep, before: Bounds, after: Bounds) -> Bounds:
    """The bounds on how much F rises with a step."""
    if before[0] == INFINITY or step.verdict is StepVerdict.OPTIMAL:
        return 0, 0
    high = INFINITY if after[1] == INFINITY else after[1] - before[0]
    if before[1] == INFINITY:
        low = 0
    elif after[0] == INFINITY:
        low = INFINITY
    else:
        low = max(0, after[0] - before[1])
    return (low or 1, high) if step.verdict is StepVerdict.NOT_OPTIMAL else (low, high)


def _worst(found: Localization) -> int | None:
    """The last of the steps that lose most; see docs/theory/localization.md."""
    cause, failure = found.cause, found.failure
    kind = None if cause is None else cause.kind
    if cause is not None and kind in (CauseKind.NO_ACTION, CauseKind.FAULT):
        return cause.index
    steps = found.steps
    if cause is not None and kind is CauseKind.LOOP:
        if failure is None or failure.loop_begin is None:
            return cause.index
        steps = steps[failure.loop_begin :]
    most = max((step.loss_low for step in steps), default=0)
    losing = [step.index for step in steps if step.loss_low == most]
    if cause is not None and kind is CauseKind.LOOP:
        return cause.index if cause.index in losing else losing[-1]
    return losing[-1] if most else None


def _action(found: Localization, task: Task) -> str:
    if found.worst_step is None or found.worst_step >= len(found.steps):
        return ""
    return task.operators[found.steps[found.worst_step].operator].name


def plus(bound: int, cost: int) -> int:
    """Add a cost to a bound, which may be infinite."""
    return bound if bound == INFINITY else bound + cost


def _words(low: int, high: int) -> str:
    ends = ["the goal" if end == INFINITY else str(end) for end in (low, high)]
    return ends[0] if low == high else " to ".join(ends)


def _name(step: int | None) -> str:
    return "none" if step is None else f"step {step + 1}"
