"""What a plug-in sees of the task: atoms, operators and what is applicable.

Small on purpose: this is the part of Plumbline that people write code against
(docs/policy-plugins.md), so it stays the same when the engine changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.native.library import Int32Array
from engine.task.atoms import format_atom, state_atoms
from engine.task.task import GroundAtom, Task


@dataclass(frozen=True, slots=True)
class PluginVariable:
    name: str
    atoms: tuple[str | None, ...]  # per value: "(at b1 rooma)", None where no atom is true
    derived: bool = False  # its value follows from axioms; no operator sets it


@dataclass(frozen=True, slots=True)
class PluginOperator:
    id: int
    name: str  # "(pick b1 rooma left)"
    precondition: tuple[tuple[int, int], ...]  # (variable, value)
    effect: tuple[tuple[int, int], ...]
    cost: int
    # ((condition, (variable, value)), ...): applied after `effect`, in this order
    conditional: tuple[tuple[tuple[tuple[int, int], ...], tuple[int, int]], ...] = ()


def _text(atom: GroundAtom | None) -> str | None:
    return None if atom is None else format_atom(atom)


class PluginTask:
    """The argument of a plug-in's factory. A state is one integer per variable."""

    def __init__(
        self, task: Task, static_atoms: Sequence[str] = (), objects: Mapping[str, str] | None = None
    ) -> None:
        self._task = task
        self.variables = tuple(
            PluginVariable(variable.name, tuple(map(_text, atoms)), variable.is_derived)
            for variable, atoms in zip(task.variables, task.fact_atoms, strict=True)
        )
        self.operators = tuple(
            PluginOperator(
                number,
                f"({item.name})",
                item.precondition,
                item.effect,
                item.cost,
                item.conditional,
            )
            for number, item in enumerate(task.operators)
        )
        self.initial_state: tuple[int, ...] = task.init
        self.goal: tuple[tuple[int, int], ...] = task.goal
        self.static_atoms = frozenset(static_atoms)  # true in every state; needs the PDDL files
        self.objects = dict(objects or {})  # type by name; needs the PDDL files
        conditions = [
            (item.id, variable, value)
            for item in self.operators
            for variable, value in item.precondition
        ]
        columns = np.array(conditions, dtype=np.int64).reshape(-1, 3).T
        self._condition_operator, self._condition_variable, self._condition_value = columns

    @property
    def goal_atoms(self) -> frozenset[str]:
        """The atoms that must be true in the end."""
        facts = (self.variables[variable].atoms[value] for variable, value in self.goal)
        return frozenset(atom for atom in facts if atom is not None)

    def atoms(self, state: Sequence[int] | Int32Array) -> frozenset[str]:
        """All PDDL atoms that are true in the state."""
        atoms = state_atoms(self._task, [int(value) for value in state])
        return self.static_atoms.union(map(format_atom, atoms))

    def is_goal(self, state: Sequence[int] | Int32Array) -> bool:
        return all(state[variable] == value for variable, value in self.goal)

    def applicable(self, state: Sequence[int] | Int32Array) -> list[int]:
        """The ids of the applicable operators, ascending."""
        values = np.asarray(state)
        broken = values[self._condition_variable] != self._condition_value
        possible = np.ones(len(self.operators), dtype=np.bool_)
        possible[self._condition_operator[broken]] = False
        return [int(number) for number in np.flatnonzero(possible)]

    def successor(self, state: Sequence[int] | Int32Array, operator: int) -> tuple[int, ...]:
        """The state after an applicable operator; derived values are computed."""
        before = [int(value) for value in state]
        after = before.copy()
        for variable, value in self.operators[operator].effect:
            after[variable] = value
        for condition, (variable, value) in self.operators[operator].conditional:
            if all(before[named] == wanted for named, wanted in condition):
                after[variable] = value
        return self._task.extend(after)
