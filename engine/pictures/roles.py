"""The role of every predicate in a picture: rules 7 to 15.

A rule that finds nothing gives its empty result; what it would have shown is then a mark, or it is
listed in words. So every subset of the rules gives a true picture.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import networkx as nx

from engine.pictures.evidence import Evidence, Move
from engine.pictures.facts import Facts, Schema, Slot, has_word
from engine.pictures.kinds import Family, Form


@dataclass(frozen=True)
class _Option:
    """Slots that could say where the objects of a kind are."""

    kind: str
    slots: Family
    values: dict[Slot, set[str]]  # objects
    hosts: set[str]
    points: int
    score: tuple[int, int, int]


class Roles(Evidence):
    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self.location: dict[str, Family] = {}  # by kind: slots that say where its objects are
        self.places: set[str] = set()  # kinds
        self.map: dict[Move, None] = {}
        self._locate()
        self.virtual = {
            p for slots in self.location.values() for p, _ in slots if self.arity(p) == 1
        }
        binary = [(form, i) for form in self.forms if len(form) == 3 for i in (0, 1)]
        self._located = [(form, i) for form, i in binary if self._locates(form, i)]
        self._contents = {(f[2 - i], (f[0], 1 - i)) for f, i in self._located}
        self.stacks = {form[0] for form, _ in self._located if form[1] == form[2]}
        hosts = {form[2 - i] for form, i in self._located}
        self.tokens: dict[str, str] = {}  # things that are no objects, with their names
        self.global_gauges: dict[str, str] = {}  # with the kind of their values
        self._find_tokens(hosts)
        self._draw_map(hosts.union(*(self.kinds_at((p, 0)) for p in self.tokens)))
        self.parents: dict[str, Slot] = {}  # by kind: static relation, position of the child
        self._find_parents()
        self.static_attributes = set(self._static_attributes())
        self.emptiness = {p for p in facts.changing if self._is_emptiness(p)}
        self.gauges: dict[Slot, str] = {}  # with the kind of their values
        self.attributes: set[Slot] = set()
        self._find_values()
        self.attached = dict(self._attached())  # kinds and virtual places that go with a token
        self.rides = dict(self._rides())
        self.anchors = dict(reversed(list(self._anchors())))
        self.tag_hosts = dict(self._tags())

    def located_slot(self, form: Form) -> int | None:
        """The position of the object that atoms of this form locate."""
        return next((i for i in range(len(form) - 1) if self._locates(form, i)), None)

    def _locates(self, form: Form, position: int) -> bool:
        return (form[0], position) in self.location.get(form[position + 1], ())

    def is_value(self, form: Form) -> bool:
        """Whether such atoms are gauges or attributes of their first object."""
        slot = form[0], 0
        told = slot in self.gauges or slot in self.attributes
        return len(form) == 3 and told and self.is_functional(form[1], slot)

    def parent_pairs(self) -> Iterator[tuple[str, str, str]]:
        """Static parents: child, relation, parent."""
        for kind, (relation, i) in self.parents.items():
            for form in self._static_with(kind, relation, i):
                for atom in self.static_forms[form]:
                    yield atom[i + 1], relation, atom[2 - i]

    def _static_with(self, kind: str, relation: str, position: int) -> list[Form]:
        binary = [f for f in self.static_forms if f[0] == relation and len(f) == 3]
        return [form for form in binary if form[position + 1] == kind]

    def _is_movable(self, kind: str) -> bool:
        return not any(kind in fixed for fixed in (self.chains, self.values, self.map_kinds))

    def _only_values(self, kinds: Iterable[str], predicate: str | None) -> bool:
        """Whether kinds are all values or all chains; `predicate` may make chains places."""
        places = {kind for p, kind in self.chain_places if predicate in (p, None)}
        return self.values.issuperset(kinds) or (self.chains.keys() - places).issuperset(kinds)

    # Rule 7.

    def _direction(self, form: Form) -> int | None:
        """Which argument of a binary predicate is the one that lies in the other."""
        predicate = form[0]
        movable = [i for i in (0, 1) if self._is_movable(form[i + 1])]
        able = [i for i in movable if self.is_functional(form[i + 1], (predicate, i))]
        container_first = has_word(predicate, "container first")
        if len(able) < 2:
            return None if able == [0] and container_first else next(iter(able), None)
        if form[1] == form[2]:
            return int(container_first)

        def weight(position: int) -> tuple[int, bool, bool]:
            families = self.families[form[position + 1]]
            largest = max((f for f in families if (predicate, position) in f), key=len)
            wide = sum(self.arity(p) > 1 for p, _ in largest)
            return wide, container_first and position == 1, position == 0

        return max((0, 1), key=weight)

    # Rule 8.

    def _option(self, kind: str, family: Family) -> _Option:
        values: dict[Slot, set[str]] = {}
        hosts: set[str] = set()
        for slot in family:
            i, forms = slot[1], self.with_kind(kind, slot)
            held = {f[2 - i] for f in forms if len(f) == 3 and self._direction(f) == i}
            if held and not self._only_values({f[2 - i] for f in forms}, slot[0]):
                values[slot] = {atom[2 - i] for form in forms for atom in self.forms[form]}
                hosts |= held
        slots = values.keys() | {slot for slot in family if self.arity(slot[0]) == 1}
        points = max((self.points[slot] for slot in slots), default=0)
        first, distinct = sum(i == 0 for _, i in values), len(set().union(*values.values()))
        score = min(points, 12) + 2 * len(values), first, distinct
        return _Option(kind, frozenset(slots), values, hosts, points, score)

    def _locate(self) -> None:
        def order(option: _Option) -> tuple[object, ...]:
            ranks = sorted(self.facts.rank[p] for p, _ in option.slots)
            return *(-part for part in option.score), ranks

        movable = [kind for kind in self.members if self._is_movable(kind)]
        rows = [[self._option(kind, family) for family in self.families[kind]] for kind in movable]
        options = [sorted((o for o in row if o.values), key=order) for row in rows]
        inside = nx.empty_graph(self.members, nx.DiGraph)
        for row in sorted(filter(None, options), key=lambda row: order(row[0])[:3]):
            kind, passing = row[0].kind, [option for option in row if self._passes(option, inside)]
            if passing:
                best = next((o for o in passing[1:] if self._is_finer(o, passing[0])), passing[0])
                self.location[kind] = best.slots
                inside.add_edges_from((kind, host) for host in best.hosts)
        for kind in movable:
            slots = self._lonely_places(kind)
            if kind not in self.location and slots and not self._parent_options(kind):
                self.location[kind] = slots

    def _passes(self, option: _Option, inside: nx.DiGraph) -> bool:
        if option.points < 2 and self._parent_options(option.kind):
            return False
        subjects = {form[1] for form in self.forms if len(form) > 1}
        kinds = {self.kind[name] for names in option.values.values() for name in names}
        if option.points == 0 and kinds.isdisjoint(subjects):
            return False
        hosts = option.hosts - {option.kind}
        return not any(nx.has_path(inside, host, option.kind) for host in hosts)

    def _is_finer(self, other: _Option, chosen: _Option) -> bool:
        """Crates on pallets say more than crates at depots."""
        own = set().union(*(other.values.get(s, ()) for s in other.slots - chosen.slots))
        coarse = set().union(*(chosen.values.get(s, ()) for s in chosen.slots - other.slots))
        forms = [*self.static_forms.items(), *self.forms.items()]
        pairs = {a[1:] for form, atoms in forms if len(form) == 3 for a in atoms}
        within = {a for a, b in pairs if a in own and b in coarse}
        back = any(a in coarse and b in own for a, b in pairs)
        shares = not other.slots.isdisjoint(chosen.slots)
        return shares and bool(own) and 2 * len(within) >= len(own) and not back

    def _lonely_places(self, kind: str) -> Family:
        """Unary predicates with a word of place, if none is true twice of an object."""
        unary = [p for p in self.of_arity(1) if has_word(p, "location")]
        chosen = [p for p in unary if p not in self.candidates and kind in self.kinds_at((p, 0))]
        told = [(n, a[1]) for p in chosen for n, a in self.facts.seen[p] if self.kind[a[1]] == kind]
        return frozenset((p, 0) for p in chosen if len(told) == len(set(told)))

    # Rule 9.

    def _find_tokens(self, hosts: set[str]) -> None:
        for predicate in self.candidates:
            slot = predicate, 0
            kinds = self.kinds_at(slot)
            told = any(slot in slots for slots in self.location.values())
            if told or not self._contents.isdisjoint(self._rivals(slot)):
                continue
            relations = {relation for moved, (relation, _, _) in self.moves if moved == slot}
            is_token = not hosts.isdisjoint(kinds)
            chains = all(kind in self.chains for kind in kinds)
            if chains:
                is_token |= any((predicate, kind) in self.chain_places for kind in kinds)
                is_token |= not relations <= self.chain_relations
            else:
                is_token |= not relations <= self.arithmetic or has_word(predicate, "location")
                is_token |= any(self.nets[kind] for kind in kinds)
            if is_token:
                parts = re.split(r"[^a-z0-9]+", predicate)
                left = [word for word in parts if word and not has_word(word, "filler")]
                self.tokens[predicate] = predicate if left == parts else "-".join(left) or "agent"
            elif chains:
                self.global_gauges[predicate] = kinds[0]

    def _rivals(self, slot: Slot) -> Iterator[tuple[str, Slot]]:
        """Slots of which only one is filled, this one or another, with the kind that says so."""
        for kind in self.kinds_at(slot):
            for family in self.families[kind]:
                yield from ((kind, other) for other in family if slot in family)

    # Rule 10.

    def _draw_map(self, hosts: set[str]) -> None:
        slots = {slot for rows in self.location.values() for slot in rows}
        slots |= {(p, 0) for p in self.tokens}
        for slot, move in self.moves:
            starts = self.kinds_at((move[0], move[1]))
            if slot in slots and move[0] not in self.no_map and not hosts.isdisjoint(starts):
                self.map[move] = None

        def on_map() -> set[str]:
            return {k for p, *at in self.map for i in at for k in self.kinds_at((p, i))}

        self.places = hosts - self.location.keys()
        joined = on_map()
        for kind in self.members:
            if kind in self.places and kind not in joined:
                self.map |= dict.fromkeys(self.nets[kind])
        self.places |= on_map() - self.location.keys()
        if not self.location and not self.places:
            for kind, nets in self.nets.items():
                if nets and kind not in self.chains and kind not in self.values:
                    self.places.add(kind)
                    self.map |= dict.fromkeys(nets)

    # Rule 11.

    def _pairs(self) -> list[str]:
        """Static binary relations that are neither chains nor part of the map."""
        others = self.chain_relations.union(relation for relation, _, _ in self.map)
        static = self.facts.static.items()
        return [p for p, atoms in static if len(atoms[0]) == 3 and p not in others]

    def _parent_options(self, kind: str) -> list[tuple[str, int, set[str]]]:
        """Relations that could say where all objects of a kind are for good, with the hosts."""
        found = []
        locating = {p for slots in self.location.values() for p, _ in slots}
        for relation in self._pairs():
            region = relation in self.regions
            changes = any(f[0] == relation and f[1] == kind for f in self.forms)
            told = relation in locating or region or (has_word(relation, "region") and not changes)
            for position in (0, 1) if has_word(relation, "container first") else (0,):
                forms = self._static_with(kind, relation, position)
                hosts = {form[2 - position] for form in forms}
                names = [a[position + 1] for form in forms for a in self.static_forms[form]]
                whole = sorted(names) == sorted(self.members[kind]) and kind not in hosts
                if whole and told and not self._only_values(hosts, None):
                    locates = (relation, position) in self.location.get(kind, ())
                    fixed = not locates and relation not in self.facts.changing
                    apart = hosts.isdisjoint(self.location), hosts.isdisjoint(self.places)
                    order = fixed, not region, *apart, self.facts.rank[relation]
                    found.append((order, relation, position, hosts))
        return [row[1:] for row in sorted(found, key=lambda row: row[0])]

    def _find_parents(self) -> None:
        inside = nx.empty_graph(self.members, nx.DiGraph)
        inside.add_edges_from((form[i + 1], form[2 - i]) for form, i in self._located)
        for kind in self.members:
            for relation, position, hosts in self._parent_options(kind):
                slot = relation, position
                elsewhere = slot not in self.location.get(kind, [slot])
                owned = relation in self.regions or has_word(relation, "owned")
                if elsewhere or (kind in self.map_kinds and not owned):
                    continue
                if not any(nx.has_path(inside, host, kind) for host in hosts):
                    self.parents[kind] = slot
                    inside.add_edges_from((kind, host) for host in hosts)
                    break

    def _static_attributes(self) -> Iterator[Slot]:
        for relation in self._pairs():
            told = {kind for kind, (name, _) in self.parents.items() if name == relation}
            forms = [f for f in self.static_forms if f[0] == relation and told.isdisjoint(f[1:])]
            names = [atom[1] for form in forms for atom in self.static_forms[form]]
            if names and len(names) == len(set(names)):
                yield relation, 0

    # Rules 12 and 13.

    def _is_emptiness(self, predicate: str) -> bool:
        if self.arity(predicate) == 0:
            groups = (group for group in self.facts.groups if (predicate,) in group)
            return any(self.located_slot(self.form(a)) is not None for g in groups for a in g)
        if self.arity(predicate) > 1 or predicate in self.virtual or predicate in self.tokens:
            return False
        slot = predicate, 0
        placed = all(k in self.places or k in self.location for k in self.kinds_at(slot))
        rivals = set(self._rivals(slot))
        told = not self._contents.isdisjoint(rivals) or any(s[0] in self.tokens for _, s in rivals)
        return told or (placed and has_word(predicate, "empty"))

    def _find_values(self) -> None:
        for slot in ((p, 0) for p in self.of_arity(2)):
            for kind in self.kinds_at(slot):
                told = slot in self.location.get(kind, ()) or (kind, slot) in self._contents
                if self.is_functional(kind, slot) and not told:
                    values = [form[2] for form in self.with_kind(kind, slot)]
                    if all(value in self.chains for value in values):
                        self.gauges[slot] = values[0]
                    else:
                        self.attributes.add(slot)

    # Rule 14.

    def _adding(self, predicates: Iterable[str]) -> list[Schema]:
        chosen = set(predicates)
        return [s for s in self.facts.schemas if any(a[0] in chosen for a in s.adds)]

    def _shared_tokens(self, schemas: list[Schema]) -> list[str]:
        """Tokens that all of some actions need."""
        needs = [{condition[0] for condition in schema.conditions} for schema in schemas]
        return [t for t in self.tokens if needs and all(t in names for names in needs)]

    def _attached(self) -> Iterator[tuple[str, str]]:
        for predicate in sorted(self.virtual, key=self.facts.rank.__getitem__):
            yield from ((predicate, t) for t in self._shared_tokens(self._adding([predicate]))[:1])
        fixed = (self.location, self.parents, self.chains, self.map_kinds)
        for host in self.members:
            locating = [form[0] for form, i in self._located if form[2 - i] == host]
            if not any(host in kinds for kinds in fixed):
                tokens = self._shared_tokens(self._adding(locating))
                tokens = [t for t in tokens if host not in self.kinds_at((t, 0))]
                yield from ((host, token) for token in tokens[:1])

    def _rides(self) -> Iterator[tuple[str, str]]:
        for predicate in self.of_arity(1):
            deleting = [s for s in self.facts.schemas if any(a[0] == predicate for a in s.deletes)]
            adding = self._adding([predicate])
            placed = not self.places.isdisjoint(self.kinds_at((predicate, 0)))
            if predicate not in self.tokens and adding and not placed:
                tokens = self._shared_tokens(deleting)
                boards = [t for t in tokens if all(self._boards(s, predicate, t) for s in adding)]
                yield from ((predicate, token) for token in boards[:1])

    def _boards(self, schema: Schema, predicate: str, token: str) -> bool:
        """Whether who is added stands, by a static fact, at the place of the token."""
        places = {c[1] for c in schema.conditions if c[0] == token}
        static = [c for c in schema.conditions if len(c) == 3 and c[0] not in self.facts.changing]
        pairs = [set(c[1:]) for c in static]
        who = [atom[1] for atom in schema.adds if atom[0] == predicate]
        return all(any({name, place} in pairs for place in places - {name}) for name in who)

    def _anchors(self) -> Iterator[tuple[str, str]]:
        pairs = [(self.kind[child], self.kind[host]) for child, _, host in self.parent_pairs()]
        placed = {kind for kind, host in pairs if host in self.places}
        for predicate in self.of_arity(1):
            other = predicate in self.emptiness or predicate in self.virtual
            if other or placed.isdisjoint(self.kinds_at((predicate, 0))):
                continue
            for schema in self._adding([predicate]):
                who = {atom[1] for atom in schema.adds if atom[0] == predicate}
                for relation, *ends in schema.conditions:
                    told = (relation, 0) in self.static_attributes and ends[0] in who
                    if told and not self.places.isdisjoint(self.kinds_at((relation, 1))):
                        yield predicate, relation

    # Rule 15.

    def _tags(self) -> Iterator[Slot]:
        """Where the facts are written that no other rule shows."""
        for predicate in self.facts.changing:
            forms = [form for form in self.forms if form[0] == predicate and len(form) > 2]
            if all(self.located_slot(f) is not None or self.is_value(f) for f in forms):
                continue
            at = [set(kinds) for kinds in zip(*(form[1:] for form in forms), strict=True)]
            placed = [k <= self.places and not k <= self.chains.keys() for k in at]
            hosts = placed if any(placed) else [not k.isdisjoint(self.location) for k in at]
            is_first = has_word(predicate, "container first") or not any(hosts)
            yield predicate, 0 if is_first else hosts.index(True)

    def to_json(self) -> dict[str, object]:
        def slots(rows: Iterable[Slot]) -> list[str]:
            return sorted(f"{p}:{i}" for p, i in rows)

        kind = self.kind
        parents = {f"{kind[child]} {p} {kind[host]}" for child, p, host in self.parent_pairs()}
        found: dict[str, object] = {
            "kinds": {kind: len(names) for kind, names in self.members.items()},
            "location": {kind: slots(rows) for kind, rows in self.location.items()},
            "map": sorted(f"{relation}:{u}>{v}" for relation, u, v in self.map),
            "gauges": {f"{p}:{i}": kind for (p, i), kind in self.gauges.items()},
            "attributes": slots(self.attributes),
            "static_attributes": slots(self.static_attributes),
            "static_parents": sorted(parents),
            "tags": self.tag_hosts,
        }
        for name in ("places", "virtual", "stacks", "emptiness"):
            found[name] = sorted(getattr(self, name))
        for name in ("tokens", "chains", "global_gauges", "attached", "rides", "anchors"):
            found[name] = getattr(self, name)
        return {key: value for key, value in found.items() if value}
