"""The grounded FDR task every later stage works on.

Immutable. A state is a vector of values, one per variable; operators carry integer costs. Facts
keep the name the translator gave them (`Atom at(b1, rooma)`), operators the ground action
(`pick b1 rooma left`).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property

from engine.pddl.model import Domain, Problem

Fact = tuple[int, int]
"""A variable index and one of its values."""

GroundAtom = tuple[str, ...]
"""A predicate and its objects: `("at", "b1", "rooma")`."""


def atom_of_fact(name: str) -> GroundAtom | None:
    """The atom that a fact makes true: `Atom at(b1, rooma)` says `("at", "b1", "rooma")`.

    None for a fact that makes none true: `NegatedAtom ...`, `<none of those>`.
    """
    if not name.startswith("Atom ") or not name.endswith(")"):
        return None
    predicate, _, arguments = name[len("Atom ") : -1].partition("(")
    return (predicate, *arguments.split(", ")) if arguments else (predicate,)


@dataclass(frozen=True, slots=True)
class Variable:
    name: str
    values: tuple[str, ...]  # fact names as in the SAS file
    layer: int = -1


@dataclass(frozen=True, slots=True)
class Operator:
    """A ground action: `precondition` and `effect` are sorted by variable."""

    name: str  # "pick b1 rooma left"
    precondition: tuple[Fact, ...]
    effect: tuple[Fact, ...]
    cost: int


@dataclass(frozen=True, slots=True)
class PddlSource:
    """Where a task came from; a task read from a `.sas` file has none."""

    domain: Domain
    problem: Problem
    unit_costs: bool = False


@dataclass(frozen=True)
class Task:
    variables: tuple[Variable, ...]
    operators: tuple[Operator, ...]
    init: tuple[int, ...]
    goal: tuple[Fact, ...]  # sorted by variable
    mutexes: tuple[tuple[Fact, ...], ...] = ()
    has_costs: bool = False
    source: PddlSource | None = None
    translate_seconds: float = field(default=0.0, compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)  # what the user should know of it

    @cached_property
    def hash(self) -> str:
        """Identifies the encoding: variables, operators, goal and initial state."""
        digest = hashlib.sha256()
        for part in (self.variables, self.operators, self.init, self.goal):
            digest.update(repr(part).encode())
        return digest.hexdigest()

    @cached_property
    def operator_index(self) -> dict[str, int]:
        """Operator ids by ground action; of equal names the first counts."""
        index: dict[str, int] = {}
        for number, operator in enumerate(self.operators):
            index.setdefault(operator.name, number)
        return index

    @cached_property
    def domain_sizes(self) -> tuple[int, ...]:
        return tuple(len(variable.values) for variable in self.variables)

    @cached_property
    def fact_atoms(self) -> tuple[tuple[GroundAtom | None, ...], ...]:
        """Per variable and value, the atom that is then true."""
        return tuple(
            tuple(atom_of_fact(name) for name in variable.values) for variable in self.variables
        )

    @cached_property
    def static_atoms(self) -> frozenset[GroundAtom]:
        """What is true in every state and therefore in no variable; needs the PDDL source."""
        if self.source is None:
            return frozenset()
        changing = {atom for atoms in self.fact_atoms for atom in atoms}
        return frozenset(
            atom
            for item in self.source.problem.init
            if (atom := (item.predicate, *(term.name for term in item.arguments))) not in changing
        )

    @cached_property
    def operators_of_action(self) -> dict[str, tuple[int, ...]]:
        """All operators of a ground action: a disjunctive condition makes several of one."""
        operators: dict[str, list[int]] = {}
        for number, operator in enumerate(self.operators):
            operators.setdefault(operator.name, []).append(number)
        return {name: tuple(numbers) for name, numbers in operators.items()}
