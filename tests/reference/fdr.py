"""The semantics of FDR tasks, straight from the definition: states are tuples of values."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Sequence

from engine.task.task import Fact, Operator, Task

State = tuple[int, ...]
INFINITY = 2**63 - 1


def holds(facts: Iterable[Fact], state: State) -> bool:
    return all(state[variable] == value for variable, value in facts)


def apply(task: Task, operator: Operator, state: State) -> State:
    values = list(state)
    for variable, value in operator.effect:
        values[variable] = value
    for condition, (variable, value) in operator.conditional:
        if holds(condition, state):
            values[variable] = value
    return extended(task, values)


def extended(task: Task, values: Sequence[int]) -> State:
    """Derived variables by the definition: per layer, every rule again and again."""
    result = list(values)
    for number, variable in enumerate(task.variables):
        if variable.layer >= 0:
            assert variable.default is not None
            result[number] = variable.default
    for layer in sorted({variable.layer for variable in task.variables} - {-1}):
        rules = [rule for rule in task.axioms if task.variables[rule.head].layer == layer]
        before = None
        while before != result:
            before = result.copy()
            for rule in rules:
                if holds(rule.body, tuple(result)):
                    default = task.variables[rule.head].default
                    assert default is not None
                    result[rule.head] = 1 - default
    return tuple(result)


def applicable(task: Task, state: State) -> list[int]:
    return [o for o, operator in enumerate(task.operators) if holds(operator.precondition, state)]


def successors(task: Task, state: State) -> list[tuple[int, State]]:
    return [(o, apply(task, task.operators[o], state)) for o in applicable(task, state)]


def all_states(task: Task) -> list[State]:
    """One for every combination of values of the state variables."""
    sizes = [
        size if variable.layer < 0 else 1
        for size, variable in zip(task.domain_sizes, task.variables, strict=True)
    ]
    return [extended(task, values) for values in itertools.product(*map(range, sizes))]


def reachable_states(task: Task, start: State | None = None) -> list[State]:
    """In breadth-first order."""
    found = {task.init if start is None else start: None}
    queue = list(found)
    for state in queue:
        for _, successor in successors(task, state):
            if successor not in found:
                found[successor] = None
                queue.append(successor)
    return queue


def optimal_costs(
    task: Task, states: Sequence[State], goal: Sequence[Fact] | None = None
) -> dict[State, int]:
    """h* of states that are closed under successors: Dijkstra backward from the goal states."""
    predecessors: dict[State, list[tuple[int, State]]] = {state: [] for state in states}
    for state in states:
        for o, successor in successors(task, state):
            predecessors[successor].append((task.operators[o].cost, state))
    goal = task.goal if goal is None else goal
    distance = {state: 0 if holds(goal, state) else INFINITY for state in states}
    queue = [(0, state) for state in states if distance[state] == 0]
    heapq.heapify(queue)
    while queue:
        cost, state = heapq.heappop(queue)
        if cost > distance[state]:
            continue
        for step, predecessor in predecessors[state]:
            if cost + step < distance[predecessor]:
                distance[predecessor] = cost + step
                heapq.heappush(queue, (cost + step, predecessor))
    return distance


def plan_cost(task: Task, plan: Sequence[int], start: State, goal: Sequence[Fact]) -> int | None:
    """The cost of a plan, None if it is not one."""
    state, cost = start, 0
    for o in plan:
        if not holds(task.operators[o].precondition, state):
            return None
        state = apply(task, task.operators[o], state)
        cost += task.operators[o].cost
    return cost if holds(goal, state) else None
