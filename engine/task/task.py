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
