"""Which atoms an action schema is related to, and which schemas a predicate pools over.

The lifted half of an action schema network (Toyer et al., JAIR 2020), read from the domain alone
in the order of the published cpddl policies: preconditions, then effects, each atom once, its
sign ignored. Negative preconditions, which those policies never have, are kept as related atoms.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from engine.errors import Location, UnsupportedError
from engine.pddl.model import (
    OBJECT,
    Action,
    Add,
    And,
    Atom,
    Condition,
    Delete,
    Domain,
    Effect,
    EffectAnd,
    Equality,
    Increase,
    Not,
    Position,
    Term,
    TypedName,
)

EQUALITY = "="

Argument = int | str
"""A parameter's index in its schema, or the name of a constant."""


@dataclass(frozen=True, slots=True)
class RelatedAtom:
    predicate: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class EqualityTest:
    left: Argument
    right: Argument
    equal: bool


@dataclass(frozen=True, slots=True)
class Schema:
    """An action with its related atoms; conditions and effects are positions in `related`."""

    name: str
    parameters: tuple[TypedName, ...]
    related: tuple[RelatedAtom, ...]
    positive: tuple[int, ...]
    negative: tuple[int, ...]
    add: tuple[int, ...]
    delete: tuple[int, ...]
    equalities: tuple[EqualityTest, ...]


@dataclass(frozen=True, slots=True)
class Slot:
    """One pool of a predicate: the operators of `schema` whose related atom `position` it is."""

    schema: int
    position: int


@dataclass(frozen=True, slots=True)
class Relatedness:
    """Schemas in domain order; `predicates[0]` is equality, which never has facts."""

    domain_name: str
    schemas: tuple[Schema, ...]
    predicates: tuple[str, ...]
    slots: tuple[tuple[Slot, ...], ...]
    static: frozenset[str]


def relate(domain: Domain) -> Relatedness:
    """The relatedness of a domain; refuses constructs the network has no place for."""
    if domain.derived:
        raise _unsupported(domain, "derived predicates", domain.derived[0].position)
    schemas = tuple(_schema(domain, action) for action in domain.actions)
    predicates = (EQUALITY, *(predicate.name for predicate in domain.predicates))
    slots = tuple(
        tuple(
            Slot(index, position)
            for index, schema in enumerate(schemas)
            for position, atom in enumerate(schema.related)
            if atom.predicate == predicate
        )
        for predicate in predicates
    )
    changed = {
        schema.related[position].predicate
        for schema in schemas
        for position in (*schema.add, *schema.delete)
    }
    return Relatedness(domain.name, schemas, predicates, slots, frozenset(predicates) - changed)


def domain_hash(domain: Domain) -> str:
    """The digest cpddl stores with a policy: names of types, predicates and actions."""
    types = [OBJECT]
    for declared in domain.types:
        for name in (*declared.types, declared.name):
            if name not in types:
                types.append(name)
    for used in _typed_names(domain):
        if len(used.types) > 1:
            ordered = sorted(used.types, key=types.index)
            either = f"(either {' '.join(ordered)})"
            if either not in types:
                types.append(either)
    names = [
        *types,
        EQUALITY,
        *(predicate.name for predicate in domain.predicates),
        *(action.name for action in domain.actions),
    ]
    return hashlib.sha256("".join(names).encode()).hexdigest()


def _typed_names(domain: Domain) -> Iterator[TypedName]:
    yield from domain.constants
    for predicate in domain.predicates:
        yield from predicate.parameters
    for function in domain.functions:
        yield from function.parameters
    for action in domain.actions:
        yield from action.parameters


@dataclass
class _SchemaBuilder:
    """Collects related atoms in order of first mention."""

    domain: Domain
    action: Action
    related: dict[RelatedAtom, int] = field(default_factory=dict)
    equalities: list[EqualityTest] = field(default_factory=list)

    def position(self, atom: Atom) -> int:
        arguments = tuple(self.argument(term) for term in atom.arguments)
        return self.related.setdefault(RelatedAtom(atom.predicate, arguments), len(self.related))

    def argument(self, term: Term) -> Argument:
        if not term.is_variable:
            return term.name
        names = [parameter.name for parameter in self.action.parameters]
        return names.index(term.name)

    def equality(self, part: Equality, equal: bool) -> None:
        test = EqualityTest(self.argument(part.left), self.argument(part.right), equal)
        self.equalities.append(test)


def _schema(domain: Domain, action: Action) -> Schema:
    builder = _SchemaBuilder(domain, action)
    positive: dict[int, None] = {}
    negative: dict[int, None] = {}
    for condition in _flat_condition(action.precondition):
        match condition:
            case Atom():
                positive[builder.position(condition)] = None
            case Equality():
                builder.equality(condition, equal=True)
            case Not(part=Atom() as atom):
                negative[builder.position(atom)] = None
            case Not(part=Equality() as equality):
                builder.equality(equality, equal=False)
            case _:
                raise _unsupported(domain, _construct(action, condition), condition.position)
    add: dict[int, None] = {}
    delete: dict[int, None] = {}
    for effect in _flat_effect(action.effect):
        match effect:
            case Add(atom=atom):
                add[builder.position(atom)] = None
            case Delete(atom=atom):
                delete[builder.position(atom)] = None
            case Increase():
                pass  # the network does not see costs
            case _:
                raise _unsupported(domain, _construct(action, effect), effect.position)
    return Schema(
        action.name,
        action.parameters,
        tuple(builder.related),
        tuple(positive),
        tuple(negative),
        tuple(add),
        tuple(position for position in delete if position not in add),
        tuple(builder.equalities),
    )


def _flat_condition(condition: Condition) -> Iterator[Condition]:
    """Literals in textual order, those of a nested conjunction after the outer ones (as cpddl)."""
    waiting = deque([condition])
    while waiting:
        part = waiting.popleft()
        if isinstance(part, And):
            waiting.extend(part.parts)
        else:
            yield part


def _flat_effect(effect: Effect) -> Iterator[Effect]:
    waiting = deque([effect])
    while waiting:
        part = waiting.popleft()
        if isinstance(part, EffectAnd):
            waiting.extend(part.parts)
        else:
            yield part


def _construct(action: Action, part: Condition | Effect) -> str:
    words = {"When": "a conditional effect", "EffectForall": "a quantified effect"}
    kind = type(part).__name__
    return f"{words.get(kind, f'a condition of kind {kind.lower()!r}')} in action '{action.name}'"


def _unsupported(domain: Domain, construct: str, position: Position) -> UnsupportedError:
    return UnsupportedError(
        f"action schema networks cannot handle {construct}",
        Location.of(domain.path, position.line, position.column) if domain.path else None,
        "use a domain with conjunctions of literals only",
    )
