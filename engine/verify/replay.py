"""Executes operators one by one on the task alone: no kernel, no state table."""

from __future__ import annotations

from collections.abc import Iterable

from engine.records.evidence import State
from engine.task.task import Task
from engine.verify.semantics import successor


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
        states.append(successor(task, operator, states[-1]))
    return states


def cost_of(operators: Iterable[int], task: Task) -> int:
    return sum(task.operators[number].cost for number in operators)
