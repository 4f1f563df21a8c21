"""One state by its roles: who is where, what is written at whom, and what words have to tell.

Nothing vanishes: every changing fact of the state is shown or listed, and what is left out because
something excludes it is concluded by the reader, or denied in words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from engine.pictures.roles import Roles
from engine.task.atoms import format_atom
from engine.task.task import GroundAtom

MAX_TAGS = 3
"""Tags that are written at one object; the others are listed."""
MAX_TOKEN_PLACES = 8
"""Where a token can be at more places, what goes with it is drawn once, beside the map."""
ELSEWHERE = "!elsewhere"
NEGATED = re.compile(r"(?:not|no|un)[-_](.+)")

State = frozenset[GroundAtom]


class Told(NamedTuple):
    """What the roles say about one fact: how it is shown, of whom, and where that is.

    It is shown by `place`; by the absence of what excludes it (`empty`, `negated`, `zero`); in the
    `header`; as a `badge`, `value`, `tag` or `copy`; or it is `listed`.
    """

    how: str
    who: str = ""
    where: str = ""


@dataclass
class View:
    parent: dict[str, str]  # what an object is in; of a pile, the one below
    why: dict[str, GroundAtom] = field(default_factory=dict)  # the fact that says so
    standing: set[str] = field(default_factory=set)  # who stands on its parent
    marks: dict[str, list[GroundAtom]] = field(default_factory=dict)
    header: list[GroundAtom] = field(default_factory=list)
    absent: set[GroundAtom] = field(default_factory=set)
    listed: list[GroundAtom] = field(default_factory=list)
    denied: list[GroundAtom] = field(default_factory=list)
    drawn: frozenset[str] = frozenset()

    def bottom(self, node: str) -> str:
        """The lowest of the pile that a node stands on."""
        while node in self.standing:
            node = self.parent[node]
        return node

    def around(self, node: str) -> Iterator[str]:
        """All that a node is in, from the inside out."""
        at = self.parent.get(node)
        while at is not None:
            yield at
            at = self.parent.get(at)

    def in_words(self) -> list[str]:
        """What no place and no mark tells."""
        return [*map(format_atom, self.listed), *(f"not {format_atom(a)}" for a in self.denied)]


class Views:
    """Makes views; what does not depend on the state is worked out once."""

    def __init__(self, roles: Roles) -> None:
        self.roles, self.facts = roles, roles.facts
        self.parent_of = {child: host for child, _, host in roles.parent_pairs()}
        many = {t for t in roles.tokens if len(self.facts.changing[t]) > MAX_TOKEN_PLACES}
        self.beside = {name: token for name, token in roles.attached.items() if token in many}
        self.always = self._always_drawn()
        self._anchored: dict[tuple[str, ...], str] = {
            (predicate, child): place
            for predicate, relation in roles.anchors.items()
            for _, child, place in self.facts.static[relation]
        }
        self.told = {
            atom: self._tell(atom) for rows in self.facts.changing.values() for atom in rows
        }
        self._crowded = self._crowded_bases()
        self.number = {atom: number for number, atom in enumerate(self.told)}
        self._doubtful = {
            atom: frozenset(self._rivals(atom))
            for atom, told in self.told.items()
            if told.how in ("empty", "negated", "zero")
        }
        # Attributes that say where something is, if less precisely than its place.
        relations = {relation for relation, _ in roles.parents.values()}
        relations.update(p for slots in roles.location.values() for p, _ in slots)
        self.coarse = {
            atom
            for atom, told in self.told.items()
            if told.how == "value" and atom[0] in relations and self.is_drawable(atom[2])
        }
        self._grouped = set().union(*self.facts.groups)
        self.view = cache(self._view)

    def _crowded_bases(self) -> set[tuple[str, str]]:
        """What holds two things of a stack at once: they are in it, not on it."""
        stacks = self.roles.stacks
        bases = Counter((n, p, self.told[a].where) for p in stacks for n, a in self.facts.seen[p])
        return {base[1:] for base, count in bases.items() if count > 1}

    def _always_drawn(self) -> frozenset[str]:
        roles = self.roles
        kinds = roles.places | roles.parents.keys() | roles.attached.keys()
        told = {*roles.tokens, *roles.global_gauges, *roles.virtual}
        for form in roles.forms:
            host = form[1:][roles.tag_hosts.get(form[0], 0) :][:1]
            if len(form) > 2 or form[0] not in told:
                kinds |= {kind for kind in host if kind not in roles.chains}
        chosen = (roles.members.get(kind, ()) for kind in kinds - roles.location.keys())
        return frozenset(self.parent_of.values()).union(*chosen)

    def kind(self, node: str) -> str:
        """The kind of an object; tokens and virtual places are kinds of their own."""
        return self.roles.kind.get(node, node)

    def order(self, node: str) -> tuple[int, str]:
        """To sort by: objects as they are declared, after all that is none."""
        return self.facts.index.get(node, -1), node

    def is_drawable(self, node: str) -> bool:
        kind = self.kind(node)
        return kind == node or node in self.always or kind in self.roles.location

    # How a fact is shown.

    def _tell(self, atom: GroundAtom) -> Told:
        roles, predicate = self.roles, atom[0]
        position = roles.located_slot(roles.form(atom))
        if predicate in roles.tokens:
            return Told("place", f"@{predicate}", atom[1])
        if position is not None:
            where = f"!{predicate}" if len(atom) == 2 else atom[2 - position]
            return Told("place", atom[position + 1], where)
        if predicate in roles.rides:
            return Told("place", atom[1], f"@{roles.rides[predicate]}")
        if atom in self._anchored:
            return Told("place", atom[1], self._anchored[atom])
        if predicate in roles.emptiness:
            return Told("empty", *atom[1:2])
        return self._tell_mark(atom)

    def _tell_mark(self, atom: GroundAtom) -> Told:
        roles, value = self.roles, self.roles.is_value(self.roles.form(atom))
        if len(atom) == 1 or atom[0] in roles.global_gauges:
            return Told("header")
        host = atom[1] if value else atom[roles.tag_hosts.get(atom[0], 0) + 1]
        if len(atom) == 2 and self.positive(atom):
            return Told("negated", host)
        if len(atom) > 3 and any(atom[-1] == chain[0] for chain in roles.chains.values()):
            return Told("zero", host)
        if not self.is_drawable(host):
            return Told("listed")
        if len(atom) == 3 and not value and roles.kind[host] in roles.places:
            kind = roles.kind[atom[2] if host == atom[1] else atom[1]]
            piled = any(p in roles.stacks for p, _ in roles.location.get(kind, ()))
            if kind not in roles.chains and not piled:
                return Told("copy", host)
        return Told("badge" if len(atom) == 2 else "value" if value else "tag", host)

    def positive(self, atom: GroundAtom) -> GroundAtom | None:
        """The atom that `not-p` denies."""
        found = NEGATED.fullmatch(atom[0])
        known = found and (found[1] in self.facts.changing or found[1] in self.facts.static)
        return (found[1], *atom[1:]) if found and known else None

    def _holds_positive(self, atom: GroundAtom, state: State) -> bool:
        positive = self.positive(atom)
        static = self.facts.static.get(positive[0], ()) if positive else ()
        return positive in state or positive in static

    def _rivals(self, atom: GroundAtom) -> Iterator[GroundAtom]:
        """What excludes a fact that is shown by absence."""
        if positive := self.positive(atom):
            yield positive
        elif self.told[atom].how == "zero":
            yield from (a for a in self.facts.changing[atom[0]] if a[:-1] == atom[:-1])
        for group in self.facts.groups:
            yield from group if atom in group else ()

    # One state.

    def _view(self, state: State) -> View:
        view = View(self.parent_of | dict(self._attached(state)))
        last = self.roles.rides.keys() | self.roles.anchors.keys()
        for atom in sorted(state, key=lambda atom: (atom[0] in last, self.number[atom])):
            self._add(view, atom, state)
        # A crate that stands in a depot need not have "at depot" written on it.
        for node in {atom[1] for atom in self.coarse & state} & view.marks.keys():
            here = [a for a in view.marks[node] if a in self.coarse and a[2] in view.around(node)]
            view.marks[node] = [atom for atom in view.marks[node] if atom not in here]
        view.marks = {node: rows for node, rows in view.marks.items() if rows}
        holding = set(view.parent.values())
        for node in [*view.marks, *sorted(holding)]:
            is_located = self.roles.kind.get(node) in self.roles.location
            if node not in view.parent and node not in self.always and is_located:
                view.parent[node] = ELSEWHERE
                holding.add(ELSEWHERE)
        virtual = {f"!{name}" for name in self.roles.virtual}
        view.drawn = self.always.union(view.parent, holding, virtual)
        self._add_absence(view, state, holding)
        view.listed.sort(key=self.number.__getitem__)
        return view

    def _attached(self, state: State) -> Iterator[tuple[str, str]]:
        """What goes with a token that is somewhere, unless it is drawn beside the map."""
        for name, token in self.roles.attached.items():
            if name not in self.beside and any(atom[0] == token for atom in state):
                for node in self.roles.members.get(name, (f"!{name}",)):
                    yield node, f"@{token}"

    def _add(self, view: View, atom: GroundAtom, state: State) -> None:
        how, who, where = self.told[atom]
        marks = view.marks.get(who, [])
        tags = sum(self.told[mark].how == "tag" for mark in marks)
        if how == "place" and who in (where, *view.around(where)):
            view.listed.append(atom)  # nothing lies in itself
        elif how == "place" and (where[:1] != "@" or where in view.parent):
            view.listed += [view.why[who]] if who in view.why else []
            view.parent[who], view.why[who] = where, atom
            view.standing.discard(who)
            if atom[0] in self.roles.stacks and (atom[0], where) not in self._crowded:
                view.standing.add(who)
        elif how == "header":
            view.header.append(atom)
        elif how == "zero" or (how == "negated" and not self._holds_positive(atom, state)):
            view.absent.add(atom)
        elif how in ("negated", "listed") or (how == "tag" and tags == MAX_TAGS):
            view.listed.append(atom)
        elif how != "empty":
            view.marks[who] = [*marks, atom]

    def _add_absence(self, view: View, state: State, holding: set[str]) -> None:
        """Facts of emptiness; and what a reader would wrongly take for one."""

        def is_concluded(atom: GroundAtom) -> bool:
            """Whether it is taken for true of a drawn object if nothing excludes it."""
            in_group = self.told[atom].how != "empty" or atom in self._grouped
            return len(atom) == 1 or in_group or atom[1] not in holding

        for atom in sorted(state & self._doubtful.keys(), key=self.number.__getitem__):
            if self.told[atom].how == "empty":
                if len(atom) > 1 and atom[1] not in view.drawn:
                    view.listed.append(atom)
                elif is_concluded(atom):
                    view.absent.add(atom)
                else:
                    view.marks.setdefault(atom[1], []).append(atom)
        visible = state - view.absent
        for atom in (a for a in self._doubtful if a not in state and is_concluded(a)):
            excluded = not visible.isdisjoint(self._doubtful[atom])
            is_drawn = len(atom) == 1 or atom[1] in view.drawn
            if is_drawn and not excluded and not self._holds_positive(atom, state):
                view.denied.append(atom)
