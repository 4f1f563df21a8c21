"""Covers of one domain's operators by the other domain, for whole and for partial mappings.

Projection lemma: if operator o is covered under a mapping, then o restricted to some predicates
is covered by the other domain restricted to their images. So a failing restriction refutes every
mapping that agrees on those predicates (and types). Unmapped types fit everywhere, which is sound
for the same reason: it only helps the covering domain. Results are shared by content.
See docs/theory/equivalence.md, "Projection lemma".
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from engine.equivalence.budget import Budget
from engine.equivalence.ground_cover import Case, Cover, Gap, cover, shortest_covers
from engine.equivalence.grounding import Rule, Step, TooManyStatesError
from engine.equivalence.instances import Change, GroundAtom, Instance, ground_change, instances
from engine.equivalence.schemas import LiftedModel, Schema, project
from engine.equivalence.sorts import Sort, SortTable

Image = tuple[int, tuple[int, ...]]
"""A predicate of the other domain, and which argument of ours each of its arguments is."""

CoveredClass = dict[tuple[Change, tuple[Sort, ...]], int]

PROJECTION_BOUND = 1000
"""States or ground actions after which a projected check gives up and counts as covered."""


@dataclass(frozen=True, slots=True)
class Renaming:
    """How predicates (and types, unless they go by name) are called in the covering domain."""

    predicates: Mapping[int, Image]
    types: Mapping[str, str] | None

    def atom(self, atom: GroundAtom) -> GroundAtom:
        predicate, order = self.predicates[atom[0]]
        return (predicate, *(atom[1 + position] for position in order))

    def sort(self, sort: Sort) -> Sort | None:
        """None: not all types are mapped, the object fits everywhere."""
        if self.types is None:
            return sort
        if any(name not in self.types for name in sort):
            return None
        return frozenset(self.types[name] for name in sort)


def rename_change(change: Change, renaming: Renaming) -> Change:
    """The change in the covering domain's words, without the predicates that are not mapped."""

    def part(atoms: Iterable[GroundAtom]) -> frozenset[GroundAtom]:
        return frozenset(renaming.atom(atom) for atom in atoms if atom[0] in renaming.predicates)

    return Change(part(change.pre), part(change.npre), part(change.add), part(change.delete))


