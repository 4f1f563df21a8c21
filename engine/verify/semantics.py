"""What operators and axioms do to a state, written down a second time.

Nothing here is shared with what finds plans: rules fire in a plain loop, layer by layer, until
nothing changes, and effects are read off the definition. See docs/theory/conditional-effects.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from engine.records.evidence import State
from engine.task.axioms import Axiom
from engine.task.task import Fact, Operator, Task


def holds(facts: Iterable[Fact], state: Sequence[int]) -> bool:
    return all(state[variable] == value for variable, value in facts)


def is_applicable(operator: Operator, state: Sequence[int]) -> bool:
    return holds(operator.precondition, state)


def is_goal(task: Task, state: Sequence[int]) -> bool:
    return holds(task.goal, state)


def applicable_operators(task: Task, state: Sequence[int]) -> Iterator[int]:
    """The ids of all applicable operators, ascending."""
    return (n for n, operator in enumerate(task.operators) if is_applicable(operator, state))


def successor(task: Task, operator: Operator, state: Sequence[int]) -> State:
    fired = [fact for condition, fact in operator.conditional if holds(condition, state)]
    after = list(state)
    for variable, value in (*operator.effect, *fired):
        after[variable] = value
    values = tuple(after)
    return derive(task, values) if task.axioms or task.derived_variables else values


def derive(task: Task, state: Sequence[int]) -> State:
    """The state with the values of derived variables that follow from the others."""
    values = list(state)
    for number, variable in enumerate(task.variables):
        if variable.layer >= 0:
            values[number] = variable.default or 0

    def layer(axiom: Axiom) -> int:
        return task.variables[axiom.head].layer

    for _, rules in groupby(sorted(task.axioms, key=layer), key=layer):
        waiting, count = list(rules), -1
        while len(waiting) != count:
            count, still = len(waiting), []
            for axiom in waiting:
                if holds(axiom.body, values):
                    values[axiom.head] = 1 - (task.variables[axiom.head].default or 0)
                else:
                    still.append(axiom)
            waiting = still
    return tuple(values)


def find_state_problem(state: State, task: Task) -> str:
    """Return why these values are not a state of a task, or an empty string."""
    if len(state) != len(task.variables):
        return f"a state of {len(state)} values, but the task has {len(task.variables)} variables"
    for variable, (value, size) in enumerate(zip(state, task.domain_sizes, strict=True)):
        if not 0 <= value < size:
            return f"variable {variable} has no value {value}"
    if task.derived_variables and derive(task, state) != tuple(state):
        return "its derived values do not follow from the axioms"
    return ""
