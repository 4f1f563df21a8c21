"""Action optimality by two A* searches in turn: SMS, SMS-REV and SMS-BC.

The first search spares the second if its plan starts with the action, or if there is no plan
behind the action. SMS-BC ends the second one where it cannot become cheap enough anymore: its
nodes above the bound are not even kept. None takes it for granted that the state has a plan.
See docs/theory/localization.md, "Several searches".
"""

from __future__ import annotations

from engine.localize.action_question import (
    ActionQuestion,
    DecidedBy,
    Decision,
    Knowledge,
    Reason,
    UndecidedError,
)
from engine.localize.question_searches import QuestionSearches, demand_end
from engine.records.finding import INFINITY
from engine.records.localization import StepVerdict
from engine.task.successors import successor


def sms(question: ActionQuestion, known: Knowledge, searches: QuestionSearches) -> Decision:
    return _state_first(question, known, searches, bounded=False)


def sms_bc(question: ActionQuestion, known: Knowledge, searches: QuestionSearches) -> Decision:
    return _state_first(question, known, searches, bounded=True)


def sms_rev(question: ActionQuestion, known: Knowledge, searches: QuestionSearches) -> Decision:
    search_after(question, known, searches)
    if known.verdict is not None:
        return Decision(known.verdict, known.grounds)
    return _compared(known, search_state(question, known, searches))


def starts_with(question: ActionQuestion, plan: tuple[int, ...]) -> bool:
    """Whether the plan could as well start with the action: a twin leads to the same state."""
    first = question.task.operators[plan[0]]
    if plan[0] == question.operator:
        return True
    same_state = successor(question.task, first, question.state) == question.successor
    return same_state and first.cost == question.action.cost


def search_state(
    question: ActionQuestion, known: Knowledge, searches: QuestionSearches
) -> tuple[int, ...]:
    """An optimal plan from the state."""
    result = searches.astar(question.state)
    known.add_optimal(result.lower_bound, INFINITY if result.cost is None else result.cost)
    demand_end(result.outcome)
    if result.plan is None:
        raise UndecidedError(Reason.UNSOLVABLE)
    return result.plan


def search_after(
    question: ActionQuestion, known: Knowledge, searches: QuestionSearches, bound: int | None = None
) -> None:
    """What the goal costs behind the action, unless that is at least the bound."""
    result = searches.astar(question.successor, bound)
    step = question.action.cost
    low = INFINITY if result.lower_bound == INFINITY else step + result.lower_bound
    known.add_after(low, INFINITY if result.cost is None else step + result.cost)
    demand_end(result.outcome)


def _state_first(
    question: ActionQuestion, known: Knowledge, searches: QuestionSearches, bounded: bool
) -> Decision:
    plan = search_state(question, known, searches)
    if starts_with(question, plan):
        return Decision(StepVerdict.OPTIMAL, DecidedBy.PLAN, (question.operator, *plan[1:]))
    if not bounded:
        search_after(question, known, searches)
    elif known.verdict is None:
        at_most = known.optimal_high - question.action.cost
        search_after(question, known, searches, at_most + 1)
    return _compared(known, plan)


def _compared(known: Knowledge, plan: tuple[int, ...]) -> Decision:
    """The cost of the plan is known, and what the action would cost at least as far as needed."""
    verdict = known.verdict
    if verdict is None:
        raise RuntimeError(f"two searches have ended, but decide nothing: {known}")
    return Decision(verdict, known.grounds, plan)
