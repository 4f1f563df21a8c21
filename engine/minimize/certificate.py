"""The canonical form of a witness under renaming of its objects.

Color refinement tells objects apart by what they take part in; where that leaves several, each is
individualized in turn, and the least of all labelings is the certificate. Of objects that can be
swapped without changing anything (twins) one branch is enough. Equal certificates are isomorphic
witnesses, unequal ones are not. See docs/theory/witnesses.md, "Patterns".
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from engine.minimize.moves import literal
from engine.minimize.situation import Situation, is_cost, names_in
from engine.pddl import format_condition, format_domain
from engine.pddl.model import Condition, Domain
from engine.pddl.printer import format_number
from engine.records.localization import CauseKind
from engine.records.pattern import Certificate, CertificateTuple
from engine.task.atoms import ground_atom
from engine.task.lifted import substitute

MAX_LEAVES = 20_000
MAX_OBJECTS = 400
"""More are not compared with others: every object may take a level of branches."""

Colors = tuple[int, ...]
"""A number per object; equal for those that cannot be told apart so far."""


class _BudgetSpentError(Exception):
    """Too many labelings would have to be compared."""


def certificate(
    domain: Domain,
    situation: Situation,
    kind: CauseKind,
    action: str,
    *,
    unit_costs: bool = False,
    max_leaves: int = MAX_LEAVES,
) -> tuple[Certificate, tuple[str, ...]]:
    """The certificate of a situation with a bad action, and its objects by their numbers."""
    tuples = _tuples(situation, kind, action)
    names = _names(domain, situation, tuples)
    number = {name: place for place, (name, _) in enumerate(names)}
    placed = [(mark, label, tuple(number[name] for name in args)) for mark, label, args in tuples]
    colors = [color for _, color in names]
    try:
        if len(names) > MAX_OBJECTS:
            raise _BudgetSpentError
        order, exact = _Labeling(colors, placed, max_leaves).least(), True
    except _BudgetSpentError:
        order, exact = tuple(range(len(names))), False
    found = Certificate(
        domain_hash(domain),
        unit_costs,
        kind,
        tuple(colors[place] for place in order),
        _renumbered(placed, order),
        exact,
    )
    return found, tuple(names[place][0] for place in order)


def domain_hash(domain: Domain) -> str:
    """The hash of what a domain says; layout, comments and requirements do not count."""
    text = format_domain(replace(domain, requirements=()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


_NamedTuple = tuple[str, str, tuple[str, ...]]


def _tuples(situation: Situation, kind: CauseKind, action: str) -> list[_NamedTuple]:
    found = [("fact", fact[0], fact[1:]) for fact in situation.facts]
    found += [
        ("value", f"{value[0][0]} {format_number(value[1])}", value[0][1:])
        for value in situation.values
        if not is_cost(value)
    ]
    found += map(_goal, situation.goals)
    schema, *objects = action.split(" ")
    found.append(("bad", f"{kind} {schema}".rstrip(), tuple(objects)))
    return found


def _goal(goal: Condition) -> _NamedTuple:
    if (found := literal(goal)) is not None:
        atom, holds = found
        fact = ground_atom(atom)
        return "goal" if holds else "not", fact[0], fact[1:]
    names = names_in(goal)
    places = {name: f"%{number}" for number, name in enumerate(names)}
    return "goal", format_condition(substitute(goal, places)), names


def _names(
    domain: Domain, situation: Situation, tuples: Sequence[_NamedTuple]
) -> list[tuple[str, str]]:
    """Objects and their colors; of the constants those that occur."""
    used = {name for _, _, names in tuples for name in names}
    found = [(item.name, " ".join(sorted(item.types))) for item in situation.objects]
    return found + [(item.name, f"={item.name}") for item in domain.constants if item.name in used]


def _renumbered(
    tuples: Sequence[CertificateTuple], order: Sequence[int]
) -> tuple[CertificateTuple, ...]:
    place = {number: new for new, number in enumerate(order)}
    return tuple(sorted((mark, label, tuple(place[n] for n in ns)) for mark, label, ns in tuples))


class _Labeling:
    """Looks for the order of objects that makes the least list of tuples."""

    def __init__(
        self, colors: Sequence[str], tuples: Sequence[CertificateTuple], max_leaves: int
    ) -> None:
        self._tuples, self._left = tuples, max_leaves
        self._set = frozenset(tuples)
        ranks = {color: rank for rank, color in enumerate(sorted(set(colors)))}
        self._start: Colors = tuple(ranks[color] for color in colors)
        self._places: list[list[tuple[int, int]]] = [[] for _ in colors]  # (tuple, position)
        for number, (_, _, objects) in enumerate(tuples):
            for position, name in enumerate(objects):
                self._places[name].append((number, position))
        labels = sorted({(mark, label) for mark, label, _ in tuples})
        rank = {label: number for number, label in enumerate(labels)}
        self._labels = [rank[mark, label] for mark, label, _ in tuples]
        self._best: tuple[tuple[CertificateTuple, ...], tuple[int, ...]] | None = None

    def least(self) -> tuple[int, ...]:
        self._branch(self._refined(self._start))
        assert self._best is not None
        return self._best[1]

    def _refined(self, colors: Colors) -> Colors:
        """Split colors by what objects take part in, until nothing changes."""
        while True:
            seen = [tuple(colors[name] for name in names) for _, _, names in self._tuples]
            signatures = [
                (
                    colors[name],
                    tuple(sorted((self._labels[t], position, seen[t]) for t, position in places)),
                )
                for name, places in enumerate(self._places)
            ]
            ranks = {mark: rank for rank, mark in enumerate(sorted(set(signatures)))}
            finer = tuple(ranks[mark] for mark in signatures)
            if len(ranks) == len(set(colors)):
                return finer
            colors = finer

    def _branch(self, colors: Colors) -> None:
        cells: defaultdict[int, list[int]] = defaultdict(list)
        for name, color in enumerate(colors):
            cells[color].append(name)
        open_cells = [cell for cell in cells.values() if len(cell) > 1]
        if not open_cells:
            self._leaf(colors)
            return
        cell = min(open_cells, key=lambda members: (len(members), colors[members[0]]))
        for member in self._without_twins(cell):
            # Twice the color leaves room for the one that comes first.
            chosen = tuple(2 * color - (name == member) for name, color in enumerate(colors))
            self._branch(self._refined(chosen))

    def _leaf(self, colors: Colors) -> None:
        self._left -= 1
        if self._left < 0:
            raise _BudgetSpentError
        order = tuple(sorted(range(len(colors)), key=colors.__getitem__))
        labeled = _renumbered(self._tuples, order)
        if self._best is None or labeled < self._best[0]:
            self._best = labeled, order

    def _without_twins(self, cell: Sequence[int]) -> list[int]:
        """One member of each class of twins."""
        chosen: list[int] = []
        for member in cell:
            if not any(self._are_twins(member, other) for other in chosen):
                chosen.append(member)
        return chosen

    def _are_twins(self, a: int, b: int) -> bool:
        swap = {a: b, b: a}
        touched = {t for name in (a, b) for t, _ in self._places[name]}
        return all(
            (mark, label, tuple(swap.get(name, name) for name in names)) in self._set
            for mark, label, names in (self._tuples[t] for t in touched)
        )
