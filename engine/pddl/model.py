"""The lifted model: what a domain file and a problem file say, with the place of every part.

All names are lower case. Positions take no part in comparison, so two files with the same
content are equal however they are laid out. `And(())` is truth, `Or(())` is falsehood.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

OBJECT = "object"
TOTAL_COST = "total-cost"


@dataclass(frozen=True, slots=True)
class Position:
    """Where a part starts in its file; lines and columns count from 1."""

    line: int = 0
    column: int = 0


NOWHERE = Position()


@dataclass(frozen=True, slots=True)
class TypedName:
    """A name with its type: `?x - (either a b)` has two alternatives, no type means `object`.

    Used for type declarations, constants, objects and parameters. Names of parameters keep
    their question mark. `type_position` is where the type is written, or the name if none is.
    """

    name: str
    types: tuple[str, ...] = (OBJECT,)
    position: Position = field(default=NOWHERE, compare=False, repr=False)
    type_position: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Term:
    """An argument: a variable (`?x`) or the name of an object or constant."""

    name: str
    position: Position = field(default=NOWHERE, compare=False, repr=False)

    @property
    def is_variable(self) -> bool:
        return self.name.startswith("?")


@dataclass(frozen=True, slots=True)
class Atom:
    predicate: str
    arguments: tuple[Term, ...] = ()
    position: Position = field(default=NOWHERE, compare=False, repr=False)

    def __str__(self) -> str:
        return "(" + " ".join([self.predicate, *(term.name for term in self.arguments)]) + ")"


@dataclass(frozen=True, slots=True)
class Equality:
    left: Term
    right: Term
    position: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Not:
    part: Condition
    position: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class And:
    parts: tuple[Condition, ...] = ()
    position: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Or:
    parts: tuple[Condition, ...] = ()
    position: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Imply:
    premise: Condition
    conclusion: Condition
    position: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Forall:
    parameters: tuple[TypedName, ...]
    part: Condition
    position: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Exists:
    parameters: tuple[TypedName, ...]
    part: Condition
    position: Position = field(default=NOWHERE, compare=False, repr=False)


Condition = Atom | Equality | Not | And | Or | Imply | Forall | Exists


@dataclass(frozen=True, slots=True)
class FunctionTerm:
    """A numeric fluent such as `(road-length ?a ?b)`."""

    name: str
    arguments: tuple[Term, ...] = ()
    position: Position = field(default=NOWHERE, compare=False, repr=False)

    def __str__(self) -> str:
        return "(" + " ".join([self.name, *(term.name for term in self.arguments)]) + ")"


@dataclass(frozen=True, slots=True)
class Number:
    value: Fraction
    position: Position = field(default=NOWHERE, compare=False, repr=False)
    has_point: bool = field(default=False, compare=False, repr=False)  # as it is written


Expression = FunctionTerm | Number


@dataclass(frozen=True, slots=True)
class Add:
    atom: Atom
    position: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Delete:
    atom: Atom
    position: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class EffectAnd:
    parts: tuple[Effect, ...] = ()
    position: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class EffectForall:
    parameters: tuple[TypedName, ...]
    part: Effect
    position: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class When:
    condition: Condition
    effect: Effect
    position: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Increase:
    """`(increase (total-cost) amount)`, the only numeric effect."""

    target: FunctionTerm
    amount: Expression
    position: Position = field(default=NOWHERE, compare=False, repr=False)


Effect = Add | Delete | EffectAnd | EffectForall | When | Increase


@dataclass(frozen=True, slots=True)
class Predicate:
    name: str
    parameters: tuple[TypedName, ...] = ()
    position: Position = field(default=NOWHERE, compare=False, repr=False)

    @property
    def arity(self) -> int:
        return len(self.parameters)


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    parameters: tuple[TypedName, ...] = ()
    position: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Action:
    name: str
    parameters: tuple[TypedName, ...] = ()
    precondition: Condition = And()
    effect: Effect = EffectAnd()
    position: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Derived:
    """A derived predicate's rule; `predicate.parameters` are the rule's variables."""

    predicate: Predicate
    condition: Condition
    position: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Domain:
    name: str
    requirements: tuple[str, ...] = ()  # without the colon
    types: tuple[TypedName, ...] = ()  # in declaration order; `object` only if it was written
    constants: tuple[TypedName, ...] = ()
    predicates: tuple[Predicate, ...] = ()
    functions: tuple[Function, ...] = ()
    derived: tuple[Derived, ...] = ()
    actions: tuple[Action, ...] = ()
    path: str = field(default="", compare=False)
    position: Position = field(default=NOWHERE, compare=False, repr=False)

    def predicate(self, name: str) -> Predicate | None:
        return next((item for item in self.predicates if item.name == name), None)

    def action(self, name: str) -> Action | None:
        return next((item for item in self.actions if item.name == name), None)


@dataclass(frozen=True, slots=True)
class FunctionValue:
    """An init entry `(= (road-length a b) 3)`."""

    function: FunctionTerm
    value: Fraction
    position: Position = field(default=NOWHERE, compare=False, repr=False)
    has_point: bool = field(default=False, compare=False, repr=False)  # as it is written


@dataclass(frozen=True, slots=True)
class Metric:
    """`(:metric minimize expression)`."""

    expression: Expression
    position: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Problem:
    name: str
    domain_name: str
    requirements: tuple[str, ...] = ()
    objects: tuple[TypedName, ...] = ()
    init: tuple[Atom, ...] = ()
    values: tuple[FunctionValue, ...] = ()
    goal: Condition = And()
    metric: Metric | None = None
    path: str = field(default="", compare=False)
    position: Position = field(default=NOWHERE, compare=False, repr=False)
    domain_position: Position = field(default=NOWHERE, compare=False, repr=False)
    init_position: Position = field(default=NOWHERE, compare=False, repr=False)


def conjuncts(condition: Condition) -> Iterator[Condition]:
    """The parts of nested conjunctions, in textual order."""
    if isinstance(condition, And):
        for part in condition.parts:
            yield from conjuncts(part)
    else:
        yield condition


def effects(effect: Effect) -> Iterator[Effect]:
    """The parts of nested effect conjunctions, in textual order."""
    if isinstance(effect, EffectAnd):
        for part in effect.parts:
            yield from effects(part)
    else:
        yield effect
