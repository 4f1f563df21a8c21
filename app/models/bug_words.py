"""What is known about a bug, in sentences.

How the policy's run ends, and what is wrong with a step that localisation has looked at. The
proof itself is told by `engine/campaign/explanation.py`.
"""

from __future__ import annotations

from app.models.trace import Ending, Trace
from engine.campaign.bug_filter import KIND_WORDS
from engine.campaign.rows import BugRow
from engine.localize.localisation import CauseKind, Localisation, StepVerdict, Verdict
from engine.native.library import INFINITY
from engine.oracles.evidence import State
from engine.oracles.objective import BugKind
from engine.task.atoms import format_fact
from engine.task.task import Task

FAILS = BugKind.QUALITATIVE.value


def kind_words(kind: str) -> str:
    return KIND_WORDS.get(kind, kind)


def headline(row: BugRow) -> str:
    """The bug in one line."""
    if row.kind == FAILS:
        return f"the policy fails; a plan of cost {row.bound} exists"
    least = "at least " if row.kind == BugKind.UNCLASSIFIED.value else ""
    return f"the policy pays {least}{row.policy_cost}; {row.bound} is enough"


_ENDINGS = {
    Ending.INAPPLICABLE: "the policy chooses an action that is not applicable",
    Ending.POLICY_ERROR: "the policy ends with an error",
}


def ending_words(trace: Trace) -> str:
    """How a run or a plan ends."""
    if trace.ending is Ending.LOOP:
        return _loop_words(trace)
    if trace.ending is Ending.NO_ACTION:
        stuck, gives_up = "dead end: no action is applicable", "the policy chooses no action"
        return stuck if trace.stuck else gives_up
    if trace.ending is Ending.BOUND:
        more = " more" if trace.steps else ""
        return f"at most {trace.rest}{more}, no plan known"
    steps = f"{len(trace.steps)} steps" if len(trace.steps) != 1 else "1 step"
    if trace.ending is Ending.GOAL:
        return f"goal reached, {steps}"
    stopped = f"stopped after {steps} and a cost of {trace.cost} without the goal"
    return _ENDINGS.get(trace.ending, stopped)


def _loop_words(trace: Trace) -> str:
    assert trace.loop_begin is not None
    if trace.loop_begin == len(trace.steps):
        return "loop: does nothing, for ever"
    return f"loop: back to step {trace.loop_begin + 1}, for ever"


def cost_to_go(low: int, high: int) -> str:
    """An interval in words."""
    if low == INFINITY:
        return "out of reach"
    if low == high:
        return str(low)
    return f"at least {low}" if high == INFINITY else f"{low} to {high}"


def verdict_words(step: StepVerdict) -> str:
    """A step's verdict in a few words, as in "cost-to-go 9, should be 7"."""
    if step.verdict is Verdict.UNDECIDED:
        return "not decided within the limits"
    if step.lost:
        return "the goal is out of reach already"
    if step.verdict is Verdict.OPTIMAL:
        known = step.optimal_cost_to_go
        return "optimal" if known is None else f"optimal: cost-to-go {known}"
    should = f"should be {_at_most(step)}"
    if step.after_low == INFINITY:
        return f"loses the goal, cost-to-go {should}"
    if step.after_low == step.after_high:
        return f"cost-to-go {step.after_low}, {should}"
    return f"cost-to-go at least {step.after_low}, {should}"


def _at_most(step: StepVerdict) -> str:
    exact = step.optimal_low == step.optimal_high
    return str(step.optimal_high) if exact else f"at most {step.optimal_high}"


def why_bad(step: StepVerdict, state: State, task: Task) -> list[str]:
    """What is wrong with a step that is not optimal, and what to do instead."""
    operator = task.operators[step.operator]
    number, action = step.index + 1, f"({operator.name})"
    if step.after_low == INFINITY:
        first = (
            f"Step {number}, {action}, loses the goal: after it no plan exists, "
            f"before it one of cost {step.optimal_high} did."
        )
    else:
        after = "" if step.after_low == step.after_high else "at least "
        more = "" if step.loss_is_exact else "at least "
        first = (
            f"Step {number}, {action}, costs {more}{step.loss} more than necessary: with it the "
            f"goal costs {after}{step.after_low}, without it {_at_most(step)}."
        )
    sentences = [first]
    if step.better_operator is not None:
        better = task.operators[step.better_operator]
        length = "" if step.better_plan is None else f", {len(step.better_plan)} actions in all"
        sentences.append(
            f"Better: ({better.name}), which begins a plan of cost {step.optimal_high}{length}."
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
    return {
        format_fact(task.variables[variable].values[value])
        for variable, value in task.operators[number].effect
        if state[variable] != value and task.fact_atoms[variable][value] is not None
    }


def _listed(facts: set[str]) -> str:
    shown = sorted(facts)[:4]
    if not shown:
        return "nothing new"
    more = f" and {len(facts) - 4} more" if len(facts) > 4 else ""
    return ", ".join(shown) + more


_CAUSES = {
    CauseKind.DETOUR: "a detour",
    CauseKind.DEAD_END: "a step into a dead end",
    CauseKind.LOOP: "a loop that the policy never leaves",
    CauseKind.NO_ACTION: "the policy gives up",
    CauseKind.FAULT: "an answer that cannot be executed",
}


def cause_words(localisation: Localisation) -> str:
    """What localisation has found, in one line."""
    bad, open_steps = len(localisation.bad_steps), len(localisation.undecided_steps)
    left = f"; {open_steps} not decided within the limits" if open_steps else ""
    cause = localisation.cause
    if cause is None:
        return f"No step is proven to be bad{left}."
    which = f"step {cause.index + 1}"
    others = f"; {bad} bad steps in all" if bad > 1 else ""
    return f"To blame: {which}, {_CAUSES[cause.kind]}{others}{left}."
