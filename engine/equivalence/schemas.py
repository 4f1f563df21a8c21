"""Lifted operators as the comparison sees them: literals, equalities and typed parameters.

What lies outside (quantifiers, disjunctions, conditional effects, derived predicates) is refused
with the construct and its place; action costs are dropped with a note.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine.errors import Location, UnsupportedError
from engine.pddl import model
from engine.pddl.model import Action, Condition, Domain, Position

LiftedAtom = tuple[int, ...]
"""A predicate's number, then its arguments: parameter `i` is `i`, constant `j` is `-1 - j`."""


@dataclass(frozen=True, slots=True)
class Schema:
    """One operator; `same` and `different` are its equality tests."""

    name: str
    parameters: tuple[str, ...]
    types: tuple[frozenset[str], ...]
    pre: frozenset[LiftedAtom]
    npre: frozenset[LiftedAtom]
    add: frozenset[LiftedAtom]
    delete: frozenset[LiftedAtom]
    same: tuple[tuple[int, int], ...] = ()
    different: tuple[tuple[int, int], ...] = ()

    @property
    def atoms(self) -> frozenset[LiftedAtom]:
        return self.pre | self.npre | self.add | self.delete

    @property
    def predicates(self) -> frozenset[int]:
        return frozenset(atom[0] for atom in self.atoms)

    @property
    def idle(self) -> bool:
        return not (self.add or self.delete)


@dataclass(frozen=True, slots=True)
class LiftedModel:
    """A domain as numbers; constants are numbered the same in both domains of a comparison."""

    domain: Domain
    predicates: tuple[str, ...]
    arities: tuple[int, ...]
    constants: tuple[str, ...]
    schemas: tuple[Schema, ...]
    notes: tuple[str, ...] = ()


def constants_of(first: Domain, second: Domain) -> tuple[str, ...]:
    """The constants of both domains; a name means the same object in both."""
    names = [constant.name for domain in (first, second) for constant in domain.constants]
    return tuple(dict.fromkeys(names))


def lift(domain: Domain, constants: tuple[str, ...]) -> LiftedModel:
    """Read every action of a domain; raises `UnsupportedError` for what cannot be decided."""
    if domain.derived:
        rule = domain.derived[0]
        raise _unsupported(domain, rule.position, f"derived predicate '{rule.predicate.name}'")
    for constant in domain.constants:
        if len(constant.types) > 1:
            what = f"'either' as the type of constant '{constant.name}'"
            raise _unsupported(domain, constant.position, what)
    names = tuple(predicate.name for predicate in domain.predicates)
    numbers = {name: number for number, name in enumerate(names)}
    reader = _Reader(domain, numbers, {name: -1 - j for j, name in enumerate(constants)})
    schemas = tuple(reader.schema(action) for action in domain.actions)
    notes = ("action costs are ignored",) if reader.saw_costs else ()
    arities = tuple(predicate.arity for predicate in domain.predicates)
    return LiftedModel(domain, names, arities, constants, schemas, notes)


def _unsupported(domain: Domain, position: Position, what: str) -> UnsupportedError:
    place = Location(domain.path or domain.name, position.line or None, position.column or None)
    return UnsupportedError(f"{what} is outside what can be compared", place)


class _Reader:
    def __init__(self, domain: Domain, predicates: dict[str, int], constants: dict[str, int]):
        self.domain = domain
        self.predicates = predicates
        self.constants = constants
        self.saw_costs = False

    def schema(self, action: Action) -> Schema:
        parameters = tuple(parameter.name for parameter in action.parameters)
        terms = self.constants | {name: index for index, name in enumerate(parameters)}
        literals = list(self._literals(action, action.precondition, wanted=True))
        add, delete = self._effects(action, terms)
        pre: set[LiftedAtom] = set()
        npre: set[LiftedAtom] = set()
        same: list[tuple[int, int]] = []
        different: list[tuple[int, int]] = []
        for literal, wanted in literals:
            if isinstance(literal, model.Equality):
                pair = (terms[literal.left.name], terms[literal.right.name])
                (same if wanted else different).append(pair)
            else:
                (pre if wanted else npre).add(self._atom(literal, terms))
        return Schema(
            name=action.name,
            parameters=parameters,
            types=tuple(frozenset(parameter.types) for parameter in action.parameters),
            pre=frozenset(pre),
            npre=frozenset(npre),
            add=frozenset(add),
            delete=frozenset(delete - add),
            same=tuple(same),
            different=tuple(different),
        )

    def _atom(self, atom: model.Atom, terms: dict[str, int]) -> LiftedAtom:
        return (self.predicates[atom.predicate], *(terms[term.name] for term in atom.arguments))

    def _literals(
        self, action: Action, condition: Condition, wanted: bool
    ) -> Iterator[tuple[model.Atom | model.Equality, bool]]:
        """The literals of a conjunction, negations pushed inwards."""
        if isinstance(condition, model.Atom | model.Equality):
            yield condition, wanted
        elif isinstance(condition, model.Not):
            yield from self._literals(action, condition.part, not wanted)
        elif isinstance(condition, model.And if wanted else model.Or) or (
            isinstance(condition, model.And | model.Or) and len(condition.parts) == 1
        ):
            for part in condition.parts:
                yield from self._literals(action, part, wanted)
        elif isinstance(condition, model.Imply) and not wanted:
            yield from self._literals(action, condition.premise, True)
            yield from self._literals(action, condition.conclusion, False)
        else:
            construct = _CONSTRUCTS[type(condition)]
            raise self._refusal(action, condition.position, f"'{construct}' in a precondition")

    def _effects(
        self, action: Action, terms: dict[str, int]
    ) -> tuple[set[LiftedAtom], set[LiftedAtom]]:
        add, delete = set(), set()
        for effect in model.effects(action.effect):
            if isinstance(effect, model.Add):
                add.add(self._atom(effect.atom, terms))
            elif isinstance(effect, model.Delete):
                delete.add(self._atom(effect.atom, terms))
            elif isinstance(effect, model.Increase):
                self.saw_costs = True
            else:
                construct = "when" if isinstance(effect, model.When) else "forall"
                raise self._refusal(action, effect.position, f"'{construct}' in an effect")
        return add, delete

    def _refusal(self, action: Action, position: Position, what: str) -> UnsupportedError:
        if not position.line:
            position = action.position
        return _unsupported(self.domain, position, f"{what} of action '{action.name}'")


_CONSTRUCTS: dict[type, str] = {
    model.And: "or",  # a negated conjunction
    model.Or: "or",
    model.Imply: "imply",
    model.Forall: "forall",
    model.Exists: "exists",
}


def project(schema: Schema, keep: dict[int, int]) -> Schema:
    """Only the literals over the predicates in `keep`, under their new numbers."""

    def part(atoms: frozenset[LiftedAtom]) -> frozenset[LiftedAtom]:
        return frozenset((keep[atom[0]], *atom[1:]) for atom in atoms if atom[0] in keep)

    return replace(
        schema,
        pre=part(schema.pre),
        npre=part(schema.npre),
        add=part(schema.add),
        delete=part(schema.delete),
    )
