"""Where a run that does not reach the goal could still have reached it, and its root cause.

Once the goal is out of reach it stays so. The last state from which it could be reached is
therefore found by bisection, and the step from there is what loses it. A run that loses nothing
fails by itself: it runs in a loop, gives up, or cannot be executed. That there is no plan is only
said where a search has looked at everything. See docs/theory/localization.md, "Failing runs".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.localize.cost_bounds import CostBounds
from engine.policies.runs import PolicyRun
from engine.records.finding import INFINITY, EndReason, RunOutcome
from engine.records.localization import Cause, CauseKind, Failure, LocalizedStep, StepVerdict


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
