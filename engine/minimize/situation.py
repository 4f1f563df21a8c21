"""A problem as what can be taken from it: objects, facts, function values and goals.

States are sensible only as a whole, so moves work on this form and never on texts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from engine.pddl.model import (
    TOTAL_COST,
    And,
    Atom,
    Condition,
    Equality,
    FunctionTerm,
    FunctionValue,
    Not,
    Problem,
    Term,
    TypedName,
    conjuncts,
)
from engine.pddl.traversal import subconditions
from engine.task.atoms import ground_atom, model_atom
from engine.task.task import GroundAtom

Value = tuple[GroundAtom, Fraction]
"""A function with its objects, and what it is."""


@dataclass(frozen=True)
class Situation:
    """What a problem says, each part in the order of the origin; goals are conjuncts.

    `merged` says which objects of the origin were merged into which others, or into constants.
    """

    objects: tuple[TypedName, ...]
    facts: tuple[GroundAtom, ...]
    values: tuple[Value, ...]
    goals: tuple[Condition, ...]
    merged: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, problem: Problem) -> Situation:
        return cls(
            problem.objects,
            tuple(dict.fromkeys(map(ground_atom, problem.init))),
            tuple(
                ((item.function.name, *(term.name for term in item.function.arguments)), item.value)
                for item in problem.values
            ),
            tuple(dict.fromkeys(conjuncts(problem.goal))),
        )

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(item.name for item in self.objects)

    @cached_property
    def content(self) -> object:
        """Equal for situations that say the same and stand for the same objects of the origin."""
        parts = self.objects, self.facts, self.values, self.goals, self.merged
        return tuple(map(frozenset, parts))

    @cached_property
    def mapping(self) -> dict[str, str]:
        """What the objects of the origin have become; those that are gone are left out."""
        return {**{name: name for name in self.names}, **dict(self.merged)}

    def problem(self, frame: Problem) -> Problem:
        """A problem with this content; everything else is as in `frame`."""
        return replace(
            frame,
            objects=self.objects,
            init=tuple(map(model_atom, self.facts)),
            values=tuple(
                FunctionValue(FunctionTerm(term[0], tuple(map(Term, term[1:]))), value)
                for term, value in self.values
            ),
            goal=self.goals[0] if len(self.goals) == 1 else And(self.goals),
            path="",
        )

    def without(self, names: Iterable[str]) -> Situation:
        """The situation without some objects and all that names them."""
        gone = frozenset(names)
        return Situation(
            tuple(item for item in self.objects if item.name not in gone),
            tuple(fact for fact in self.facts if gone.isdisjoint(fact[1:])),
            tuple(value for value in self.values if gone.isdisjoint(value[0][1:])),
            tuple(goal for goal in self.goals if gone.isdisjoint(names_in(goal))),
            tuple((x, y) for x, y in self.merged if y not in gone),
        )

    def holds_goal(self) -> bool:
        """Whether the goal holds already, as far as literals tell."""
        facts = set(self.facts)
        return all(
            (isinstance(goal, Atom) and ground_atom(goal) in facts)
            or (
                isinstance(goal, Not)
                and isinstance(goal.part, Atom)
                and ground_atom(goal.part) not in facts
            )
            for goal in self.goals
        )


def names_in(goal: Condition) -> tuple[str, ...]:
    """The objects that a condition names, in textual order."""
    terms: list[Term] = []
    for part in subconditions(goal):
        if isinstance(part, Atom):
            terms += part.arguments
        elif isinstance(part, Equality):
            terms += (part.left, part.right)
    return tuple(dict.fromkeys(term.name for term in terms if not term.is_variable))


def is_cost(value: Value) -> bool:
    """Whether this is the counter of costs, which is not part of a situation."""
    return value[0][0] == TOTAL_COST
