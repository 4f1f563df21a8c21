"""What the steps of a run lose, in words: per step, and as the one sentence below a bug's headline.

Steps count from 1 in words.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.records.finding import INFINITY
from engine.records.localization import Cause, CauseKind, Localization, LocalizedStep, StepVerdict
from engine.report.words import count_text
from engine.workspace.rows import BugRow

LOSES_GOAL = "loses the goal"
REST_IS_OPTIMAL = "everything after it is optimal"


def loss_words(step: LocalizedStep) -> str:
    """As in "+23", "+5 or more", "+5 to +9", "0 to +4, undecided"; empty for an optimal step."""
    low, high = step.loss_low, step.loss_high
    if step.lost:
        return "-"
    if low == INFINITY:
        return LOSES_GOAL
    if high == 0:
        return ""
    if step.verdict is StepVerdict.UNDECIDED:
        return "undecided" if high == INFINITY else f"{_signed(low)} to {_signed(high)}, undecided"
    if low == high:
        return _signed(low)
    return f"{_signed(low)} or more" if high == INFINITY else f"{_signed(low)} to {_signed(high)}"


def loss_cell(low: int | None, high: int | None) -> str:
    """In a narrow column: "+23", "≥ +5", "lost" (None: without an end), or nothing."""
    if low is None:
        return "lost"
    if low == 0:
        return ""
    return _signed(low) if low == high else f"≥ {_signed(low)}"


def row_loss_cell(row: BugRow) -> str:
    """What the worst step of a bug costs, as far as a table knows it."""
    return "" if row.worst_step is None else loss_cell(row.loss, row.loss_high)


def step_loss_cell(step: LocalizedStep) -> str:
    if step.lost:
        return "-"
    return loss_cell(*(None if end == INFINITY else end for end in (step.loss_low, step.loss_high)))


def describe_losses(found: Localization) -> str:
    """What went wrong on a run, in one sentence: the worst step, and the last bad one."""
    cause = found.cause
    if cause is None:
        return f"{_without_cause(found)}{_undecided(found)}."
    match cause.kind:
        case CauseKind.DETOUR:
            text = _detour(found, cause)
        case CauseKind.DEAD_END:
            earlier = _earlier(found.steps[: cause.index])
            text = f"After step {_named(cause.index, cause.action)} the goal cannot be reached"
            text += f"; {earlier}" if earlier else ""
        case CauseKind.LOOP:
            text = _loop(found, cause)
        case CauseKind.NO_ACTION:
            text = f"{_place(cause)} the policy chooses no action, but the goal can be reached"
        case CauseKind.FAULT:
            text = (
                f"{_place(cause)} the policy gives no action that can be applied, but the goal can "
                "be reached"
            )
    return f"{text}{_undecided(found)}."


def _without_cause(found: Localization) -> str:
    if found.worst_step is not None:  # where the goal is lost is not known
        step = found.steps[found.worst_step]
        return f"Step {_named(step.index, found.worst_action)} {_costs_more(step)}"
    if found.limited:
        return "No step was proven bad within the limits"
    if found.failure is not None and found.failure.first_unsolvable == 0:
        return "The goal cannot be reached from the start"
    return "No step is bad"


def _detour(found: Localization, cause: Cause) -> str:
    assert found.worst_step is not None
    worst, last = found.steps[found.worst_step], found.steps[cause.index]
    bad = [found.steps[number] for number in found.bad_steps]
    decided = all(step.verdict is StepVerdict.OPTIMAL for step in found.steps[cause.index + 1 :])
    rest = f"{REST_IS_OPTIMAL}" if decided else "no later step is proven bad"
    name = _named(worst.index, found.worst_action)
    if len(bad) == 1:
        return f"Step {name} {_costs_more(worst)}; {rest}"
    first = f"Step {name} costs {_amount(worst)} of the {_total(bad)} too much"
    if worst is last:
        return f"{first}; it is the last of {len(bad)} bad steps, {rest}"
    end = f"step {last.index + 1} ({loss_words(last)})"
    return f"{first}; the last of {len(bad)} bad steps is {end}, {rest}"


def _loop(found: Localization, cause: Cause) -> str:
    begin = None if found.failure is None else found.failure.loop_begin
    if begin is None:
        return f"{_place(cause)} the policy does nothing forever"
    worst, repeated = found.steps[found.worst_step or 0], loop_words(begin, len(found.steps))
    if worst.loss_low == 0:
        return f"{repeated}, although each of them is optimal by itself"
    name = _named(worst.index, found.worst_action)
    return f"{repeated}; step {name} leads away from the goal ({loss_words(worst)})"


def loop_words(begin: int, end: int) -> str:
    """The steps of a loop, which goes from index `begin` to the last of `end` steps."""
    if end == begin + 1:
        return f"Step {end} repeats forever"
    return f"Steps {begin + 1} {'and' if end == begin + 2 else 'to'} {end} repeat forever"


def _costs_more(step: LocalizedStep) -> str:
    if step.loses_goal:
        return LOSES_GOAL
    return f"costs {_amount(step)} more than necessary"


def _amount(step: LocalizedStep) -> str:
    if step.loss_low == step.loss_high:
        return f"{step.loss_low:,}"
    if step.loss_high == INFINITY:
        return f"at least {step.loss_low:,}"
    return f"{step.loss_low:,} to {step.loss_high:,}"


def _total(bad: Sequence[LocalizedStep]) -> str:
    """What bad steps cost together; the same as the gap if all are known exactly."""
    exact = all(step.loss_low == step.loss_high for step in bad)
    return f"{'' if exact else 'at least '}{sum(step.loss_low for step in bad):,}"


def _earlier(steps: Sequence[LocalizedStep]) -> str:
    bad = [step for step in steps if step.verdict is StepVerdict.NOT_OPTIMAL]
    if not bad:
        return ""
    verb = "costs" if len(bad) == 1 else "cost"
    return f"{count_text(len(bad), 'step')} before it {verb} {_total(bad)} too much"


def _undecided(found: Localization) -> str:
    number = len(found.undecided_steps)
    verb = "is" if number == 1 else "are"
    return f"; {count_text(number, 'step')} {verb} undecided" if number else ""


def _place(cause: Cause) -> str:
    return f"After step {cause.index}" if cause.index else "At once"


def _named(index: int, action: str) -> str:
    return f"{index + 1} ({action})" if action else str(index + 1)


def _signed(loss: int) -> str:
    return f"+{loss:,}" if loss else "0"
