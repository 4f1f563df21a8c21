"""Which states are sensible: a group with exactly one true fact keeps exactly one.

Groups of facts of which at most one is true come from the origin's translation. Groups of one
form, such as `ashore(K, *) | aboard(K, *)`, differ in their key K. Checking needs no translation.
See docs/theory/witnesses.md, "Sensible states".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from engine.minimize.situation import Situation
from engine.task.atoms import state_atoms
from engine.task.task import Fact, GroundAtom, Task

Places = tuple[int, ...]
"""Positions of an atom's arguments."""
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Form:
    """By predicate, in which positions the objects of the key stand; the others are free."""

    places: tuple[tuple[str, Places], ...]

    def key(self, atom: GroundAtom) -> Key | None:
        """The key of the group that an atom belongs to; None if it is in none of this form."""
        for predicate, places in self.places:
            if predicate == atom[0]:
                return tuple(atom[1 + place] for place in places)
        return None


@dataclass(frozen=True)
class Sense:
    """The groups of an origin: by form and key, whether exactly one of its facts is true."""

    groups: dict[tuple[Form, Key], bool]

    @classmethod
    def of(cls, task: Task, *states: Collection[GroundAtom]) -> Sense:
        """The groups of a task; those that are not kept in one of the `states` are left out."""
        initial = state_atoms(task, task.init)
        groups: dict[tuple[Form, Key], bool] = {}
        for facts in _fact_groups(task):
            atoms = {a for v, x in facts if (a := task.fact_atoms[v][x]) is not None}
            read = _read(atoms, task) if len(atoms) > 1 else None
            if read is None:
                continue
            exactly = len(atoms & initial) == 1 and not _can_lose(facts, task)
            groups[read] = groups.get(read, False) or exactly
        found = cls(groups)
        wrong = {group for atoms in (initial, *states) for group in found.violated(atoms)}
        return cls({group: exactly for group, exactly in groups.items() if group not in wrong})

    def violated(
        self, facts: Iterable[GroundAtom], names: Collection[str] | None = None
    ) -> Iterator[tuple[Form, Key]]:
        """Groups with too many facts, or none where there is exactly one.

        With `names`, groups of other objects do not count.
        """
        count = self._count(facts)
        for group, exactly in self.groups.items():
            if names is not None and not all(name in names for name in group[1]):
                continue
            if count[group] > 1 or (exactly and not count[group]):
                yield group

    def is_sensible(self, situation: Situation, constants: Collection[str] = ()) -> bool:
        names = situation.names.union(constants)
        return next(self.violated(situation.facts, names), None) is None

    def _count(self, facts: Iterable[GroundAtom]) -> Counter[tuple[Form, Key]]:
        count: Counter[tuple[Form, Key]] = Counter()
        for atom in facts:
            for form in self._forms.get(atom[0], ()):
                key = form.key(atom)
                if key is not None:
                    count[form, key] += 1
        return count

    @cached_property
    def _forms(self) -> dict[str, tuple[Form, ...]]:
        """The forms by predicate."""
        forms: defaultdict[str, dict[Form, None]] = defaultdict(dict)
        for form, _ in self.groups:
            for predicate, _ in form.places:
                forms[predicate][form] = None
        return {predicate: tuple(found) for predicate, found in forms.items()}


def _fact_groups(task: Task) -> Iterator[frozenset[Fact]]:
    for variable, values in enumerate(task.variables):
        if not values.is_derived:
            yield frozenset((variable, value) for value in range(len(values.values)))
    for group in task.mutexes:
        yield frozenset(group)


def _can_lose(group: frozenset[Fact], task: Task) -> bool:
    """Whether an operator may make the true fact of a group false and none of it true."""
    atoms = frozenset(fact for fact in group if task.fact_atoms[fact[0]][fact[1]] is not None)
    variables = {variable for variable, _ in atoms}
    for operator in task.operators:
        before = dict(operator.precondition)
        effects: list[tuple[Fact, dict[int, int]]] = [(fact, {}) for fact in operator.effect]
        effects += [(fact, dict(condition)) for condition, fact in operator.conditional]
        loses = any(
            fact not in atoms
            and fact[0] in variables
            and _may_hold(fact[0], before | condition, atoms)
            for fact, condition in effects
        )
        gains = any(fact in atoms and not condition for fact, condition in effects)
        if loses and not gains:
            return True
    return False


def _may_hold(variable: int, known: dict[int, int], group: frozenset[Fact]) -> bool:
    """Whether a variable may have a value of the group where some values are known."""
    return (variable, known[variable]) in group if variable in known else True


def _read(atoms: set[GroundAtom], task: Task) -> tuple[Form, Key] | None:
    """The form and key of a group; None if it is not all that its form matches."""
    common = set.intersection(*(set(atom[1:]) for atom in atoms))
    by_predicate: defaultdict[str, list[GroundAtom]] = defaultdict(list)
    for atom in atoms:
        by_predicate[atom[0]].append(atom)
    places: dict[str, dict[str, int]] = {}  # by object of the key, then by predicate
    for name in sorted(common):
        found = {p: _place(name, members) for p, members in by_predicate.items()}
        if any(place is None for place in found.values()):
            return None
        places[name] = {p: place for p, place in found.items() if place is not None}
    first = min(by_predicate)
    key = tuple(sorted(places, key=lambda name: places[name][first]))
    form = Form(tuple((p, tuple(places[name][p] for name in key)) for p in sorted(by_predicate)))
    matching = {
        atom
        for values in task.fact_atoms
        for atom in values
        if atom is not None and form.key(atom) == key
    }
    return (form, key) if matching == atoms else None


def _place(name: str, atoms: list[GroundAtom]) -> int | None:
    """The only position in which all atoms of a predicate have an object."""
    common = set.intersection(
        *({place for place, other in enumerate(atom[1:]) if other == name} for atom in atoms)
    )
    return min(common) if len(common) == 1 else None
