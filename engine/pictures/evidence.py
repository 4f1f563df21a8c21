"""Which slots say where something is, along what it moves, and what stays: rules 5 and 6."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, permutations, product

import networkx as nx

from engine.pictures.facts import Facts, Schema, Slot, has_word
from engine.pictures.kinds import Kinds
from engine.task.task import GroundAtom

Move = tuple[str, int, int]
"""A static relation along which something moves, from one position to another."""


class Evidence(Kinds):
    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self.points: Counter[Slot] = Counter()  # that a slot says where something is
        self.moves: dict[tuple[Slot, Move], None] = {}
        self.regions: set[str] = set()
        for schema in facts.schemas:
            for deleted, added in product(schema.deletes, schema.adds):
                self._step(schema, deleted, added)
            self._meetings(schema)
        self.points.update(slot for slot in self.functional if has_word(slot[0], "location"))
        static = [p for p in facts.static if p not in facts.changing]
        self.arithmetic = {p for p in static if self._is_arithmetic(p)}
        self.no_map = self.arithmetic | {p for p in static if self._is_inequality(p)}
        self.values = {kind for kind in self.members if self._is_value_kind(kind)}
        usable = [m for _, m in self.moves if m[0] not in self.no_map and m[0] in facts.static]
        ends = {k for p, *at in usable for i in at for k in self.kinds_at((p, i))}
        self.map_kinds = ends - self.chains.keys() - self.values
        self.chain_places = set(self._chain_places())
        relations = [p for p in static if p not in self.no_map | self.chain_relations]
        self.nets = {kind: list(self._nets(kind, relations)) for kind in self.members}

    # Rule 5.

    def _slots(self, atom: GroundAtom) -> Iterator[tuple[Slot, str, set[str]]]:
        """Functional slots of an atom, with who fills them and the values."""
        for i, term in enumerate(atom[1:]):
            if (atom[0], i) in self.functional:
                yield (atom[0], i), term, {*atom[1 : i + 1], *atom[i + 2 :]}

    def _step(self, schema: Schema, deleted: GroundAtom, added: GroundAtom) -> None:
        if deleted[0] == added[0] in self.candidates and deleted != added:
            for move in self._joining(schema, {deleted[1]}, {added[1]}):
                self.moves[(deleted[0], 0), move] = None
        for before, after in product(self._slots(deleted), self._slots(added)):
            if before[1] == after[1]:
                self._transition(schema, (before[0], after[0]), before[2], after[2])

    def _transition(
        self, schema: Schema, slots: tuple[Slot, Slot], old: set[str], new: set[str]
    ) -> None:
        for condition in schema.conditions:
            if condition[0] in self.facts.changing:
                if len(condition) == 3 and condition not in schema.deletes:
                    for slot, carrier, place in self._slots(condition):
                        if (place & old and carrier in new) or (carrier in old and place & new):
                            self.points.update((*slots, slot) * 4)
                if condition[0] in self.candidates and condition[1] in old | new:
                    self.points.update(slots * 4)
        if slots[0] == slots[1] and old != new:
            moves = list(self._joining(schema, old, new))
            self.points[slots[0]] += bool(moves)
            self.moves |= {(slots[0], move): None for move in moves}
            static = [c for c in schema.conditions if len(c) == 3]
            for a, b in permutations(static, 2):
                shared = a[0] == b[0] not in self.facts.changing and a[2] == b[2]
                if shared and a[1] in old and b[1] in new and a[1] != b[1]:
                    self.regions.add(a[0])

    def _joining(self, schema: Schema, old: set[str], new: set[str]) -> Iterator[Move]:
        """Static conditions that join an old with a new value."""
        for condition in schema.conditions:
            if condition[0] not in self.facts.changing:
                for (i, a), (j, b) in permutations(enumerate(condition[1:]), 2):
                    if a in old and b in new and a != b:
                        yield condition[0], i, j

    def _meetings(self, schema: Schema) -> None:
        """Conditions on two things at one place."""
        changing = [c for c in schema.conditions if c[0] in self.facts.changing]
        for one, other in combinations(changing, 2):
            for first, second in product(self._slots(one), self._slots(other)):
                if first[1] != second[1] and first[2] & second[2]:
                    self.points.update((first[0], second[0]) * 2)
        places = {c[1] for c in changing if c[0] in self.candidates}
        for slot, _, values in (s for c in changing if len(c) == 3 for s in self._slots(c)):
            self.points[slot] += 2 * bool(values & places)

    # Rule 6.

    def _is_arithmetic(self, predicate: str) -> bool:
        arity = len(self.facts.static[predicate][0]) - 1
        at = Counter(k for i in range(arity) for k in self.kinds_at((predicate, i)))
        return arity > 2 and max(at.values()) > 2 and not has_word(predicate, "neighbors")

    def _is_inequality(self, predicate: str) -> bool:
        pairs = [a[1:] for a in self.facts.static[predicate] if len(a) == 3 and a[1] != a[2]]
        graph = nx.DiGraph(pairs)
        return len(graph) >= 4 and bool(nx.density(graph) >= 0.95)

    def _is_value_kind(self, kind: str) -> bool:
        """Whether its objects are mere values: constants that are the place of no object."""
        names = self.members[kind]
        if len(names) < 2 or not self.facts.constants.issuperset(names) or len(self.members) < 2:
            return False
        for form in self.forms:
            if kind in form[1:2] and not (len(form) == 2 and form[0] in self.candidates):
                return False
            for i in (0, 1) if len(form) == 3 else ():
                slot = form[0], i
                told = has_word(form[0], "location") or self.points[slot] >= 2
                if slot in self.functional and told and form[2 - i] == kind:
                    return False
        return True

    def _nets(self, kind: str, relations: list[str]) -> Iterator[Move]:
        for relation in relations:
            positions = range(len(self.facts.static[relation][0]) - 1)
            where = [i for i in positions if kind in self.kinds_at((relation, i))]
            yield from ((relation, u, v) for u, v in combinations(where, 2))

    def _chain_places(self) -> Iterator[tuple[str, str]]:
        """Predicates by which things meet at a member of a chain, with its kind: floors."""
        for kind in self.chains:
            for family in self.families[kind]:
                yield from ((p, kind) for p, i in family if len(family) > 1 and i)
        for schema in self.facts.schemas:
            binary = [c for c in schema.conditions if len(c) == 3]
            pairs = [{*c[1:]} for c in binary if c[0] not in self.chain_relations]
            for predicate, *terms in schema.conditions:
                for i, term in enumerate(terms if predicate in self.facts.changing else ()):
                    meets = any(term in pair and not pair <= {*terms} for pair in pairs)
                    if meets and (i or len(terms) == 1):
                        kinds = self.kinds_at((predicate, i))
                        yield from ((predicate, kind) for kind in kinds if kind in self.chains)
