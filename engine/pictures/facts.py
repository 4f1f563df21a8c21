"""What is known of a task before anything is inferred: objects, atoms, schemas, mutexes, states."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

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


class Facts:
    """All that the rules look at; `task` has a source, `states` are those that will be shown."""

    def __init__(self, task: Task, states: Iterable[Sequence[int]]) -> None:
        assert task.source is not None
        domain, problem = task.source.domain, task.source.problem
        self.types = {o.name: o.types[0] for o in (*domain.constants, *problem.objects)}
        self.objects = tuple(self.types)  # constants first
        self.index = {name: number for number, name in enumerate(self.objects)}
        self.constants = frozenset(item.name for item in domain.constants)
        self.schemas = tuple(map(schema_of, domain.actions))
        # Derived atoms follow from the others: they are no part of a state.
        variables = set(task.state_variables)
        rows = [task.fact_atoms[variable] for variable in task.state_variables]
        changing = {atom for row in rows for atom in row if atom is not None}
        self.rank = {item.name: number for number, item in enumerate(domain.predicates)}
        for atom in sorted(changing | task.static_atoms):
            self.rank.setdefault(atom[0], len(self.rank))  # `=`, and those of the translator
        self.changing = self._by_predicate(a for a in changing if self.index.keys() >= set(a[1:]))
        self.static = self._by_predicate(task.static_atoms)  # also some of a changing predicate
        rows += [tuple(task.fact_atoms[v][x] for v, x in g if v in variables) for g in task.mutexes]
        groups = dict.fromkeys(frozenset(atom for atom in row if atom is not None) for row in rows)
        self.groups = [group for group in groups if len(group) > 1]  # mutex
        goals = [ground_atom(part) for part in conjuncts(problem.goal) if isinstance(part, Atom)]
        self.goals = [atom for atom in dict.fromkeys(goals) if atom[0] in self.rank]
        roads = [([end.name for end in v.function.arguments], v.value) for v in problem.values]
        self.lengths = {(e[0], e[1]): float(length) for e, length in roads if len(e) == 2}
        self.seen: dict[str, list[tuple[int, GroundAtom]]] = {name: [] for name in self.changing}
        """The atoms of each predicate that are true in some state, with its number."""
        for number, state in enumerate(states):
            for atom in fluent_atoms(task, state):
                self.seen[atom[0]].append((number, atom))

    def in_order(self, atoms: Iterable[GroundAtom]) -> list[GroundAtom]:
        return sorted(atoms, key=lambda a: (self.rank[a[0]], *(self.index[n] for n in a[1:])))

    def _by_predicate(self, atoms: Iterable[GroundAtom]) -> dict[str, list[GroundAtom]]:
        found: dict[str, list[GroundAtom]] = {}
        for atom in self.in_order(atoms):
            found.setdefault(atom[0], []).append(atom)
        return found

    def static_relations(self, arity: int) -> Iterator[tuple[str, Sequence[GroundAtom]]]:
        """Predicates of one arity that never change, with their facts."""
        for name, atoms in self.static.items():
            if name not in self.changing and len(atoms[0]) == arity + 1:
                yield name, atoms


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
