"""Kinds of objects, chains of them, and what excludes what: rules 1 to 4."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

import networkx as nx

from engine.pictures.facts import Atoms, Facts, Slot, has_word
from engine.task.task import GroundAtom

Form = tuple[str, ...]
"""A predicate with the kinds of its arguments."""
Family = frozenset[Slot]
"""Slots of which at most one is filled for every object of a kind."""


class Kinds:
    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.kind = _kinds(facts)
        self.members: dict[str, list[str]] = {}
        for name in facts.objects:
            self.members.setdefault(self.kind[name], []).append(name)
        self.forms, self.static_forms = self._forms(facts.changing), self._forms(facts.static)
        self.chains, self.chain_relations = self._chains()
        self.families = self._families()
        self.functional = {slot for rows in self.families.values() for row in rows for slot in row}
        self.candidates = self._candidates()

    def form(self, atom: GroundAtom) -> Form:
        return (atom[0], *(self.kind[name] for name in atom[1:]))

    def _forms(self, atoms: Atoms) -> dict[Form, list[GroundAtom]]:
        found: dict[Form, list[GroundAtom]] = {}
        for atom in (atom for rows in atoms.values() for atom in rows):
            found.setdefault(self.form(atom), []).append(atom)
        return found

    # What the rules ask again and again, of changing predicates first.

    def arity(self, predicate: str) -> int:
        return len(self.facts.changing[predicate][0]) - 1

    def of_arity(self, arity: int) -> list[str]:
        return [predicate for predicate in self.facts.changing if self.arity(predicate) == arity]

    def kinds_at(self, slot: Slot) -> list[str]:
        forms = self.forms if slot[0] in self.facts.changing else self.static_forms
        return list(dict.fromkeys(form[slot[1] + 1] for form in forms if form[0] == slot[0]))

    def with_kind(self, kind: str, slot: Slot) -> list[Form]:
        return [f for f in self.forms if f[0] == slot[0] and f[slot[1] + 1] == kind]

    def is_functional(self, kind: str, slot: Slot) -> bool:
        return any(slot in family for family in self.families[kind])

    # The rules.

    def _chains(self) -> tuple[dict[str, list[str]], set[str]]:
        """Rule 2: kinds whose objects follow each other, such as levels of fuel."""
        found = []
        for relation, atoms in self.facts.static_relations(2):
            kinds = {self.kind[name] for atom in atoms for name in atom[1:]}
            order = _chain(self.facts, relation, atoms) if len(kinds) == 1 else []
            kind = kinds.pop()
            if order and len(order) >= 0.8 * len(self.members[kind]):
                found.append((kind, relation, order))
        chains = {kind for kind, _, _ in found}
        wide = [form[1:] for form in self.forms if len(form) > 2]
        while has_values := {f[0] for f in wide if f[0] in chains and not chains.issuperset(f)}:
            chains -= has_values
        kept = [row for row in found if row[0] in chains]
        orders = {kind: order for kind, _, order in reversed(kept)}
        return orders, {relation for _, relation, _ in kept}

    def _families(self) -> dict[str, list[Family]]:
        """Rule 3: what excludes what, by mutex groups; else by all shown states."""
        signatures: dict[str, set[Family]] = {kind: set() for kind in self.members}
        about: dict[str, list[set[GroundAtom]]] = defaultdict(list)
        for group in self.facts.groups:
            atoms = {atom for atom in group if _is_plain(atom)}
            shared = set.intersection(*(set(atom[1:]) for atom in atoms)) if atoms else set()
            for name in shared & self.kind.keys():
                about[name].append(atoms)
                family = frozenset((atom[0], atom.index(name, 1) - 1) for atom in atoms)
                signatures[self.kind[name]].add(family)
        filled: dict[tuple[str, Slot], set[GroundAtom]] = defaultdict(set)
        for atom in (atom for rows in self.facts.changing.values() for atom in rows):
            for position, name in enumerate(atom[1:] if _is_plain(atom) else ()):
                filled[name, (atom[0], position)].add(atom)
        struck = {
            (self.kind[name], slot)
            for (name, slot), atoms in filled.items()
            if len(atoms) > 1 and not any(atoms <= group for group in about[name])
        }
        found = {}
        for kind, rows in signatures.items():
            left = {frozenset(s for s in row if (kind, s) not in struck) for row in rows}
            best = [row for row in left if row and not any(row < other for other in left)]
            best += self._observed(kind, {slot for row in best for slot in row})
            found[kind] = sorted(best, key=lambda f: sorted((self.facts.rank[p], i) for p, i in f))
        return found

    def _observed(self, kind: str, known: set[Slot]) -> list[Family]:
        """Pools of other slots of which no shown state fills two for one object."""
        pools: list[tuple[list[Slot], set[tuple[int, str]]]] = []
        for predicate in sorted(self.facts.changing, key=lambda p: self.arity(p) < 2):
            arity = self.arity(predicate)
            slot = predicate, int(arity == 2 and has_word(predicate, "container first"))
            if not arity or slot in known or kind not in self.kinds_at(slot):
                continue
            filled = [(n, atom[slot[1] + 1]) for n, atom in self.facts.seen[predicate]]
            cells = {cell for cell in filled if self.kind[cell[1]] == kind}
            if len(cells) < sum(self.kind[name] == kind for _, name in filled):
                continue
            slots, taken = next((p for p in pools if p[1].isdisjoint(cells)), ([], set()))
            pools += [] if slots else [(slots, taken)]
            slots.append(slot)
            taken |= cells
        return [frozenset(s) for s, _ in pools if any(self.arity(p) > 1 for p, _ in s)]

    def _candidates(self) -> list[str]:
        """Rule 4: unary predicates that hold of one object at a time, such as `at-robby`."""
        alone = {frozenset(a for a in group if len(a) > 1) for group in self.facts.groups}
        rows = ((p, self.facts.changing[p]) for p in self.of_arity(1))
        return [p for p, atoms in rows if len(atoms) > 1 and frozenset(atoms) in alone]


def _is_plain(atom: GroundAtom) -> bool:
    """Whether no object stands in an atom twice."""
    return len(set(atom[1:])) == len(atom) - 1


def _kinds(facts: Facts) -> dict[str, str]:
    """Rule 1: declared types; else static unary predicates; else who stands in the same slots."""
    if len(set(facts.types.values())) > 1:
        return dict(facts.types)
    found: dict[str, str] = {}
    for predicate, atoms in sorted(facts.static_relations(1), key=lambda row: len(row[1])):
        for atom in atoms:
            found.setdefault(atom[1], predicate)
    graph = nx.Graph()
    graph.add_nodes_from(name for name in facts.objects if name not in found)
    for atoms in (*facts.static.values(), *facts.changing.values()):
        for atom in atoms:
            slots = ((name, (atom[0], i)) for i, name in enumerate(atom[1:]))
            graph.add_edges_from(pair for pair in slots if pair[0] not in found)
    taken: Counter[str] = Counter()
    for name in facts.objects:
        if name not in found:
            group = nx.node_connected_component(graph, name)
            title = _class_name(facts, group)
            taken[title] += 1
            found |= dict.fromkeys(group, title + (str(taken[title]) if taken[title] > 1 else ""))
    return {name: found[name] for name in facts.objects}


def _class_name(facts: Facts, group: set[str | Slot]) -> str:
    """What the names of objects have in common; else the variable that stands for them most."""
    stems = {re.split(r"[\d_-]", name, maxsplit=1)[0] for name in group if isinstance(name, str)}
    if len(stems) == 1 and "" not in stems:
        return stems.pop()
    used: Counter[str] = Counter()
    for schema in facts.schemas:
        for atom in (*schema.conditions, *schema.adds, *schema.deletes):
            for position, term in enumerate(atom[1:]):
                letters = re.sub(r"[^a-z]", "", term)
                if (atom[0], position) in group and term.startswith("?") and len(letters) > 1:
                    used[letters] += 1
    return used.most_common(1)[0][0] if used else "object"


def _chain(facts: Facts, relation: str, atoms: Sequence[GroundAtom]) -> list[str]:
    graph = nx.DiGraph([atom[1:] for atom in atoms if atom[1] != atom[2]])
    too_short = len(graph) < (2 if has_word(relation, "order") else 3)
    if too_short or not nx.is_directed_acyclic_graph(graph):
        return []
    order = list(nx.lexicographical_topological_sort(graph, key=facts.index.__getitem__))
    if not all(graph.has_edge(*pair) for pair in pairwise(order)):
        return []
    last = [[int(digits[:9]) for digits in re.findall(r"\d+", name)][-1:] for name in order]
    return order[::-1] if all(last) and all(a > b for a, b in pairwise(last)) else order
