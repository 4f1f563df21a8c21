"""How much each step of a run loses, where the goal is lost, and the root cause.

loss(i) = c(a_i) + h*(s_{i+1}) - h*(s_i), never negative. What is known of both costs bounds it; on
a run that reaches the goal all losses together are the gap, so what other steps are proven to lose
this one cannot lose. See docs/theory/localization.md, "Loss of a step".

On a run that does not reach the goal, the last state from which it could be reached is found by
bisection, because the goal stays out of reach once it is, and the step from there loses it. A run
that loses nothing fails by itself: it runs in a loop, gives up, or cannot be executed. That no plan
exists is only said where a search has looked at everything. See "Failing runs" there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import structs

from engine.localize.cost_bounds import CostBounds
from engine.policies.runs import PolicyRun
from engine.records.finding import INFINITY, EndReason, RunOutcome
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


def settle_solvability(
    states: Sequence[int], knows: Callable[[int], bool], bounds: CostBounds
) -> None:
    """Find out from which states of a path there are plans, as far as `knows` can tell.

    The last state comes first: if there is a plan from it, there is one from all of them.
    """
    if knows(states[-1]) and bounds.high(states[-1]) != INFINITY:
        return
    _bisect(states, lambda state: knows(state) and bounds.high(state) == INFINITY)
    # If nothing was too hard, this asks only about states that are settled by now.
    _bisect(states, lambda state: not (knows(state) and bounds.high(state) != INFINITY))


def _bisect(states: Sequence[int], is_beyond: Callable[[int], bool]) -> None:
    """Ask where the states begin that are beyond; what is asked for is remembered by others."""
    begin, end = 0, len(states)
    while begin < end:
        middle = (begin + end) // 2
        if is_beyond(states[middle]):
            end = middle
        else:
            begin = middle + 1


def failure_of(states: Sequence[int], loop_begin: int | None, bounds: CostBounds) -> Failure:
    solvable = [k for k, state in enumerate(states) if bounds.high(state) != INFINITY]
    lost = [k for k, state in enumerate(states) if bounds.low(state) == INFINITY]
    last = max(solvable, default=None)
    return Failure(
        last_solvable=last,
        first_unsolvable=min(lost, default=None),
        plan=None if last is None else bounds.plan(states[last]),
        loop_begin=loop_begin,
    )


def cause_of(
    run: PolicyRun, steps: Sequence[LocalizedStep], failure: Failure | None, bounds: CostBounds
) -> Cause | None:
    """The root cause, or None if no step is proven to be bad."""
    if failure is None:
        return _last_bad_step(run, steps, bounds)
    if failure.first_unsolvable is not None:
        return _lost_goal(run, failure, bounds)
    if run.outcome is RunOutcome.ABORTED and (cause := _last_bad_step(run, steps, bounds)):
        return cause
    end = len(run.states) - 1
    solvable = failure.last_solvable is not None and failure.last_solvable >= end
    if not solvable or run.reason is EndReason.STEP_LIMIT:
        return None
    if run.reason is EndReason.LOOP:
        return _step_of_loop(run, steps, failure, bounds)
    kind = CauseKind.NO_ACTION if run.reason is EndReason.NO_ACTION else CauseKind.FAULT
    return _cause(kind, run, end, None, bounds)


def _lost_goal(run: PolicyRun, failure: Failure, bounds: CostBounds) -> Cause | None:
    """The step from the last state with a plan to the first one without."""
    index = failure.last_solvable
    if index is None or failure.first_unsolvable != index + 1:
        return None
    return _cause(CauseKind.DEAD_END, run, index, run.operators[index], bounds)


def _last_bad_step(
    run: PolicyRun, steps: Sequence[LocalizedStep], bounds: CostBounds
) -> Cause | None:
    bad = [step for step in steps if step.verdict is StepVerdict.NOT_OPTIMAL]
    if not bad:
        return None
    return _cause(CauseKind.DETOUR, run, bad[-1].index, bad[-1].operator, bounds)


def _step_of_loop(
    run: PolicyRun, steps: Sequence[LocalizedStep], failure: Failure, bounds: CostBounds
) -> Cause:
    """One step that all runs into this loop agree on, wherever they enter it."""
    end = len(run.states) - 1
    if failure.loop_begin is None:  # an action that changes nothing, for which there is no operator
        return _cause(CauseKind.LOOP, run, end, None, bounds)
    loop = steps[failure.loop_begin :]
    bad = [step for step in loop if step.verdict is StepVerdict.NOT_OPTIMAL]
    chosen = min(bad or loop, key=lambda step: _values(run, step.index, bounds))
    return _cause(CauseKind.LOOP, run, chosen.index, chosen.operator, bounds)


def _cause(
    kind: CauseKind, run: PolicyRun, index: int, operator: int | None, bounds: CostBounds
) -> Cause:
    action = "" if operator is None else bounds.table.task.operators[operator].name
    return Cause(kind, index, _values(run, index, bounds), operator, action)


def _values(run: PolicyRun, index: int, bounds: CostBounds) -> tuple[int, ...]:
    return tuple(bounds.table.values([run.states[index]])[0].tolist())
