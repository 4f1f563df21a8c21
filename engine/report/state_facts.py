"""The facts of a state in groups, with what a step changes and which goals are reached.

Facts that never change are separate, because there are many and they explain little.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from engine.task.atoms import fluent_atoms, format_atom, format_fact
from engine.task.task import GroundAtom, Task


class Change(Enum):
    """What a step does to a fact."""

    NONE = "none"
    ADDED = "added"
    REMOVED = "removed"


class Grouping(Enum):
    PREDICATE = "predicate"
    OBJECT = "object"


@dataclass(frozen=True, slots=True)
class FactLine:
    text: str
    change: Change = Change.NONE
    static: bool = False


@dataclass(frozen=True, slots=True)
class GoalLine:
    """A goal fact: reached before the step, after it, or not."""

    text: str
    before: bool
    after: bool


@dataclass(frozen=True, slots=True)
class FactGroup:
    title: str
    lines: tuple[FactLine, ...]


@dataclass(frozen=True)
class StateFacts:
    """A state, and the one after the selected step (the same without a step)."""

    atoms: dict[GroundAtom, Change]
    static: frozenset[GroundAtom]
    goals: tuple[GoalLine, ...]

    @property
    def reached(self) -> int:
        return sum(goal.after for goal in self.goals)

    def changed(self, change: Change) -> list[GroundAtom]:
        return [atom for atom, happened in self.atoms.items() if happened is change]

    def groups(
        self, grouping: Grouping, words: str = "", static: bool = False
    ) -> tuple[FactGroup, ...]:
        """Only facts that contain all of `words`; changed facts come first in their group."""
        wanted = words.lower().split()
        lines: dict[str, list[FactLine]] = {}
        for atom, line in self._lines(static):
            if all(word in line.text for word in wanted):
                for title in _titles(atom, grouping):
                    lines.setdefault(title, []).append(line)
        return tuple(
            FactGroup(title, tuple(sorted(lines[title], key=_order))) for title in sorted(lines)
        )

    def _lines(self, static: bool) -> Iterable[tuple[GroundAtom, FactLine]]:
        for atom, change in self.atoms.items():
            yield atom, FactLine(format_atom(atom), change)
        for atom in self.static if static else ():
            yield atom, FactLine(format_atom(atom), static=True)


def state_facts(task: Task, before: Sequence[int], after: Sequence[int] | None) -> StateFacts:
    """Return the facts of `before`, and how they change in `after`."""
    following = before if after is None else after
    old, new = fluent_atoms(task, before), set(fluent_atoms(task, following))
    atoms = {atom: Change.NONE if atom in new else Change.REMOVED for atom in old}
    atoms |= dict.fromkeys(sorted(new.difference(old)), Change.ADDED)
    goals = tuple(
        GoalLine(
            format_fact(task.variables[variable].values[value]),
            before[variable] == value,
            following[variable] == value,
        )
        for variable, value in task.goal
    )
    return StateFacts(atoms, task.static_atoms, goals)


def _titles(atom: GroundAtom, grouping: Grouping) -> Sequence[str]:
    if grouping is Grouping.PREDICATE or len(atom) == 1:
        return atom[:1] if grouping is Grouping.PREDICATE else ("no object",)
    return tuple(dict.fromkeys(atom[1:]))


def _order(line: FactLine) -> tuple[bool, bool, str]:
    return line.change is Change.NONE, line.static, line.text
