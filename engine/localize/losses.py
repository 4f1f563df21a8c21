"""How much each step of a run loses, and which loses most.

loss(i) = c(a_i) + h*(s_{i+1}) - h*(s_i), never negative. What is known of both costs bounds it; on
a run that reaches the goal all losses together are the gap, so what other steps are proven to lose
this one cannot lose. See docs/theory/localization.md, "Loss of a step".
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from engine.records.finding import INFINITY
from engine.records.localization import Cause, CauseKind, Failure, LocalizedStep, StepVerdict

Interval = tuple[int, int]


def loss_between(
    verdict: StepVerdict, low: int, high: int, after_low: int, after_high: int
) -> Interval:
    """What a step loses, by bounds on h* of its state and on what the goal costs with it."""
    if low == INFINITY or verdict is StepVerdict.OPTIMAL:
        return 0, 0
    least = 0
    if high != INFINITY:
        least = INFINITY if after_low == INFINITY else max(after_low - high, 0)
    if verdict is StepVerdict.NOT_OPTIMAL:
        least = max(least, 1)
    return least, INFINITY if after_high == INFINITY else after_high - low


def share_gap(steps: Sequence[LocalizedStep], largest_gap: int) -> tuple[LocalizedStep, ...]:
    """The steps of a run that reaches the goal; none loses what others are proven to lose.

    A step for which nothing is left is optimal.
    """
    together = sum(step.loss_low for step in steps)
    shared = []
    for step in steps:
        most = min(step.loss_high, largest_gap - (together - step.loss_low))
        verdict = StepVerdict.OPTIMAL if most == 0 else step.verdict
        shared.append(structs.replace(step, verdict=verdict, loss_high=most))
    return tuple(shared)


def find_worst_step(
    steps: Sequence[LocalizedStep], cause: Cause | None, failure: Failure | None
) -> int | None:
    """The number of the step that loses most, of equal ones the last; None if none loses.

    A policy that stops loses by stopping; one that runs in a loop, in the loop.
    """
    if cause is not None and cause.kind in (CauseKind.NO_ACTION, CauseKind.FAULT):
        return cause.index
    if cause is not None and cause.kind is CauseKind.LOOP:
        begin = cause.index if failure is None else failure.loop_begin
        return max(
            (step.index for step in (() if begin is None else steps[begin:])),
            key=lambda k: (steps[k].loss_low, k == cause.index, k),
            default=cause.index,
        )
    losing = [step for step in steps if step.loss_low > 0]
    worst = max(losing, key=lambda step: (step.loss_low, step.index), default=None)
    return None if worst is None else worst.index
