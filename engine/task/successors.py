"""What an operator does to a state, in plain Python.

The kernels do the same a thousand times faster; this is for single steps and for checking what
they found by other code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.task.task import Operator, Task

State = tuple[int, ...]


def is_applicable(operator: Operator, state: Sequence[int]) -> bool:
    return all(state[variable] == value for variable, value in operator.precondition)


def successor(task: Task, operator: Operator, state: Sequence[int]) -> State:
    """Effects see the state before; of several on one variable the last counts."""
    values = list(state)
    for variable, value in operator.effect:
        values[variable] = value
    for condition, (variable, value) in operator.conditional:
        if all(state[v] == x for v, x in condition):
            values[variable] = value
    return task.extend(values)


def choose_operator(task: Task, name: str, state: Sequence[int]) -> int | None:
    """The operator of a ground action that is meant in a state; None if there is none at all.

    If an action has several operators because its condition is not a list of facts, this is the
    applicable one, or the first if none is applicable.
    """
    candidates = task.operators_of_action.get(name)
    if candidates is None:
        return None
    fitting = (n for n in candidates if is_applicable(task.operators[n], state))
    return next(fitting, candidates[0])


def is_goal(task: Task, state: Sequence[int]) -> bool:
    return all(state[variable] == value for variable, value in task.goal)


def applicable_operators(task: Task, state: Sequence[int]) -> Iterator[int]:
    """The ids of all applicable operators, ascending."""
    for number, operator in enumerate(task.operators):
        if is_applicable(operator, state):
            yield number
