"""Bugs, their evidence and their localization in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import structs

from engine.records.evidence import Morph, State, Walk
from engine.records.finding import INFINITY, BugKind, EndReason
from engine.records.localization import CauseKind, Failure, Localization, LocalizedStep, StepVerdict
from engine.report.trace import Ending, Trace
from engine.report.words import count_text
from engine.task.atoms import format_atom, format_fact, state_atoms
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


def tested_text(counts: StateCounts) -> str:
    """What campaigns that found no bug have shown."""
    rest = counts.tested - counts.optimal
    return (
        f"{count_text(counts.tested, 'state')} tested. The policy is proven optimal in "
        f"{counts.optimal}; in {rest}, no oracle refuted it. Test more states or use other oracles "
        "to look further."
    )


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


def document(task: Task, found: Localization) -> dict[str, Any]:
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
    return {**structs.asdict(failure), "plan": names}


def _step(task: Task, step: LocalizedStep) -> dict[str, Any]:
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


def text(task: Task, found: Localization) -> str:
    width = max((len(_name(task, step.operator)) for step in found.steps), default=0)
    lines = [f"{s.index:>4}  {_name(task, s.operator):<{width}}  {_words(s)}" for s in found.steps]
    lines.append(_cause(found))
    lines.append(
        f"{found.searches} searches (one per state: {found.naive_searches}), "
        f"{found.expanded:,} states expanded, {found.seconds:.2f} s"
    )
    return "\n".join(lines)


def _words(step: LocalizedStep) -> str:
    if step.lost:
        return "the goal is unreachable"
    if step.verdict is StepVerdict.NOT_OPTIMAL:
        before = _costs(step.optimal_low, step.optimal_high)
        if step.after_low == INFINITY:
            return f"BAD: makes the goal unreachable; cost-to-go before: {before}"
        return f"BAD: should be {before}, is {_costs(step.after_low, step.after_high)}"
    if step.verdict is StepVerdict.OPTIMAL:
        return f"optimal, {_costs(step.optimal_low, step.optimal_high)} to go"
    return f"undecided, {_costs(step.optimal_low, step.optimal_high)} to go"


def _costs(low: int, high: int) -> str:
    if low == high:
        return str(low)
    return f"{low} or more" if high == INFINITY else f"{low} to {high}"


_CAUSE_REASONS = {
    CauseKind.DETOUR: "it costs more than necessary",
    CauseKind.DEAD_END: "it makes the goal unreachable",
    CauseKind.LOOP: "the policy loops although the goal is reachable",
    CauseKind.NO_ACTION: "the policy chooses no action although the goal is reachable",
    CauseKind.FAULT: "the policy chooses an inapplicable action",
}


def _cause(found: Localization) -> str:
    cause = found.cause
    if cause is not None:
        action = f" ({cause.action})" if cause.action else ""
        return f"root cause: step {cause.index}{action}: {_CAUSE_REASONS[cause.kind]}"
    if found.limited:
        return "undecided within the limits"
    if found.failure is not None and found.failure.first_unsolvable == 0:
        return "the goal is unreachable from the start"
    return "no step is bad"


def _name(task: Task, operator: int) -> str:
    return f"({task.operators[operator].name})"


def _finite(bound: int) -> int | None:
    return None if bound == INFINITY else bound


def kind_text(kind: BugKind) -> str:
    return KIND_WORDS[kind]


def headline(row: BugRow) -> str:
    """The bug in one line."""
    if row.kind is BugKind.FAILS:
        return f"fails; {row.bound} suffices"
    least = "at least " if row.kind is BugKind.STOPPED else ""
    return f"costs {least}{row.policy_cost}; {row.bound} suffices"


_OUTCOME_TEXT = {
    Ending.INAPPLICABLE: "the policy chooses an inapplicable action",
    Ending.POLICY_ERROR: "the policy raises an error",
}


def ending_text(trace: Trace) -> str:
    """How a run or a plan ends."""
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


def cost_to_go(low: int, high: int) -> str:
    """Describe an interval."""
    if low == INFINITY:
        return "unreachable"
    if low == high:
        return str(low)
    return f"at least {low}" if high == INFINITY else f"{low} to {high}"


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
    if step.after_low == INFINITY:
        return f"loses the goal, cost-to-go {should}"
    if step.after_low == step.after_high:
        return f"cost-to-go {step.after_low}, {should}"
    return f"cost-to-go at least {step.after_low}, {should}"


def _at_most(step: LocalizedStep) -> str:
    exact = step.optimal_low == step.optimal_high
    return str(step.optimal_high) if exact else f"at most {step.optimal_high}"


def why_bad(step: LocalizedStep, state: State, task: Task) -> list[str]:
    """Explain what is wrong with a bad step, and what to do instead."""
    operator = task.operators[step.operator]
    number, action = step.index + 1, f"({operator.name})"
    if step.after_low == INFINITY:
        first = (
            f"Step {number} {action} loses the goal: no plan exists after it, but a plan of cost "
            f"{step.optimal_high} existed before it."
        )
    else:
        after = "" if step.after_low == step.after_high else "at least "
        more = "" if step.loss_is_exact else "at least "
        first = (
            f"Step {number} {action} costs {more}{step.loss} more than necessary: with it the "
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
    CauseKind.LOOP: "part of an endless loop",
    CauseKind.NO_ACTION: "the policy chooses no action",
    CauseKind.FAULT: "an inapplicable action",
}


def cause_text(localization: Localization) -> str:
    """Describe the result of localization in one line."""
    bad, open_steps = len(localization.bad_steps), len(localization.undecided_steps)
    left = f"; {open_steps} undecided within the limits" if open_steps else ""
    cause = localization.cause
    if cause is None:
        return f"No step was proven bad{left}."
    which = f"step {cause.index + 1}"
    others = f"; {bad} bad steps in total" if bad > 1 else ""
    return f"Root cause: {which}, {_CAUSES[cause.kind]}{others}{left}."
