"""The ground task an action schema network is unrolled over.

Operators and facts exactly as cpddl prepares them for its policies: relaxed reachability,
operators without effect dropped, sorted by name, equal ones merged, then pruned by forward h2.
The pruning is part of the network's meaning: it decides what is pooled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engine.errors import Location, UnsupportedError
from engine.pddl.model import OBJECT, Atom, Domain, Problem, TypedName, conjuncts
from engine.pddl.types import objects_of_type
from engine.policies.asnets.h2 import StripsOperators, forward_h2
from engine.policies.asnets.reachability import LiftedTask, Reachable, encode, reach
from engine.policies.asnets.relatedness import Relatedness, Schema
from engine.task.task import GroundAtom

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

MISSING = -1
"""A related atom that is not a fact of the task."""


@dataclass(frozen=True)
class Grounding:
    """Operators lie in blocks, one per schema, in the order of their names.

    `related[a]` holds the fact ids of the operators of schema `a`, one column per related atom.
    """

    relatedness: Relatedness
    facts: tuple[GroundAtom, ...]
    predicate_of_fact: Ints
    operators: tuple[str, ...]
    schema_of_operator: Ints
    related: tuple[Ints, ...]
    goal: Mask
    reachable_operators: int  # before merging and pruning
    pruned_operators: int  # removed by h2

    def block(self, schema: int) -> slice:
        """The operators of a schema."""
        members = np.flatnonzero(self.schema_of_operator == schema)
        return slice(int(members[0]), int(members[-1]) + 1) if len(members) else slice(0, 0)


def ground(relatedness: Relatedness, domain: Domain, problem: Problem) -> Grounding:
    lifted = _lifted_task(relatedness, domain, problem)
    reachable = reach(lifted)
    table = _FactTable(relatedness, lifted, reachable)
    operators = _Operators.of(lifted, reachable, table)
    operators = operators.select(operators.changes_something())
    reachable_count = len(operators.names)
    operators = operators.select(operators.first_of_equals())
    merged_count = len(operators.names)
    initial = table.find_atoms(problem.init)
    reached_operators, reached_facts = forward_h2(operators.strips(), initial)
    operators = operators.select(reached_operators)
    pruned = merged_count - len(operators.names)
    number = np.full(len(table.atoms) + 1, MISSING, dtype=np.int64)
    number[:-1][reached_facts] = np.arange(np.count_nonzero(reached_facts))
    operators = operators.renumber(number)
    operators = operators.select(operators.changes_something())
    kept = np.flatnonzero(reached_facts)
    return Grounding(
        relatedness,
        tuple(table.atoms[fact] for fact in kept),
        table.predicates[kept],
        operators.names,
        operators.schemas,
        tuple(
            operators.related[operators.schemas == index][:, : len(schema.related)]
            for index, schema in enumerate(relatedness.schemas)
        ),
        table.find_atoms(_goal_atoms(problem, relatedness.static))[kept],
        reachable_count,
        pruned,
    )


def _lifted_task(relatedness: Relatedness, domain: Domain, problem: Problem) -> LiftedTask:
    members = objects_of_type(domain, problem)
    objects = tuple(sorted(set(members[OBJECT])))
    ids = {name: number for number, name in enumerate(objects)}

    def candidates(parameter: TypedName) -> Mask:
        mask = np.zeros(len(objects), dtype=np.bool_)
        mask[[ids[name] for kind in parameter.types for name in members[kind]]] = True
        return mask

    return LiftedTask(
        objects,
        relatedness.schemas,
        tuple(
            tuple(candidates(parameter) for parameter in schema.parameters)
            for schema in relatedness.schemas
        ),
        _rows(problem.init, ids),
        relatedness.static,
    )


def _rows(atoms: Iterable[Atom], ids: Mapping[str, int]) -> dict[str, Ints]:
    """Per predicate the atoms' objects as ids, one row each."""
    rows: dict[str, list[list[int]]] = {}
    for atom in atoms:
        line = [ids[term.name] for term in atom.arguments]
        rows.setdefault(atom.predicate, []).append(line)
    return {
        name: np.array(lines, dtype=np.int64).reshape(len(lines), -1)
        for name, lines in rows.items()
    }


class _FactTable:
    """Numbers the reached facts: by predicate in domain order, then by objects."""

    def __init__(self, relatedness: Relatedness, lifted: LiftedTask, reachable: Reachable) -> None:
        self.ids = {name: number for number, name in enumerate(lifted.objects)}
        self.base = max(1, len(lifted.objects))
        self.keys: dict[str, Ints] = {}
        self.start: dict[str, int] = {}
        self.atoms: list[GroundAtom] = []
        predicates: list[int] = []
        for index, predicate in enumerate(relatedness.predicates):
            rows = reachable.facts.get(predicate)
            if rows is None:
                continue
            self.keys[predicate] = encode(rows, self.base)
            self.start[predicate] = len(self.atoms)
            self.atoms += [(predicate, *(lifted.objects[i] for i in row)) for row in rows.tolist()]
            predicates += [index] * len(rows)
        self.predicates = np.array(predicates, dtype=np.int64)

    def find(self, predicate: str, rows: Ints) -> Ints:
        """Fact ids of rows of objects, `MISSING` for those never reached."""
        keys = self.keys.get(predicate)
        if keys is None or not len(keys):
            return np.full(len(rows), MISSING, dtype=np.int64)
        wanted = encode(rows, self.base)
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[place] == wanted, place + self.start[predicate], MISSING)

    def find_atoms(self, atoms: Iterable[Atom]) -> Mask:
        """Return a mask of the facts among the atoms; other atoms are ignored."""
        mask = np.zeros(len(self.atoms), dtype=np.bool_)
        for predicate, rows in _rows(atoms, self.ids).items():
            found = self.find(predicate, rows)
            mask[found[found >= 0]] = True
        return mask


