"""From the prover's numbers to evidence in the names of the two domains."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from engine.equivalence.ground_cover import Case, Cover, Gap
from engine.equivalence.instances import GroundAtom, Instance
from engine.equivalence.mapping import Candidate, Conflict, renaming
from engine.equivalence.mapping_search import Checked
from engine.equivalence.operator_cover import Coverage, Renaming
from engine.equivalence.schemas import LiftedModel, Schema
from engine.equivalence.sorts import Sort, SortTable, TypeMatch
from engine.pddl.model import Atom, Term
from engine.records.comparison import (
    SIDES,
    Exclusion,
    Macro,
    MacroCase,
    MacroStep,
    OperatorCover,
    Pattern,
    PredicatePair,
    ThingOfBoth,
)


class Names:
    """Puts names to predicates, objects and types of both domains."""

    def __init__(
        self,
        models: tuple[LiftedModel, LiftedModel],
        match: TypeMatch,
        directions: tuple[Coverage, Coverage],
    ) -> None:
        self._models = models
        self._match = match
        self._directions = directions

    def predicate_pairs(self, candidate: Candidate) -> tuple[PredicatePair, ...]:
        return tuple(self._pair(p, image) for p, image in enumerate(candidate.predicates))

    def _pair(self, p: int, image: tuple[int, tuple[int, ...]]) -> PredicatePair:
        first, second = self._models
        return PredicatePair(first.predicates[p], second.predicates[image[0]], image[1])

    def type_pairs(self, candidate: Candidate) -> tuple[tuple[str, str], ...]:
        if candidate.types is not None:
            return candidate.types
        known = set(self._match.second.of_type)
        return tuple((name, name) for name in sorted(self._match.first.of_type) if name in known)

    def atom(self, side: int, atom: GroundAtom, objects: list[str]) -> Atom:
        predicate = self._models[side].predicates[atom[0]]
        return Atom(predicate, tuple(Term(objects[value]) for value in atom[1:]))

    def objects(self, schema: Schema, instance: Instance) -> list[str]:
        """Constants under their names, fresh objects under that of their first parameter."""
        constants = self._models[0].constants
        fresh = range(len(constants), len(instance.sorts))
        first = (schema.parameters[instance.arguments.index(value)] for value in fresh)
        return [*constants, *first]

    def things(
        self, direction: int, schema: Schema, instance: Instance, names: Renaming
    ) -> tuple[ThingOfBoth, ...]:
        mine, theirs = self._tables(direction)
        things = []
        constants = len(self._models[0].constants)
        for number, name in enumerate(self.objects(schema, instance)):
            if number < constants:
                types = self._constant_types(name)
            else:
                sort = instance.sorts[number]
                own, other = mine.type_of(sort), _type_name(names.sort(sort), theirs.type_of)
                types = (own, other) if direction == 0 else (other, own)
            things.append(ThingOfBoth(name, *types))
        return tuple(things)

    def _tables(self, direction: int) -> tuple[SortTable, SortTable]:
        tables = (self._match.first, self._match.second)
        return tables if direction == 0 else tables[::-1]

    def _constant_types(self, name: str) -> tuple[str | None, str | None]:
        """A constant that one domain does not declare has the other's type there."""
        declared = [
            {c.name: c.types[0] for c in model.domain.constants}.get(name) for model in self._models
        ]
        return declared[0] or declared[1], declared[1] or declared[0]

    # Covers

    def operator_covers(
        self, checked: Checked, look: Callable[[], None], most: int = 0
    ) -> tuple[OperatorCover, ...]:
        """In the order of the files; `look` is called between operators.

        `most` is the number of shortest macros to list for each.
        """
        found = []
        for direction, coverage in enumerate(self._directions):
            names = renaming(checked.candidate.elements(), direction, self._match.by_name)
            for operator, schema in enumerate(coverage.covered.schemas):
                look()
                covers = checked.covers.get((direction, operator))
                macros: tuple[Macro, ...] = ()
                shortest: tuple[MacroCase, ...] = ()
                is_all = True
                if covers is not None:
                    macros = self._macros(direction, operator, covers, names)
                if covers and most:
                    shortest, is_all = self._shortest(direction, operator, names, most)
                found.append(
                    OperatorCover(
                        SIDES[direction],
                        schema.name,
                        schema.parameters,
                        covers is not None,
                        macros,
                        shortest,
                        is_all,
                    )
                )
        return tuple(found)

    def _shortest(
        self, direction: int, operator: int, names: Renaming, most: int
    ) -> tuple[tuple[MacroCase, ...], bool]:
        coverage = self._directions[direction]
        schema = coverage.covered.schemas[operator]
        objects = self.objects(schema, coverage.instance(operator, 0))
        found, is_all = coverage.shortest(operator, names, most)
        cases = (Case(frozenset(), frozenset(), steps) for steps in found)
        return tuple(self._case(direction, case, objects) for case in cases), is_all

    def _macros(
        self, direction: int, operator: int, covers: list[Cover], names: Renaming
    ) -> tuple[Macro, ...]:
        """One macro per instance; instances that only bind the first one's macro join it."""
        coverage = self._directions[direction]
        schema = coverage.covered.schemas[operator]
        macros: list[Macro] = []
        joined: list[Pattern] = []
        for number, found in enumerate(covers):
            instance = coverage.instance(operator, number)
            objects = self.objects(schema, instance)
            pattern = Pattern(
                tuple(
                    zip(schema.parameters, (objects[a] for a in instance.arguments), strict=True)
                ),
                self.things(direction, schema, instance, names),
            )
            cases = tuple(self._case(direction, case, objects) for case in found)
            if macros and _bound(macros[0], pattern) == cases:
                joined.append(pattern)
            else:
                macros.append(Macro((pattern,), cases))
        if macros:
            macros[0] = Macro((*macros[0].patterns, *joined), macros[0].cases)
        return tuple(macros)

    def _case(self, direction: int, case: Case, objects: list[str]) -> MacroCase:
        covering = 1 - direction
        schemas = self._models[covering].schemas

        def atoms(some: Iterable[GroundAtom]) -> tuple[Atom, ...]:
            return tuple(self.atom(covering, atom, objects) for atom in sorted(some))

        steps = tuple(
            MacroStep(schemas[index].name, tuple(objects[value] for value in arguments))
            for index, arguments in case.steps
        )
        return MacroCase(atoms(case.true), atoms(case.false), steps)

    # Refutations

    def exclusion(self, conflict: Conflict) -> Exclusion:
        direction = conflict.direction
        coverage = self._directions[direction]
        names = renaming(conflict.elements, direction, self._match.by_name)
        schema = coverage.covered.schemas[conflict.operator]
        instance = coverage.instance(conflict.operator, conflict.instance)
        objects = self.objects(schema, instance)
        gap = coverage.part(conflict.operator, conflict.instance, names)
        projected = gap is not None
        if gap is None:
            whole = coverage.whole(conflict.operator, conflict.instance, names)
            assert isinstance(whole, Gap)
            gap, images = whole, None
        else:
            images = [names.predicates[p][0] for p in sorted(names.predicates)]
        state = tuple(
            self.atom(1 - direction, (images[a[0]] if images else a[0], *a[1:]), objects)
            for a in sorted(gap.state)
        )
        predicates, types = [], []
        for kind, mine, theirs in sorted(conflict.elements, key=repr):
            if kind == "type":
                types.append((str(mine), str(theirs)))
            elif isinstance(mine, int) and isinstance(theirs, tuple):
                predicates.append(self._pair(mine, theirs))
        return Exclusion(
            predicates=tuple(predicates),
            types=tuple(types),
            domain=SIDES[direction],
            operator=schema.name,
            arguments=tuple(objects[value] for value in instance.arguments),
            objects=self.things(direction, schema, instance, names),
            state=state,
            projected=projected,
        )


def _type_name(sort: Sort | None, name: Callable[[Sort], str]) -> str | None:
    return None if sort is None else name(sort)


def _bound(macro: Macro, pattern: Pattern) -> tuple[MacroCase, ...] | None:
    """The macro's cases with its parameters bound as in the pattern."""
    if len(macro.cases) != 1 or macro.patterns[0].coincidences or macro.cases[0].condition:
        return None
    names = dict(pattern.bindings)
    steps = tuple(
        MacroStep(step.operator, tuple(names.get(a, a) for a in step.arguments))
        for step in macro.cases[0].steps
    )
    return (MacroCase((), (), steps),)
