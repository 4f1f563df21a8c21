"""Talking about one planning task in two encodings: ours and a policy server's.

A server answers in its own variables and operator ids. When they are ours, nothing is to do; else
states are rewritten by the atoms of facts and operators found by the names of ground actions.
What cannot be said in the other encoding is an error with the reason, never a guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.errors import PolicyError
from engine.native.library import Int32Array
from engine.task.atoms import format_atom, is_made_up
from engine.task.successors import choose_operator
from engine.task.task import Fact, GroundAtom, Task, atom_of_fact

_NO_VALUE = -1
_SAME_TASK = "start the server with the domain and the problem that are loaded here"


@dataclass(frozen=True, slots=True)
class _VariableMap:
    """How one of the server's variables follows from our state."""

    number: int
    facts: tuple[tuple[int, Fact], ...]  # its values and the facts of ours they go with
    otherwise: int  # its value when none of these facts is true


class EncodingMap:
    """States of `ours` as states of `theirs`; ids of their operators as ids of ours."""

    def __init__(self, ours: Task, theirs: Task) -> None:
        self.identical = _same_encoding(ours, theirs)
        self._ours = ours
        self._theirs = theirs
        if self.identical:
            return
        facts = _our_facts(ours)
        _check_goal(ours, theirs)
        _check_operators(ours, theirs)
        self._variables = [
            _map_variable(number, atoms, ours, facts)
            for number, atoms in enumerate(theirs.fact_atoms)
            if number not in theirs.derived_variables
        ]

    def to_theirs(self, states: Int32Array) -> Int32Array:
        if self.identical:
            return states
        result = np.zeros((len(states), len(self._theirs.variables)), dtype=np.int32)
        for variable in self._variables:
            result[:, variable.number] = _translate(variable, states)
        if self._theirs.derived_variables:  # by the server's own axioms
            rows = [self._theirs.extend(row) for row in result.tolist()]
            result = np.array(rows, np.int32).reshape(result.shape)
        return result

    def to_ours(self, operator: int, state: Sequence[int]) -> int:
        """Our id of what they chose in `state`: of operators of one name, an applicable one."""
        if self.identical:
            return operator
        name = self._theirs.operators[operator].name
        chosen = choose_operator(self._ours, name, state)
        if chosen is None:
            raise PolicyError(f"the server chose ({name}), which this task does not have")
        return chosen


def _same_encoding(ours: Task, theirs: Task) -> bool:
    """Whether states and operator ids mean the same in both; costs and start may differ."""

    def meaning(task: Task) -> tuple[object, ...]:
        variables = [(item.values, item.layer, item.default) for item in task.variables]
        operators = [
            (item.name, item.precondition, item.effect, item.conditional) for item in task.operators
        ]
        return variables, operators, task.goal, task.axioms

    return meaning(ours) == meaning(theirs)


def _our_facts(task: Task) -> dict[GroundAtom, Fact]:
    return {
        atom: (variable, value)
        for variable, atoms in enumerate(task.fact_atoms)
        for value, atom in enumerate(atoms)
        if atom is not None
    }


def _check_goal(ours: Task, theirs: Task) -> None:
    """Both pursue the same; what is always true here may be mentioned or not."""
    wanted, served = _goal_atoms(ours), _goal_atoms(theirs)
    different = sorted((wanted ^ served) - {(True, atom) for atom in ours.static_atoms})
    for condition in different:
        whose = "the server's" if condition in served else "this task's"
        positive, atom = condition
        text = format_atom(atom) if positive else f"(not {format_atom(atom)})"
        raise PolicyError(
            f"the server has another goal: {text} is in {whose} goal only", hint=_SAME_TASK
        )


def _goal_atoms(task: Task) -> set[tuple[bool, GroundAtom]]:
    conditions = set()
    for variable, value in task.goal:
        atom = task.fact_atoms[variable][value]
        if task.variables[variable].is_derived:
            conditions.add(_derived_condition(task.variables[variable].values[value]))
            continue
        if atom is not None:
            conditions.add((True, atom))
        else:  # the value that denies all the others
            others = task.fact_atoms[variable]
            conditions.update((False, other) for other in others if other is not None)
    return conditions


def _derived_condition(name: str) -> tuple[bool, GroundAtom]:
    """What a goal asks of a derived predicate; a name that the translator made up says nothing."""
    atom = atom_of_fact(name.removeprefix("Negated"))
    if atom is None or is_made_up(atom):
        raise PolicyError(
            "the goal is more than a list of facts, and the server encodes the task in another way",
            hint=_SAME_TASK,
        )
    return not name.startswith("Negated"), atom


def _check_operators(ours: Task, theirs: Task) -> None:
    names = [operator.name for operator in theirs.operators]
    if names and ours.operator_index.keys().isdisjoint(names):
        raise PolicyError(
            f"the server serves another task: none of its operators, such as ({names[0]}), "
            "exists here",
            hint=_SAME_TASK,
        )


def _map_variable(
    number: int, atoms: Sequence[GroundAtom | None], ours: Task, facts: dict[GroundAtom, Fact]
) -> _VariableMap:
    """Atoms without a fact of ours never change: true if static, else unreachable here."""
    known = []
    otherwise = _NO_VALUE
    for value, atom in enumerate(atoms):
        if atom is None:
            otherwise = value
        elif atom in ours.static_atoms:
            return _VariableMap(number, (), value)
        elif atom in facts:
            known.append((value, facts[atom]))
        elif ours.source is None:
            raise PolicyError(
                f"the server's state has {format_atom(atom)}, which is not a fact of this task",
                hint=_SAME_TASK,
            )
    return _VariableMap(number, tuple(known), otherwise)


def _translate(variable: _VariableMap, states: Int32Array) -> Int32Array:
    result = np.full(len(states), variable.otherwise, dtype=np.int32)
    found = np.zeros(len(states), dtype=np.int32)
    for value, (our_variable, our_value) in variable.facts:
        holds = states[:, our_variable] == our_value
        result[holds] = value
        found += holds
    if (result == _NO_VALUE).any() or (found > 1).any():
        count = "two values" if (found > 1).any() else "no value"
        raise PolicyError(
            "a state cannot be sent to the server: its variable "
            f"{variable.number} would have {count}",
            hint=_SAME_TASK,
        )
    return result
