"""The moves that make a situation smaller, and which of them are refused before any translation.

A move takes objects, goals, static facts or numbers away, or merges two objects of a chain. What
is left stays sensible: changing facts go only with their objects. See docs/theory/witnesses.md,
"Moves".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from engine.minimize.sense import Sense
from engine.minimize.situation import Situation, Value, is_cost, names_in
from engine.pddl.model import Atom, Condition, Domain, Not
from engine.pddl.traversal import static_predicates
from engine.task.lifted import substitute
from engine.task.task import GroundAtom

FIRST_STEPS = (Fraction(1), Fraction(2))
"""Numbers are tried in the order of Fibonacci's, which begin so."""


@dataclass(frozen=True, slots=True)
class Merge:
    """`x` becomes `y`; with `drop_goals` its goals go instead of being those of `y`."""

    x: str
    y: str
    drop_goals: bool = False


@dataclass(frozen=True, slots=True)
class FactUnit:
    """A static fact, with its mirror if the relation is symmetric."""

    facts: tuple[GroundAtom, ...]


@dataclass(frozen=True, slots=True)
class Numbers:
    """Function values, and what they are to become."""

    terms: tuple[GroundAtom, ...]
    value: Fraction


class Moves:
    """The moves on situations that come from one origin."""

    def __init__(
        self, domain: Domain, origin: Situation, sense: Sense, protected: Collection[str]
    ) -> None:
        self._sense, self._protected = sense, frozenset(protected)
        self._constants = frozenset(item.name for item in domain.constants)
        self._types = {item.name: item.types for item in (*domain.constants, *origin.objects)}
        self._static = static_predicates(domain)
        self._symmetric = _symmetric(origin.facts, self._static)

    def objects(self, situation: Situation) -> list[str]:
        """Those that may be removed, in declared order."""
        return [item.name for item in situation.objects if item.name not in self._protected]

    def remove_objects(self, situation: Situation, names: Iterable[str]) -> Situation | None:
        """Remove some objects, and those that cannot be without them."""
        gone = set(names)
        while True:
            rest = situation.without(gone)
            if not rest.goals:
                return None
            present = rest.names.union(self._constants)
            keys = {key for _, key in self._sense.violated(rest.facts, present)}
            if not keys:
                return rest
            for key in keys:
                if len(key) != 1 or key[0] in self._protected or key[0] in self._constants:
                    return None
                gone.add(key[0])

    def drop_goals(self, situation: Situation, goals: Collection[Condition]) -> Situation | None:
        kept = tuple(goal for goal in situation.goals if goal not in goals)
        return replace(situation, goals=kept) if kept else None

    def merges(self, situation: Situation) -> list[Merge]:
        """The merges in the order of the facts that link two objects, sorted as text."""
        found: dict[Merge, None] = {}
        traits = self._traits(situation)
        for _, *pair in sorted(fact for fact in situation.facts if len(fact) == 3):
            for x, y in (pair, reversed(pair)):
                if self._may_merge(x, y, situation, traits):
                    found[Merge(x, y)] = None
                    if any(x in names_in(goal) for goal in situation.goals):
                        found[Merge(x, y, True)] = None
        return list(found)

    def _traits(self, situation: Situation) -> dict[str, set[str]]:
        """Unary static facts by object."""
        traits: dict[str, set[str]] = {}
        for fact in situation.facts:
            if len(fact) == 2 and fact[0] in self._static:
                traits.setdefault(fact[1], set()).add(fact[0])
        return traits

    def _may_merge(self, x: str, y: str, situation: Situation, traits: dict[str, set[str]]) -> bool:
        return (
            x != y
            and x in situation.names
            and x not in self._protected
            and set(self._types[x]) == set(self._types[y])
            and traits.get(x) == traits.get(y)
        )

    def merge(self, situation: Situation, move: Merge) -> Situation | None:
        x, y = move.x, move.y
        both, binding = {x, y}, {x: y}

        def renamed(atom: GroundAtom) -> GroundAtom:
            return (atom[0], *(y if name == x else name for name in atom[1:]))

        facts = tuple(
            dict.fromkeys(renamed(fact) for fact in situation.facts if not both <= set(fact[1:]))
        )
        own = {term for term, _ in situation.values if x not in term[1:]}
        values = {
            renamed(term): value
            for term, value in situation.values
            if not both <= set(term[1:]) and (term in own or renamed(term) not in own)
        }
        goals = dict.fromkeys(
            substitute(goal, binding)
            for goal in situation.goals
            if not both.issubset(names := names_in(goal)) and not (move.drop_goals and x in names)
        )
        merged = tuple((a, y if b == x else b) for a, b in situation.merged)
        result = Situation(
            tuple(item for item in situation.objects if item.name != x),
            facts,
            tuple(values.items()),
            tuple(goals),
            (*merged, (x, y)),
        )
        return result if goals and self._sense.is_sensible(result, self._constants) else None

    def fact_units(self, situation: Situation) -> list[FactUnit]:
        """What may be taken away at once, sorted as text."""
        units: dict[FactUnit, None] = {}
        present = set(situation.facts)
        for fact in sorted(present):
            if fact[0] not in self._static:
                continue
            mirror = (fact[0], *reversed(fact[1:]))
            paired = fact[0] in self._symmetric and mirror in present and mirror != fact
            units[FactUnit(tuple(sorted({fact, mirror})) if paired else (fact,))] = None
        return list(units)

    def remove_facts(self, situation: Situation, units: Iterable[FactUnit]) -> Situation | None:
        """Remove facts; None if an object loses its last fact of a predicate in a position."""
        gone = {fact for unit in units for fact in unit.facts}
        facts = tuple(fact for fact in situation.facts if fact not in gone)
        if _places(facts).keys() != _places(situation.facts).keys():
            return None
        arguments = {fact[1:] for fact in gone} - {fact[1:] for fact in facts}
        values = tuple(
            value
            for value in situation.values
            if is_cost(value) or not value[0][1:] or value[0][1:] not in arguments
        )
        return replace(situation, facts=facts, values=values)

    def numbers(self, situation: Situation) -> Iterator[list[Numbers]]:
        """Per function all values to one, then per value what it may become, smallest first."""
        values = [value for value in situation.values if not is_cost(value)]
        for function in sorted({term[0] for term, _ in values}):
            own = [(term, value) for term, value in values if term[0] == function]
            larger = tuple(term for term, value in own if value > 1)
            if len(larger) > 1:
                yield [Numbers(larger, Fraction(1))]
            for terms, value in _mirrored(own):
                yield [Numbers(terms, smaller) for smaller in smaller_numbers(value)]

    def set_numbers(self, situation: Situation, move: Numbers) -> Situation | None:
        present = dict(situation.values)
        if any(present.get(term, 0) <= move.value for term in move.terms):
            return None  # another move of this round was there before
        values = tuple(
            (term, move.value if term in move.terms else value) for term, value in situation.values
        )
        return replace(situation, values=values)


