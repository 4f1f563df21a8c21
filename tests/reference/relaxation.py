"""Heuristics of the delete relaxation straight from their definitions.

h_max and h_add are fixed points, found by sweeping over all operators until nothing changes.
h_FF needs an order among equals and follows the one that the kernel promises.
See docs/theory/searches.md, "Relaxation heuristics".
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence

from engine.native.library import HEURISTICS
from engine.task.task import Fact, Operator, Task

from . import fdr

Costs = Callable[[Operator], int]

LMCUT_RULES = tuple(name for name in HEURISTICS if name.startswith("lmcut"))

TRUE: Fact = (-1, 0)
"""A fact of every state, needed by the operators that need nothing else."""


def plain(operator: Operator) -> int:
    return operator.cost


def unit(_: Operator) -> int:
    return 1


def hmax(task: Task, state: fdr.State, goal: Sequence[Fact] | None = None) -> int:
    return _fixed_point(task, state, goal, _largest, plain)


def hadd(
    task: Task, state: fdr.State, goal: Sequence[Fact] | None = None, costs: Costs = plain
) -> int:
    return _fixed_point(task, state, goal, sum, costs)


def _largest(values: Iterable[int]) -> int:
    return max(values, default=0)


def _fixed_point(
    task: Task,
    state: fdr.State,
    goal: Sequence[Fact] | None,
    combine: Callable[[Iterable[int]], int],
    costs: Costs,
) -> int:
    value: dict[Fact, int] = dict.fromkeys(enumerate(state), 0)
    changed = True
    while changed:
        changed = False
        for operator in task.operators:
            if any(fact not in value for fact in operator.precondition):
                continue
            reached = costs(operator) + combine(value[fact] for fact in operator.precondition)
            for fact in operator.effect:
                if reached < value.get(fact, fdr.INFINITY):
                    value[fact] = reached
                    changed = True
    goal = task.goal if goal is None else goal
    if any(fact not in value for fact in goal):
        return fdr.INFINITY
    return combine(value[fact] for fact in goal)


def hff(task: Task, state: fdr.State, goal: Sequence[Fact] | None = None) -> int:
    """The cost of the operators on the way back from the goal along first achievers."""
    achiever = _first_achievers(task, state)
    open_facts = list(task.goal if goal is None else goal)
    if any(fact not in achiever for fact in open_facts):
        return fdr.INFINITY
    plan: set[int] = set()
    while open_facts:
        operator = achiever[open_facts.pop()]
        if operator is not None and operator not in plan:
            plan.add(operator)
            open_facts.extend(task.operators[operator].precondition)
    return sum(task.operators[o].cost for o in plan)


def _first_achievers(task: Task, state: fdr.State) -> dict[Fact, int | None]:
    """By reached fact the operator that first gave it its h_add value, None in the state.

    Facts leave the queue by value, equals in the order they entered it: the state's facts by
    variable, then TRUE; operators fire in their order when their last precondition leaves.
    """
    needs = [set(o.precondition) or {TRUE} for o in task.operators]
    value: dict[Fact, int] = {}
    achiever: dict[Fact, int | None] = {}
    queue: list[tuple[int, int, Fact]] = []

    def improve(fact: Fact, new_value: int, operator: int | None) -> None:
        if new_value < value.get(fact, fdr.INFINITY):
            value[fact], achiever[fact] = new_value, operator
            heapq.heappush(queue, (new_value, len(pushed), fact))
            pushed.append(fact)

    pushed: list[Fact] = []
    done: set[Fact] = set()
    for fact in [*enumerate(state), TRUE]:
        improve(fact, 0, None)
    while queue:
        fact_value, _, fact = heapq.heappop(queue)
        if fact in done or fact_value > value[fact]:
            continue
        done.add(fact)
        for number, operator in enumerate(task.operators):
            if fact in needs[number] and needs[number] <= done:
                reached = operator.cost + sum(value[need] for need in needs[number])
                for effect in operator.effect:
                    improve(effect, reached, number)
    return achiever
