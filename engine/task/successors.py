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


def successor(operator: Operator, state: Sequence[int]) -> State:
    values = list(state)
    for variable, value in operator.effect:
        values[variable] = value
    return tuple(values)


def is_goal(task: Task, state: Sequence[int]) -> bool:
    return all(state[variable] == value for variable, value in task.goal)


def applicable_operators(task: Task, state: Sequence[int]) -> Iterator[int]:
    """The ids of all applicable operators, ascending."""
    for number, operator in enumerate(task.operators):
        if is_applicable(operator, state):
            yield number
