"""What is known of a task before anything is inferred: objects, atoms, schemas, mutexes, states."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from engine.pddl.model import Action, Add, Atom, Condition, Delete, Not, When, conjuncts
from engine.pddl.traversal import parts_of, subeffects
from engine.task.atoms import fluent_atoms, ground_atom
from engine.task.task import GroundAtom, Task

Slot = tuple[str, int]
"""A predicate and the position of one of its arguments, from 0."""
Atoms = Mapping[str, Sequence[GroundAtom]]
"""By predicate, in its order; the atoms in order of their objects."""


_WORDS = {
    "location": "at in on inside within loc location located position pos aboard boarded carry "
    "carrying carries hold holding holds loaded contains parked lies ashore lifting behind stacked "
    "standing placed stored pointing hanging clamped mounted",
    "container first": "holding holds hold lifting lifts carrying carries contains contain has "
    "have grasping supports under below loaded-with",
    "region": "in at of on part belongs board inside within waiting origin located loc",
    "owned": "in of part within inside belongs",
    "order": "next succ successor above less smaller lower pred predecessor precedes before inc "
    "up follows",
    "neighbors": "line jump adjacent connected inline neighbor",
    "empty": "clear empty free vacant available",
    "filler": "at is on in pos position current",
    "upward": "above up below",
    "floor": "floor level storey",
    "lift": "up down lift elevator climb",
    "north": "up north n",
    "south": "down south s",
    "west": "left west w",
    "east": "right east e",
    "color": "black blue brown cyan gold gray green grey lime magenta maroon navy olive orange "
    "pink purple red silver teal violet white yellow",
}
"""What names tell; it only breaks ties, so that other languages work, too."""
WORDS = {name: frozenset(text.split()) for name, text in _WORDS.items()}


def has_word(name: str, group: str) -> bool:
    """Whether a name, or one of its parts, is in a group of words."""
    chosen = WORDS[group]
    return name in chosen or not chosen.isdisjoint(re.split(r"[^a-z0-9]+", name))


@dataclass(frozen=True, slots=True)
class Schema:
    """The literals of an action; those of nested conditions and effects count as well."""

    name: str
    parameters: tuple[str, ...]
    conditions: tuple[GroundAtom, ...]
    adds: tuple[GroundAtom, ...]
    deletes: tuple[GroundAtom, ...]


@dataclass(frozen=True)
class Facts:
    """All that the rules look at."""

    objects: tuple[str, ...]  # constants first
    types: Mapping[str, str]
    constants: frozenset[str]
    rank: Mapping[str, int]  # of predicates
    schemas: tuple[Schema, ...]
    static: Atoms  # some of a changing predicate may be here, too
    changing: Atoms
    groups: tuple[frozenset[GroundAtom], ...]  # mutex: at most one of each is true
    goals: tuple[GroundAtom, ...]
    lengths: Mapping[tuple[str, ...], float]  # of roads, if the problem says them
    states: tuple[frozenset[GroundAtom], ...]

    @cached_property
    def index(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.objects)}

    def in_order(self, atoms: Iterable[GroundAtom]) -> list[GroundAtom]:
        return sorted(atoms, key=lambda a: (self.rank[a[0]], *(self.index[n] for n in a[1:])))

    @cached_property
    def seen(self) -> dict[str, list[tuple[int, GroundAtom]]]:
        """The atoms of each predicate that are true in some state, with its number."""
        found: dict[str, list[tuple[int, GroundAtom]]] = {name: [] for name in self.changing}
        for number, state in enumerate(self.states):
            for atom in state:
                found[atom[0]].append((number, atom))
        return found

    def static_relations(self, arity: int) -> Iterator[tuple[str, Sequence[GroundAtom]]]:
        """Predicates of one arity that never change, with their facts."""
        for name, atoms in self.static.items():
            if name not in self.changing and len(atoms[0]) == arity + 1:
                yield name, atoms


def facts_of(task: Task, states: Iterable[Sequence[int]]) -> Facts:
    """What the rules look at; `task` has a source, `states` are those that will be shown."""
    assert task.source is not None
    domain, problem = task.source.domain, task.source.problem
    declared = (*domain.constants, *problem.objects)
    index = {item.name: number for number, item in enumerate(declared)}
    rank = {item.name: number for number, item in enumerate(domain.predicates)}
    # Derived atoms follow from the others: they are no part of a state.
    variables = set(task.state_variables)
    rows = [task.fact_atoms[variable] for variable in task.state_variables]
    changing = {atom for row in rows for atom in row if atom is not None}
    for atom in sorted(changing | task.static_atoms):
        rank.setdefault(atom[0], len(rank))  # `=`, and predicates of the translator

    def by_predicate(atoms: Iterable[GroundAtom]) -> dict[str, list[GroundAtom]]:
        found: dict[str, list[GroundAtom]] = {}
        for atom in sorted(atoms, key=lambda a: (rank[a[0]], *(index[n] for n in a[1:]))):
            found.setdefault(atom[0], []).append(atom)
        return found

    rows += [tuple(task.fact_atoms[v][x] for v, x in g if v in variables) for g in task.mutexes]
    groups = dict.fromkeys(frozenset(atom for atom in row if atom is not None) for row in rows)
    goals = [ground_atom(part) for part in conjuncts(problem.goal) if isinstance(part, Atom)]
    roads = [(v.function.arguments, v.value) for v in problem.values]
    return Facts(
        objects=tuple(index),
        types={item.name: item.types[0] for item in declared},
        constants=frozenset(item.name for item in domain.constants),
        rank=rank,
        schemas=tuple(map(schema_of, domain.actions)),
        static=by_predicate(task.static_atoms),
        changing=by_predicate(atom for atom in changing if index.keys() >= set(atom[1:])),
        groups=tuple(group for group in groups if len(group) > 1),
        goals=tuple(atom for atom in dict.fromkeys(goals) if atom[0] in rank),
        lengths={tuple(t.name for t in ends): float(n) for ends, n in roads if len(ends) == 2},
        states=tuple(frozenset(fluent_atoms(task, state)) for state in states),
    )


def _atoms_of(condition: Condition) -> Iterator[GroundAtom]:
    """The atoms that stand in a condition without a negation around them."""
    if isinstance(condition, Atom):
        yield ground_atom(condition)
    elif not isinstance(condition, Not):
        for part in parts_of(condition):
            yield from _atoms_of(part)


def schema_of(action: Action) -> Schema:
    effects = list(subeffects(action.effect))
    conditions = [action.precondition, *(e.condition for e in effects if isinstance(e, When))]
    return Schema(
        action.name,
        tuple(item.name for item in action.parameters),
        tuple(dict.fromkeys(atom for condition in conditions for atom in _atoms_of(condition))),
        tuple(dict.fromkeys(ground_atom(e.atom) for e in effects if isinstance(e, Add))),
        tuple(dict.fromkeys(ground_atom(e.atom) for e in effects if isinstance(e, Delete))),
    )