class Coverage:
    """One direction: the operators of `covered`, done by the operators of `covering`."""

    def __init__(
        self,
        covered: LiftedModel,
        covering: LiftedModel,
        tables: tuple[SortTable, SortTable],
        distinct: bool,
        budget: Budget,
    ) -> None:
        self.covered = covered
        self.covering = covering
        self.distinct = distinct
        self._budget = budget
        own, their = _constant_sorts(covered, tables[0]), _constant_sorts(covering, tables[1])
        self._covered_constants = tuple({**their, **own}[name] for name in covered.constants)
        self._covering_constants = tuple({**own, **their}[name] for name in covered.constants)
        self._instances = [
            _Remembered(instances(s, tables[0], self._covered_constants, distinct))
            for s in covered.schemas
        ]
        self._whole_rules: dict[tuple[Sort | None, ...], list[Rule]] = {}
        self._whole: dict[tuple[object, ...], Cover | Gap] = {}
        self._parts: dict[tuple[object, ...], Gap | None] = {}
        self._projections: dict[tuple[int, ...], frozenset[Schema]] = {}
        self._interned: dict[frozenset[Schema], frozenset[Schema]] = {}
        self._classes: list[CoveredClass] = []

    def instances(self, operator: int) -> Iterator[tuple[int, Instance]]:
        """The operator's instances with their numbers; made when they are first needed."""
        for number in itertools.count():
            self._budget.tick()
            instance = self._instances[operator].get(number)
            if instance is None:
                return
            yield number, instance

    def instance(self, operator: int, number: int) -> Instance:
        found = self._instances[operator].get(number)
        assert found is not None
        return found

    def covered_class(self, predicate: int) -> CoveredClass:
        """What the operators do to one predicate, seen alone; the operators are examples."""
        if not self._classes:
            self._classes = [{} for _ in self.covered.predicates]
            for operator, schema in enumerate(self.covered.schemas):
                general = self._instances[operator].get(0)
                if general is None or general.change.idle:
                    continue
                for used in schema.predicates:
                    self._budget.tick()
                    alone = Renaming({used: (0, tuple(range(self.covered.arities[used])))}, {})
                    shape = (rename_change(general.change, alone), general.sorts)
                    self._classes[used].setdefault(shape, operator)
        return self._classes[predicate]

    def covering_class(self, predicate: int) -> frozenset[Schema]:
        """The covering domain restricted to one predicate."""
        return self._projection((predicate,))

    def types_of(self, instance: Instance) -> frozenset[str]:
        """The types whose names the covering domain has to know for this instance."""
        fresh = instance.sorts[len(self._covered_constants) :]
        return frozenset().union(*fresh)

    def whole(self, operator: int, number: int, renaming: Renaming) -> Cover | Gap:
        """Cover one instance with the complete other domain."""
        key = (operator, number, self._relevant(operator, renaming))
        if key not in self._whole:
            instance = self.instance(operator, number)
            target = rename_change(instance.change, renaming)
            sorts = self._sorts(instance, renaming)
            reused = self._reuse(key, instance, target, sorts) if number else None
            self._whole[key] = reused or cover(target, self._rules(sorts), self._budget)
        return self._whole[key]

    def shortest(
        self, operator: int, renaming: Renaming, most: int
    ) -> tuple[list[tuple[Step, ...]], bool]:
        """All shortest macros for the operator's first instance, and whether these are all."""
        instance = self.instance(operator, 0)
        target = rename_change(instance.change, renaming)
        rules = self._rules(self._sorts(instance, renaming))
        return shortest_covers(target, rules, self._budget, most)

    def part(self, operator: int, number: int, renaming: Renaming) -> Gap | None:
        """A gap of one instance restricted to the mapped predicates and types, if there is one."""
        instance = self.instance(operator, number)
        if instance.change.idle:
            return None
        kept = sorted(renaming.predicates)
        images = tuple(renaming.predicates[predicate][0] for predicate in kept)
        labels = {p: (i, renaming.predicates[p][1]) for i, p in enumerate(kept)}
        target = rename_change(instance.change, Renaming(labels, renaming.types))
        sorts = self._sorts(instance, renaming)
        schemas = self._projection(images)
        key = (target, sorts, schemas)
        if key not in self._parts:
            rules = _rules(enumerate(schemas), sorts, self.distinct)
            try:
                found = cover(target, rules, self._budget, PROJECTION_BOUND)
            except TooManyStatesError:
                found = ()
            self._parts[key] = found if isinstance(found, Gap) else None
        return self._parts[key]

    def _relevant(self, operator: int, renaming: Renaming) -> tuple[object, ...]:
        predicates = sorted(self.covered.schemas[operator].predicates)
        images = tuple(renaming.predicates[predicate] for predicate in predicates)
        if renaming.types is None:
            return images
        return (*images, *sorted(renaming.types.items()))

    def _sorts(self, instance: Instance, renaming: Renaming) -> tuple[Sort | None, ...]:
        fresh = instance.sorts[len(self._covering_constants) :]
        return (*self._covering_constants, *(renaming.sort(sort) for sort in fresh))

    def _rules(self, sorts: tuple[Sort | None, ...]) -> list[Rule]:
        if sorts not in self._whole_rules:
            schemas = [(i, s) for i, s in enumerate(self.covering.schemas) if not s.idle]
            self._whole_rules[sorts] = _rules(schemas, sorts, self.distinct)
        return self._whole_rules[sorts]

    def _reuse(
        self,
        key: tuple[int, int, tuple[object, ...]],
        instance: Instance,
        target: Change,
        sorts: tuple[Sort | None, ...],
    ) -> Cover | None:
        """The macro of the operator's first instance, if it also does this one."""
        general = self._whole.get((key[0], 0, key[2]))
        if general is None or isinstance(general, Gap) or len(general) > 1:
            return None
        constants = len(self._covering_constants)
        first = self.instance(key[0], 0).arguments
        if first != tuple(range(constants, constants + len(first))):
            return None
        objects = (*range(constants), *instance.arguments)
        steps = [(i, tuple(objects[a] for a in arguments)) for i, arguments in general[0].steps]
        known = {rule.index: rule for rule in self._rules(sorts)}
        changes = []
        for index, arguments in steps:
            rule = known.get(index)  # None: no object of these sorts fits
            if rule is None or not rule.admits(arguments):
                return None
            changes.append(ground_change(rule.schema, arguments))
        if not does_uniformly(target, changes):
            return None
        return (Case(frozenset(), frozenset(), tuple(steps)),)

    def _projection(self, images: tuple[int, ...]) -> frozenset[Schema]:
        """The covering domain restricted to some predicates, its operators in canonical form."""
        if images not in self._projections:
            self._budget.tick()
            keep = {image: label for label, image in enumerate(images)}
            restricted = (project(schema, keep) for schema in self.covering.schemas)
            useful = (schema for schema in restricted if not schema.idle)
            content = frozenset(canonical(schema) for schema in useful)
            self._projections[images] = self._interned.setdefault(content, content)
        return self._projections[images]


