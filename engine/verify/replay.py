"""Executes operators one by one on the task alone: no kernel, no state table."""

from __future__ import annotations

from collections.abc import Iterable

from engine.records.evidence import State
from engine.task.successors import successor
from engine.task.task import Task


def find_state_problem(state: State, task: Task) -> str:
    """Return why these values are no state of a task; empty if they are."""
    if len(state) != len(task.variables):
        return f"a state of {len(state)} values, but the task has {len(task.variables)} variables"
    for variable, value in enumerate(state):
        if not 0 <= value < len(task.variables[variable].values):
            return f"variable {variable} has no value {value}"
    return ""


def replay(state: State, operators: Iterable[int], task: Task) -> list[State] | str:
    """The states of a walk, or which of its steps cannot be made."""
    states = [state]
    for number, index in enumerate(operators, 1):
        if not 0 <= index < len(task.operators):
            return f"step {number}: unknown operator {index}"
        operator = task.operators[index]
        for variable, value in operator.precondition:
            if states[-1][variable] != value:
                needed = task.variables[variable].values[value]
                return f"step {number}: ({operator.name}) needs {needed}, which is false"
        states.append(successor(operator, states[-1]))
    return states


def cost_of(operators: Iterable[int], task: Task) -> int:
    return sum(task.operators[number].cost for number in operators)
