"""Is an action optimal in a state? Every algorithm of Eisenhut et al. 2025 behind one function.

AOCA* asks the open list only where the state is known to have a plan. Unless the caller knows, a
short greedy search looks for one first; its cost also spares AOCA* all nodes above it.
See docs/theory/localization.md, "Action optimality".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from engine.dominance.cache import dominance_function
from engine.dominance.compute import DEFAULT_LIMITS
from engine.dominance.function import NO_SUM, DominanceFunction
from engine.errors import CancelledError, UsageError
from engine.localize.action_question import (
    ActionQuestion,
    ActionVerdict,
    DecidedBy,
    Decision,
    Knowledge,
    Reason,
    UndecidedError,
)
from engine.localize.parallel_searches import pms_bc, pms_lama
from engine.localize.question_searches import QuestionSearches, demand_end
from engine.localize.sequential_searches import sms, sms_bc, sms_rev
from engine.native.control import Control
from engine.native.library import Int64Array, Outcome
from engine.records.config import Factorization
from engine.records.finding import INFINITY
from engine.records.localization import StepVerdict
from engine.search.aoca_star import admissible_kernel, aoca_star
from engine.search.forward import NO_LIMITS, SearchLimits, search
from engine.task.successors import applicable_operators, is_applicable, is_goal, successor
from engine.task.task import Task

__all__ = ["ALGORITHMS", "ActionVerdict", "DecidedBy", "Reason", "StepVerdict", "check_action"]

Algorithm: TypeAlias = Callable[[ActionQuestion, Knowledge, QuestionSearches], Decision]

QUICK_EXPANSIONS = 1000
"""Of the greedy search for some plan; AOCA* can do without one."""


def check_action(
    task: Task,
    state: Sequence[int],
    operator: int,
    algorithm: str = "aoca",
    heuristic: str | Int64Array = "lmcut",
    *,
    solvable: bool = False,
    plan_cost: int | None = None,
    dominance: DominanceFunction | None = None,
    limits: SearchLimits = NO_LIMITS,
    control: Control | None = None,
    greedy: bool = True,
) -> ActionVerdict:
    """Decide whether an operator is optimal in a state in which it is applicable.

    `solvable` says that the state is known to have a plan, `plan_cost` what a known one costs; if
    neither is known, nothing is taken for granted. With a dominance function its criteria come
    first. A limit or a cancelled `control` gives UNDECIDED, never a claim. Without `greedy`, AOCA*
    is that of the paper, with no search for some plan before it.
    """
    question = _question(task, state, operator, solvable, plan_cost)
    if algorithm not in ALGORITHMS:
        known_names = ", ".join(ALGORITHMS)
        raise UsageError(f"unknown algorithm '{algorithm}'", hint=f"choose one of {known_names}")
    admissible_kernel(heuristic, task)
    control = control or Control()
    searches = QuestionSearches(task, heuristic, limits, control)
    known = Knowledge.of(question)
    decision, reason = None, None
    try:
        if algorithm == "dominance" and dominance is None:
            dominance = _default_dominance(task, searches)
        decision = _decide(question, known, searches, algorithm, dominance, greedy=greedy)
        known.add_verdict(decision.verdict)
    except UndecidedError as undecided:
        reason = undecided.reason
    if plan_cost is not None and known.optimal_low > plan_cost:
        raise UsageError(
            f"no plan from the state costs {plan_cost} or less", hint="give the cost of a plan"
        )
    return ActionVerdict(
        verdict=StepVerdict.UNDECIDED if decision is None else decision.verdict,
        decided_by=None if decision is None else decision.decided_by,
        reason=reason,
        optimal_low=known.optimal_low,
        optimal_high=known.optimal_high,
        after_low=known.after_low,
        after_high=known.after_high,
        plan=None if decision is None else decision.plan,
        expanded=searches.expanded,
        evaluated=searches.evaluated,
        seconds=searches.seconds,
        peak_bytes=searches.peak_bytes,
    )


def _question(
    task: Task, state: Sequence[int], operator: int, solvable: bool, plan_cost: int | None
) -> ActionQuestion:
    start = tuple(int(value) for value in state)
    if len(start) != len(task.variables):
        raise UsageError(f"the task has {len(task.variables)} variables, the state {len(start)}")
    for variable, (value, size) in enumerate(zip(start, task.domain_sizes, strict=True)):
        if not 0 <= value < size:
            raise UsageError(f"variable {variable} has {size} values; {value} is too large")
    start = task.extend(start)
    question = ActionQuestion(task, start, operator, solvable, plan_cost)
    if not is_applicable(question.action, start):
        raise UsageError(f"({question.action.name}) is not applicable in the state")
    if is_goal(task, start):
        raise UsageError("the state is a goal state", hint="ask about a state before the goal")
    return question


def _decide(
    question: ActionQuestion,
    known: Knowledge,
    searches: QuestionSearches,
    algorithm: str,
    dominance: DominanceFunction | None,
    *,
    greedy: bool,
) -> Decision:
    if not known.solvable and (dominance is not None or (greedy and algorithm == "aoca")):
        _look_for_plan(question, known, searches, thorough=algorithm == "dominance")
    if known.solvable and question.successor == question.state:
        verdict = StepVerdict.NOT_OPTIMAL if question.action.cost else StepVerdict.OPTIMAL
        return Decision(verdict, DecidedBy.SELF_LOOP)
    if known.solvable and dominance is not None:
        decision = decide_by_dominance(question, dominance)
        if decision is not None:
            return decision
    return ALGORITHMS[algorithm](question, known, searches)


def _look_for_plan(
    question: ActionQuestion, known: Knowledge, searches: QuestionSearches, thorough: bool
) -> None:
    """Greedy best-first search with h_FF, which also finds out if there is none."""
    limits = searches.remaining()
    if not thorough:
        most = QUICK_EXPANSIONS
        most = most if limits.expansions is None else min(most, limits.expansions)
        limits = replace(limits, expansions=most)
    result = search(
        question.task,
        "gbfs",
        "ff",
        state=question.state,
        limits=limits,
        control=searches.control,
    )
    searches.count(result)
    if result.cost is not None:
        known.add_optimal(0, result.cost)
    elif result.outcome is Outcome.UNSOLVABLE:
        known.add_optimal(INFINITY)
        raise UndecidedError(Reason.UNSOLVABLE)
    elif thorough or result.outcome is not Outcome.EXPANSION_LIMIT:
        demand_end(result.outcome)


def _aoca(question: ActionQuestion, known: Knowledge, searches: QuestionSearches) -> Decision:
    result = aoca_star(
        question.task,
        question.state,
        question.operator,
        searches.heuristic,
        solvable=known.solvable,
        plan_cost=None if known.optimal_high == INFINITY else known.optimal_high,
        limits=searches.remaining(),
        control=searches.control,
    )
    searches.count(result)
    known.add_optimal(result.lower_bound, INFINITY if result.cost is None else result.cost)
    demand_end(result.outcome)
    if result.outcome is Outcome.UNSOLVABLE:
        raise UndecidedError(Reason.UNSOLVABLE)
    decided_by = DecidedBy.OPEN_LIST if result.plan is None else DecidedBy.GOAL
    optimal = result.outcome is Outcome.ACTION_OPTIMAL
    verdict = StepVerdict.OPTIMAL if optimal else StepVerdict.NOT_OPTIMAL
    return Decision(verdict, decided_by, result.plan)


def _nothing_more(
    _question: ActionQuestion, _known: Knowledge, _searches: QuestionSearches
) -> Decision:
    """Dominance alone: its criteria have been tried."""
    raise UndecidedError(Reason.NO_CRITERION)


def _default_dominance(task: Task, searches: QuestionSearches) -> DominanceFunction:
    limits = replace(DEFAULT_LIMITS, seconds=searches.remaining().seconds)
    factors = Factorization.parse("atomic")
    try:
        return dominance_function(task, factors, limits=limits, control=searches.control)
    except CancelledError:
        raise UndecidedError(Reason.CANCELLED) from None


ALGORITHMS: dict[str, Algorithm] = {
    "aoca": _aoca,
    "sms": sms,
    "sms-rev": sms_rev,
    "sms-bc": sms_bc,
    "pms-bc": pms_bc,
    "pms-lama": pms_lama,
    "dominance": _nothing_more,
}


def decide_by_dominance(question: ActionQuestion, dominance: DominanceFunction) -> Decision | None:
    """Return the decision of the first dominance criterion that applies, without a search.

    The state must have a plan. D(s, t) is by how much t is better than s.
    See docs/theory/localization.md, "Dominance criteria".
    """
    if dominance.task_hash != question.task.hash:
        raise ValueError("the dominance function belongs to another task")  # P14
    task, state, cost = question.task, question.state, question.action.cost
    others = [o for o in applicable_operators(task, state) if o != question.operator]
    states = [successor(task, task.operators[o], state) for o in others]
    ids = dominance.ids([state, question.successor, *states])
    before, after, rest = ids[0], ids[1], ids[2:]

    gained = int(dominance.from_one(before, after[None, :])[0])
    if gained != NO_SUM and cost <= gained:
        return Decision(StepVerdict.OPTIMAL, DecidedBy.DOMINANCE_A)
    lost = int(dominance.from_one(after, before[None, :])[0])
    if lost != NO_SUM and -lost < cost:
        return Decision(StepVerdict.NOT_OPTIMAL, DecidedBy.DOMINANCE_B)
    costs = [task.operators[o].cost for o in others]
    better_than = dominance.to_one(after, rest).tolist() if others else []
    if all(
        gain != NO_SUM and cost - other <= gain
        for gain, other in zip(better_than, costs, strict=True)
    ):
        return Decision(StepVerdict.OPTIMAL, DecidedBy.DOMINANCE_C)
    worse_than = dominance.from_one(after, rest).tolist() if others else []
    if any(
        gain != NO_SUM and other - cost < gain
        for gain, other in zip(worse_than, costs, strict=True)
    ):
        return Decision(StepVerdict.NOT_OPTIMAL, DecidedBy.DOMINANCE_D)
    return None