class _Remembered:
    """The items of an iterator, produced once, on demand."""

    def __init__(self, source: Iterator[Instance]) -> None:
        self._source = source
        self._items: list[Instance] = []

    def get(self, number: int) -> Instance | None:
        while len(self._items) <= number:
            item = next(self._source, None)
            if item is None:
                return None
            self._items.append(item)
        return self._items[number]


def _constant_sorts(lifted: LiftedModel, table: SortTable) -> dict[str, Sort]:
    return {constant.name: table.of_type[constant.types[0]] for constant in lifted.domain.constants}


def _rules(
    schemas: Iterable[tuple[int, Schema]], sorts: tuple[Sort | None, ...], distinct: bool
) -> list[Rule]:
    rules = []
    for index, schema in schemas:
        allowed = tuple(
            frozenset(o for o, sort in enumerate(sorts) if sort is None or sort & types)
            for types in schema.types
        )
        if all(allowed):
            rules.append(Rule.of(index, schema, allowed, distinct))
    return rules


def does_uniformly(target: Change, changes: Iterable[Change]) -> bool:
    """Do the changes in sequence have the target's precondition and net effect, and no other?"""
    true, false = target.pre, target.npre
    for change in changes:
        if not (change.pre <= true and change.npre <= false and change.atoms <= target.atoms):
            return False
        true = true - change.delete | change.add
        false = false - change.add | change.delete
    wanted_true = target.pre - target.delete | target.add
    return true == wanted_true and false == target.npre - target.add | target.delete


def canonical(schema: Schema) -> Schema:
    """The same operator without its name, unused parameters and the order of parameters.

    Operators that differ only in these share one form in most cases, which is all that sharing
    results needs.
    """
    roles = (schema.pre, schema.npre, schema.add, schema.delete)
    occurrences: dict[int, list[tuple[int, ...]]] = {}
    for role, atoms in enumerate(roles):
        for atom in atoms:
            for position, term in enumerate(atom[1:]):
                if term >= 0:
                    occurrences.setdefault(term, []).append((role, atom[0], position, len(atom)))
    for role, pairs in enumerate((schema.same, schema.different), start=len(roles)):
        for term in itertools.chain(*pairs):
            if term >= 0:
                occurrences.setdefault(term, []).append((role,))
    order = sorted(occurrences, key=lambda t: (sorted(occurrences[t]), sorted(schema.types[t]), t))
    new = {term: number for number, term in enumerate(order)}

    def renumber(terms: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(term if term < 0 else new[term] for term in terms)

    def part(atoms: frozenset[GroundAtom]) -> frozenset[GroundAtom]:
        return frozenset((atom[0], *renumber(atom[1:])) for atom in atoms)

    return Schema(
        name="",
        parameters=("",) * len(order),
        types=tuple(schema.types[term] for term in order),
        pre=part(schema.pre),
        npre=part(schema.npre),
        add=part(schema.add),
        delete=part(schema.delete),
        same=tuple((a, b) for a, b in map(renumber, schema.same)),
        different=tuple((a, b) for a, b in map(renumber, schema.different)),
    )