@dataclass(frozen=True)
class _Operators:
    """Ground operators in the order of their names.

    `related` has one column per related atom, padded with `MISSING`; the masks say which columns
    are conditions and effects of each operator.
    """

    names: tuple[str, ...]
    schemas: Ints
    related: Ints
    positive: Mask
    add: Mask
    delete: Mask

    @classmethod
    def of(cls, lifted: LiftedTask, reachable: Reachable, table: _FactTable) -> _Operators:
        blocks = []
        for index, schema in enumerate(lifted.schemas):
            bindings = reachable.bindings[index]
            words = [[schema.name, *(lifted.objects[i] for i in row)] for row in bindings.tolist()]
            related = _related_facts(schema, bindings, table)
            blocks.append(([" ".join(row) for row in words], index, schema, related))
        # Sorted by name, operators of one schema stay together: a space is below every letter.
        blocks.sort(key=lambda block: f"{block[2].name} ")
        width = max([1, *(len(schema.related) for schema in lifted.schemas)])
        parts = [cls._block(*block, width) for block in blocks]
        return cls(
            tuple(name for part in parts for name in part.names),
            np.concatenate([part.schemas for part in parts]),
            np.concatenate([part.related for part in parts]),
            np.concatenate([part.positive for part in parts]),
            np.concatenate([part.add for part in parts]),
            np.concatenate([part.delete for part in parts]),
        )

    @classmethod
    def _block(
        cls, names: list[str], index: int, schema: Schema, related: Ints, width: int
    ) -> _Operators:
        order = sorted(range(len(names)), key=names.__getitem__)
        shape = (len(names), width)
        padded = np.full(shape, MISSING, dtype=np.int64)
        padded[:, : related.shape[1]] = related[order]

        def columns(positions: Sequence[int]) -> Mask:
            mask = np.zeros(shape, dtype=np.bool_)
            mask[:, list(positions)] = True
            return mask

        positive, add, delete = map(columns, (schema.positive, schema.add, schema.delete))
        delete &= ~_names_one_of(padded, padded, add)
        add &= ~_names_one_of(padded, padded, positive)
        return cls(
            tuple(names[number] for number in order),
            np.full(len(names), index, dtype=np.int64),
            padded,
            positive,
            add,
            delete & (padded >= 0),
        )

    def select(self, keep: Mask) -> _Operators:
        names = tuple(
            name for name, chosen in zip(self.names, keep.tolist(), strict=True) if chosen
        )
        return _Operators(
            names,
            self.schemas[keep],
            self.related[keep],
            self.positive[keep],
            self.add[keep],
            self.delete[keep],
        )

    def renumber(self, number: Ints) -> _Operators:
        """The same operators over fewer facts; `number[-1]` stands for missing ones."""
        related = number[self.related]
        return replace(self, related=related, delete=self.delete & (related >= 0))

    def changes_something(self) -> Mask:
        return np.asarray((self.add | self.delete).any(axis=1))

    def first_of_equals(self) -> Mask:
        """One operator per precondition and add effect; as in cpddl, deletes are not compared."""
        keys = np.concatenate([self._facts(self.positive), self._facts(self.add)], axis=1)
        _, first = np.unique(keys, axis=0, return_index=True)
        keep = np.zeros(len(self.names), dtype=np.bool_)
        keep[first] = True
        return keep

    def strips(self) -> StripsOperators:
        return StripsOperators(*map(self._facts, (self.positive, self.add, self.delete)))

    def _facts(self, columns: Mask) -> Ints:
        """The facts of the marked columns as sorted sets, padded at the end."""
        facts = -np.sort(-np.where(columns, self.related, MISSING), axis=1)
        facts[:, 1:][facts[:, 1:] == facts[:, :-1]] = MISSING
        return -np.sort(-facts, axis=1)


def _related_facts(schema: Schema, bindings: Ints, table: _FactTable) -> Ints:
    related = np.full((len(bindings), len(schema.related)), MISSING, dtype=np.int64)
    for position, atom in enumerate(schema.related):
        rows = np.empty((len(bindings), len(atom.arguments)), dtype=np.int64)
        for column, argument in enumerate(atom.arguments):
            values = bindings[:, argument] if isinstance(argument, int) else table.ids[argument]
            rows[:, column] = values
        related[:, position] = table.find(atom.predicate, rows)
    return related


def _names_one_of(related: Ints, facts: Ints, columns: Mask) -> Mask:
    """For each entry whether its fact occurs in a marked column of the same operator."""
    result = np.zeros(related.shape, dtype=np.bool_)
    for column in range(facts.shape[1]):
        same = related == facts[:, column : column + 1]
        result |= same & columns[:, column : column + 1]
    return result


def _goal_atoms(problem: Problem, static: frozenset[str]) -> list[Atom]:
    """Return the goal's atoms without static ones, which carry no information (as in cpddl)."""
    atoms = []
    for part in conjuncts(problem.goal):
        if not isinstance(part, Atom):
            raise UnsupportedError(
                "action schema networks need a goal that is a conjunction of atoms",
                Location.of(problem.path, part.position.line, part.position.column),
                "rewrite the goal or use another policy",
            )
        if part.predicate not in static:
            atoms.append(part)
    return atoms
