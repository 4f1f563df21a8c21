"""Claims about the steps of a run: verdicts, bounds of costs-to-go, losses, plans, the root cause.

A localization has to be consistent, which takes no search: the verdicts follow
from the bounds, and the root cause from the verdicts. The bounds themselves are held against
plans that are there, and else against costs-to-go that the verifier finds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.records.evidence import State
from engine.records.finding import INFINITY, EndReason, Finding, RunOutcome
from engine.records.localization import (
    Cause,
    CauseKind,
    Failure,
    Localization,
    LocalizedStep,
    StepVerdict,
)
from engine.records.verification import HOLDS, Standing, Verdict, false, undecided
from engine.task.task import Task
from engine.verify.cost_to_go import CostToGo
from engine.verify.losses import find_loss_problems, plus
from engine.verify.optimality import check_at_least, check_at_most
from engine.verify.replay import cost_of, replay
from engine.verify.semantics import is_goal

Bounds = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Path:
    """A run as localization sees it: the step that closes a loop is one of its steps."""

    states: tuple[State, ...]
    operators: tuple[int, ...]
    costs: tuple[int, ...]
    loop_begin: int | None

    @classmethod
    def of(cls, finding: Finding, task: Task) -> Path | str:
        run = finding.run
        closes = run.reason is EndReason.LOOP and run.last_decision >= 0
        operators = (*run.operators, run.last_decision) if closes else run.operators
        states = replay(finding.state, operators, task)
        if isinstance(states, str):
            return states
        begin = states.index(states[-1]) if closes else None
        return cls(
            tuple(states),
            tuple(operators),
            tuple(task.operators[number].cost for number in operators),
            begin,
        )


def check_localization(
    finding: Finding, found: Localization, task: Task, costs: CostToGo
) -> Verdict:
    """Check the claims about the steps of a run."""
    path = Path.of(finding, task)
    if isinstance(path, str):
        return false(f"the run cannot be replayed: {path}")
    if tuple(step.operator for step in found.steps) != path.operators:
        return false("its steps do not match the run")
    bounds = _bounds(found.steps, path, task)
    if problem := next(_mismatches(finding, found, path, bounds, task), ""):
        return false(problem)
    proven = _plan_costs(finding, found, path, task)
    return _worst(_truths(found, path, bounds, proven, costs))


def check_cause(finding: Finding, found: Localization, task: Task) -> Verdict:
    """Check that the root cause follows from the claims about the steps."""
    path = Path.of(finding, task)
    if isinstance(path, str):
        return false(f"the run cannot be replayed: {path}")
    if len(found.steps) != len(path.operators):
        return false("the steps do not match the run")
    if found.failure is not None and (problem := _place_problem(found.failure, path)):
        return false(problem)
    expected = _cause(finding, found, path, task)
    if found.cause == expected:
        return HOLDS
    said, follows = (_cause_text(cause) for cause in (found.cause, expected))
    if said == follows:
        return false("the stored root cause has another state than that of its step")
    return false(f"the stored root cause is {said}, but {follows} follows from its steps")


def _cause_text(cause: Cause | None) -> str:
    if cause is None:
        return "none"
    action = f" ({cause.action})" if cause.action else ""
    return f"a {cause.kind} in step {cause.index + 1}{action}"


def _bounds(steps: Sequence[LocalizedStep], path: Path, task: Task) -> list[Bounds]:
    """Return the claimed bounds of h* of each state; that of the last follows from its step."""
    found = [(step.optimal_low, step.optimal_high) for step in steps]
    if path.loop_begin is not None:
        return [*found, found[path.loop_begin]]
    if is_goal(task, path.states[-1]):
        return [*found, (0, 0)]
    if not steps:
        return [*found, (0, INFINITY)]
    last = steps[-1]
    return [
        *found,
        (_minus(last.after_low, path.costs[-1]), _minus(last.after_high, path.costs[-1])),
    ]


def _minus(bound: int, cost: int) -> int:
    return bound if bound == INFINITY else bound - cost


def _mismatches(
    finding: Finding, found: Localization, path: Path, bounds: Sequence[Bounds], task: Task
) -> Iterator[str]:
    """Return contradictions that do not depend on costs-to-go."""
    for step in found.steps:
        for problem in _step_mismatches(finding, step, path, bounds, task):
            yield f"step {step.index + 1}: {problem}"
    if found.failure is not None and (problem := _place_problem(found.failure, path)):
        yield problem
    solved = finding.run.outcome is RunOutcome.SOLVED
    yield from find_loss_problems(found, bounds, path.costs, solved, task)
    yield from _better_plan_mismatches(finding, found, path, bounds, task)
    if (found.failure is None) != (finding.run.outcome is RunOutcome.SOLVED):
        yield "it does not say correctly whether the run reaches the goal"
    if found.failure is not None:
        yield from _failure_mismatches(found.failure, path, bounds, task)
    if found.naive_searches != len(set(path.states)):
        yield f"{len(set(path.states))} searches would be needed, not {found.naive_searches}"
    settled = all(high < INFINITY or low == INFINITY for low, high in bounds)
    if found.steps and found.limited != (bool(found.undecided_steps) or not settled):
        yield "it does not say correctly whether a limit was reached"


def _better_plan_mismatches(
    finding: Finding, found: Localization, path: Path, bounds: Sequence[Bounds], task: Task
) -> Iterator[str]:
    plan, high = found.better_plan, bounds[0][1]
    if found.steps:  # or else no step says anything about the only state
        cost = finding.run.cost if finding.run.outcome is RunOutcome.SOLVED else None
        expected = high < (INFINITY if cost is None else cost)
        if (plan is not None) != expected:
            yield "a plan better than the run is missing" if expected else "no plan can be better"
            return
    if plan is not None:
        yield from _plan_problems(path.states[0], plan, high if found.steps else None, task)


def _step_mismatches(
    finding: Finding, step: LocalizedStep, path: Path, bounds: Sequence[Bounds], task: Task
) -> Iterator[str]:
    k, cost = step.index, path.costs[step.index]
    left = None
    if finding.run.outcome is RunOutcome.SOLVED and finding.run.cost is not None:
        left = finding.run.cost - sum(path.costs[:k])
    if step.policy_cost_to_go != left:
        yield f"the rest of the policy's run does not cost {step.policy_cost_to_go}"
    if not 0 <= step.optimal_low <= step.optimal_high:
        yield f"its bounds {step.optimal_low} and {step.optimal_high} are impossible"
    low, high = bounds[k + 1]
    if (step.after_low, step.after_high) != (plus(low, cost), plus(high, cost)):
        yield "its bounds after the step differ from those of the next state"
    verdict = _verdict(step)
    if verdict is not StepVerdict.UNDECIDED and step.verdict is not verdict:
        yield f"it is called {step.verdict}, but by its costs it is {verdict}"
    plan, needs_plan = step.better_plan, step.optimal_high < step.after_low
    if (plan is not None) != needs_plan:
        yield "a better plan is missing" if plan is None else "it has a better plan, but needs none"
    elif step.better_operator != (plan[0] if plan else None):
        yield "the better plan does not begin with the better action"
    elif plan is not None:
        yield from _plan_problems(path.states[k], plan, step.optimal_high, task)


def _verdict(step: LocalizedStep) -> StepVerdict:
    """What the costs of a step say by themselves."""
    if step.optimal_low == INFINITY:
        return StepVerdict.OPTIMAL  # nothing is better: the goal is lost
    if step.optimal_high < step.after_low:
        return StepVerdict.NOT_OPTIMAL
    optimal = step.after_high <= step.optimal_low
    return StepVerdict.OPTIMAL if optimal else StepVerdict.UNDECIDED


def _plan_problems(
    state: State, plan: Sequence[int], cost: int | None, task: Task
) -> Iterator[str]:
    """Why a plan does not reach the goal, or not at its cost."""
    states = replay(state, plan, task)
    if isinstance(states, str):
        yield f"the plan cannot be executed: {states}"
    elif not is_goal(task, states[-1]):
        yield "the plan does not reach the goal"
    elif cost is not None and cost_of(plan, task) != cost:
        yield f"the plan costs {cost_of(plan, task)}, not {cost}"


def _place_problem(failure: Failure, path: Path) -> str:
    """Why a run has no such places."""
    if failure.loop_begin != path.loop_begin:
        return "the loop begins at another step"
    if max(failure.last_solvable or 0, failure.first_unsolvable or 0) >= len(path.states):
        return "the step that loses the goal is beyond the end of the run"
    return ""


def _failure_mismatches(
    failure: Failure, path: Path, bounds: Sequence[Bounds], task: Task
) -> Iterator[str]:
    last, first = failure.last_solvable, failure.first_unsolvable
    if path.operators:  # or else no step says anything about the only state
        solvable = [k for k, (_, high) in enumerate(bounds) if high < INFINITY]
        lost = [k for k, (low, _) in enumerate(bounds) if low == INFINITY]
        if (last, first) != (max(solvable, default=None), min(lost, default=None)):
            yield "the step that loses the goal does not follow from the costs"
            return
    if (failure.plan is None) != (last is None):
        yield "the plan from the last solvable state is missing"
    elif last is not None and failure.plan is not None:
        yield from _plan_problems(path.states[last], failure.plan, None, task)


def _truths(
    found: Localization,
    path: Path,
    bounds: Sequence[Bounds],
    proven: Sequence[int],
    costs: CostToGo,
) -> Iterator[Verdict]:
    """Check, one by one, the bounds and verdicts that plans do not prove."""
    for k, (low, high) in enumerate(bounds):
        state, where = path.states[k], f"state {k} of the run"
        yield _at(where, check_at_least(costs, state, low))
        if high < proven[k]:
            yield _at(where, check_at_most(costs, state, high))
    if found.failure is not None and found.failure.first_unsolvable is not None:
        state = path.states[found.failure.first_unsolvable]
        yield _at("the unsolvable state", check_at_least(costs, state, INFINITY))
    for step in found.steps:
        if _verdict(step) is StepVerdict.UNDECIDED and step.verdict is not StepVerdict.UNDECIDED:
            yield _at(f"step {step.index + 1}", _check_verdict(step, path, costs))


def _plan_costs(finding: Finding, found: Localization, path: Path, task: Task) -> list[int]:
    """What the goal costs at most from each state, by the plans that are there."""
    costs = [INFINITY] * len(path.states)
    if is_goal(task, path.states[-1]):
        costs[-1] = 0
    if found.failure is not None and found.failure.plan is not None:
        assert found.failure.last_solvable is not None
        costs[found.failure.last_solvable] = cost_of(found.failure.plan, task)
    for step in found.steps:
        if step.better_plan is not None:
            costs[step.index] = min(costs[step.index], step.optimal_high)
    if found.better_plan is not None:
        costs[0] = cost_of(found.better_plan, task)
    if finding.evidence.is_plan:
        costs[0] = min(costs[0], finding.bound)
    for k in reversed(range(len(path.operators))):
        costs[k] = min(costs[k], plus(costs[k + 1], path.costs[k]))
    return costs


def _check_verdict(step: LocalizedStep, path: Path, costs: CostToGo) -> Verdict:
    """A verdict that bounds do not prove: AOCA* compares both costs without finding them."""
    before, after = path.states[step.index], path.states[step.index + 1]
    low, high = costs.low(before), costs.high(before)
    after_low = plus(costs.low(after), path.costs[step.index])
    after_high = plus(costs.high(after), path.costs[step.index])
    if low == INFINITY or after_high <= low:
        verdict = StepVerdict.OPTIMAL
    elif high < after_low:
        verdict = StepVerdict.NOT_OPTIMAL
    else:
        return undecided(costs.too_many)
    return HOLDS if verdict is step.verdict else false(f"it is {verdict}, not {step.verdict}")


def _at(where: str, verdict: Verdict) -> Verdict:
    return verdict if verdict == HOLDS else Verdict(verdict.standing, f"{where}: {verdict.reason}")


def _worst(verdicts: Iterator[Verdict]) -> Verdict:
    doubt = HOLDS
    for verdict in verdicts:
        if verdict.standing is Standing.FALSE:
            return verdict
        if doubt == HOLDS:
            doubt = verdict
    return doubt


def _cause(finding: Finding, found: Localization, path: Path, task: Task) -> Cause | None:
    """The root cause that follows from the verdicts; see docs/theory/localization.md."""
    place = _cause_place(finding, found, path)
    if place is None:
        return None
    kind, index, operator = place
    action = "" if operator is None else task.operators[operator].name
    return Cause(kind, index, path.states[index], operator, action)


def _cause_place(
    finding: Finding, found: Localization, path: Path
) -> tuple[CauseKind, int, int | None] | None:
    run, failure = finding.run, found.failure
    bad = [step for step in found.steps if step.verdict is StepVerdict.NOT_OPTIMAL]
    detour = (CauseKind.DETOUR, bad[-1].index, bad[-1].operator) if bad else None
    if failure is None:
        return detour
    last, end = failure.last_solvable, len(run.operators)
    if failure.first_unsolvable is not None:
        is_next = last is not None and last + 1 == failure.first_unsolvable
        return (CauseKind.DEAD_END, last or 0, path.operators[last or 0]) if is_next else None
    if run.outcome is RunOutcome.ABORTED and detour is not None:
        return detour
    if last is None or last < end or run.reason is EndReason.STEP_LIMIT:
        return None
    if run.reason is EndReason.LOOP and failure.loop_begin is not None:
        loop = found.steps[failure.loop_begin :]
        worst = [step for step in loop if step in bad] or loop
        chosen = min(worst, key=lambda step: path.states[step.index])
        return CauseKind.LOOP, chosen.index, chosen.operator
    kinds = {EndReason.LOOP: CauseKind.LOOP, EndReason.NO_ACTION: CauseKind.NO_ACTION}
    return kinds.get(run.reason, CauseKind.FAULT), end, None
