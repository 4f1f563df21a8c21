"""The grounded FDR task every later stage works on.

Immutable. A state is a vector of values, one per variable; operators carry integer costs. Facts
keep the name the translator gave them (`Atom at(b1, rooma)`), operators the ground action
(`pick b1 rooma left`).

Variables with an axiom layer are derived: their values follow from those of the others, the state
variables, and no operator sets them. See docs/theory/conditional-effects.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from engine.pddl.model import Domain, Problem
from engine.task.axioms import Axiom, AxiomEvaluator

Fact = tuple[int, int]
"""A variable index and one of its values."""

ConditionalEffect = tuple[tuple[Fact, ...], Fact]
"""What must hold before the step, sorted by variable, and the fact that is then true after it."""

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
    layer: int = -1  # of its axioms; -1: a state variable
    default: int | None = field(default=None, repr=False)  # of a derived variable

    @property
    def is_derived(self) -> bool:
        return self.layer >= 0


@dataclass(frozen=True, slots=True)
class Operator:
    """A ground action: `precondition` and `effect` are sorted by variable.

    The conditional effects come after `effect`, in their order: of two that fire on one variable
    the later one counts. Their conditions are those of the state before the step.
    """

    name: str  # "pick b1 rooma left"
    precondition: tuple[Fact, ...]
    effect: tuple[Fact, ...]
    cost: int
    conditional: tuple[ConditionalEffect, ...] = field(default=(), repr=False)


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
    axioms: tuple[Axiom, ...] = ()

    def __post_init__(self) -> None:
        """Derived values of the initial state follow from the axioms, whatever was given."""
        if self.derived_variables:
            object.__setattr__(self, "init", self.extend(self.init))

    @cached_property
    def hash(self) -> str:
        """Identifies the encoding: variables, operators, goal, initial state and axioms."""
        digest = hashlib.sha256()
        for part in (self.variables, self.operators, self.init, self.goal):
            digest.update(repr(part).encode())
        if not self.is_plain:
            conditionals = tuple(operator.conditional for operator in self.operators)
            defaults = tuple(variable.default for variable in self.variables)
            digest.update(repr((conditionals, defaults, self.axioms)).encode())
        return digest.hexdigest()

    @cached_property
    def is_plain(self) -> bool:
        """Whether it has neither conditional effects nor derived variables."""
        return not (self.derived_variables or self.n_conditional_effects)

    @cached_property
    def costs(self) -> tuple[int, ...]:
        """By operator."""
        return tuple(operator.cost for operator in self.operators)

    @cached_property
    def n_conditional_effects(self) -> int:
        return sum(len(operator.conditional) for operator in self.operators)

    @cached_property
    def state_variables(self) -> tuple[int, ...]:
        """The variables that operators set, ascending."""
        return tuple(n for n, item in enumerate(self.variables) if not item.is_derived)

    @cached_property
    def derived_variables(self) -> tuple[int, ...]:
        """The variables whose values follow from the axioms, ascending."""
        return tuple(n for n, item in enumerate(self.variables) if item.is_derived)

    @cached_property
    def cone(self) -> frozenset[int]:
        """The state variables that axioms depend on."""
        named = {variable for rule in self.axioms for variable, _ in rule.body}
        return frozenset(named.difference(self.derived_variables))

    def extend(self, values: Sequence[int]) -> tuple[int, ...]:
        """The state with these values of the state variables; derived ones are computed again."""
        if not self.derived_variables:
            return tuple(values)
        return self._evaluator.extend(values)

    @cached_property
    def _evaluator(self) -> AxiomEvaluator:
        layers = {n: self.variables[n].layer for n in self.derived_variables}
        return AxiomEvaluator(layers, self.defaults, self.axioms)

    @cached_property
    def defaults(self) -> dict[int, int]:
        """The default values of the derived variables."""
        found = {n: self.variables[n].default for n in self.derived_variables}
        return {number: 0 if default is None else default for number, default in found.items()}

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
        """Per state variable and value, the atom that is then true; None for derived ones.

        Derived atoms are not part of a PDDL state: they follow from it.
        """
        return tuple(
            tuple(None if variable.is_derived else atom_of_fact(name) for name in variable.values)
            for variable in self.variables
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