def _symmetric(facts: Sequence[GroundAtom], static: Collection[str]) -> frozenset[str]:
    """Binary static predicates that hold in both directions wherever they hold."""
    present = set(facts)
    binary = {fact[0] for fact in facts if len(fact) == 3 and fact[0] in static}
    one_way = {f[0] for f in facts if len(f) == 3 and (f[0], f[2], f[1]) not in present}
    return frozenset(binary - one_way)


def _places(facts: Iterable[GroundAtom]) -> Counter[tuple[str, int, str]]:
    """How many facts of a predicate have an object in a position."""
    return Counter((fact[0], place, name) for fact in facts for place, name in enumerate(fact[1:]))


def _mirrored(values: Sequence[Value]) -> Iterator[tuple[tuple[GroundAtom, ...], Fraction]]:
    """Each value once, together with its mirror if that is equal."""
    known = dict(values)
    done: set[GroundAtom] = set()
    for term, value in values:
        mirror = (term[0], *reversed(term[1:]))
        if term in done:
            continue
        terms = (term, mirror) if mirror != term and known.get(mirror) == value else (term,)
        done.update(terms)
        yield terms, value


def smaller_numbers(value: Fraction) -> list[Fraction]:
    """1, 2, 3, 5, 8, ... below a number, and the number minus one."""
    found = []
    low, high = FIRST_STEPS
    while low < value:
        found.append(low)
        low, high = high, low + high
    if value - 1 >= 1 and value - 1 not in found:
        found.append(value - 1)
    return found


def literal(goal: Condition) -> tuple[Atom, bool] | None:
    """Return the atom of a goal and whether it must hold; None if the goal is not a literal."""
    match goal:
        case Atom():
            return goal, True
        case Not(Atom() as atom):
            return atom, False
    return None
