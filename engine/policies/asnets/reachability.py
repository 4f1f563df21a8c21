"""Delete-relaxed reachability of a lifted task, by semi-naive joins on arrays.

A fact is a predicate's row of object ids; a binding of a schema is reached once every positive
precondition is. Each round joins only what the last round added with everything known, so no
binding is found twice (Ullman, Principles of Database and Knowledge-Base Systems, chapter 3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engine.errors import UnsupportedError
from engine.policies.asnets.relatedness import Argument, EqualityTest, RelatedAtom, Schema

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

MAX_BINDINGS = 20_000_000
"""Beyond this a join is given up: the task is too large for a network that grounds it."""


@dataclass(frozen=True)
class LiftedTask:
    """What reachability needs: object ids are positions in `objects`."""

    objects: tuple[str, ...]
    schemas: tuple[Schema, ...]
    candidates: tuple[tuple[Mask, ...], ...]  # per schema and parameter: objects of its type
    initial: Mapping[str, Ints]  # per predicate its rows of objects
    static: frozenset[str]


@dataclass(frozen=True)
class Reachable:
    facts: Mapping[str, Ints]  # per predicate the reached rows, in ascending order
    bindings: tuple[Ints, ...]  # per schema the rows of parameter values


def reach(task: LiftedTask) -> Reachable:
    """All facts and bindings reached from the initial facts when nothing is ever deleted."""
    return _Reachability(task).run()


def encode(rows: Ints, base: int) -> Ints:
    """One number per row of object ids, ordered as the rows are."""
    keys = np.zeros(len(rows), dtype=np.int64)
    for column in range(rows.shape[1]):
        keys = keys * base + rows[:, column]
    return keys


def decode(keys: Ints, arity: int, base: int) -> Ints:
    rows = np.empty((len(keys), arity), dtype=np.int64)
    for column in reversed(range(arity)):
        keys, rows[:, column] = np.divmod(keys, base)
    return rows


@dataclass
class _Relation:
    """The reached rows of one predicate: `old` before the last round, `new` from it."""

    arity: int
    old: Ints
    new: Ints
    total: Ints

    @classmethod
    def of(cls, keys: Ints, arity: int) -> _Relation:
        return cls(arity, keys[:0], keys, keys)

    def advance(self, found: Ints) -> None:
        self.old = self.total
        self.new = np.setdiff1d(found, self.total)
        self.total = np.union1d(self.total, self.new)


@dataclass
class _Bindings:
    """A table of partial bindings: one column per parameter, meaningful where `bound`."""

    table: Ints
    bound: set[int] = field(default_factory=set)
    tested: set[EqualityTest] = field(default_factory=set)


class _Reachability:
    def __init__(self, task: LiftedTask) -> None:
        self.task = task
        self.base = max(1, len(task.objects))
        self.object_ids = {name: number for number, name in enumerate(task.objects)}
        self.relations: dict[str, _Relation] = {}
        for schema in task.schemas:
            for atom in schema.related:
                self._declare(atom.predicate, len(atom.arguments))
        for predicate, rows in task.initial.items():
            self._declare(predicate, rows.shape[1])
            keys = np.unique(encode(rows, self.base))
            self.relations[predicate] = _Relation.of(keys, rows.shape[1])

    def _declare(self, predicate: str, arity: int) -> None:
        if self.base**arity >= 2**62:
            raise UnsupportedError(
                f"predicate '{predicate}' has too many ground atoms for an action schema network"
            )
        self.relations.setdefault(predicate, _Relation.of(np.empty(0, np.int64), arity))

    def run(self) -> Reachable:
        schemas = range(len(self.task.schemas))
        found = [[self._extend(index, self._empty(index), [])] for index in schemas]
        while self._add_effects([tables[-1] for tables in found]):
            for index, tables in enumerate(found):
                tables.append(self._new_bindings(index))
        facts = {
            name: decode(relation.total, relation.arity, self.base)
            for name, relation in self.relations.items()
        }
        return Reachable(facts, tuple(np.concatenate(tables) for tables in found))

    def _add_effects(self, tables: Sequence[Ints]) -> bool:
        """Enter what the last round's bindings add; false when that is nothing new."""
        added: dict[str, list[Ints]] = {name: [] for name in self.relations}
        for schema, table in zip(self.task.schemas, tables, strict=True):
            for position in schema.add:
                atom = schema.related[position]
                added[atom.predicate].append(encode(self._ground(atom, table), self.base))
        for name, relation in self.relations.items():
            relation.advance(np.concatenate([*added[name], np.empty(0, np.int64)]))
        return any(len(relation.new) for relation in self.relations.values())

    def _ground(self, atom: RelatedAtom, table: Ints) -> Ints:
        rows = np.empty((len(table), len(atom.arguments)), dtype=np.int64)
        for column, argument in enumerate(atom.arguments):
            rows[:, column] = self._values(argument, table)
        return rows

    def _values(self, argument: Argument, table: Ints) -> Ints | int:
        return table[:, argument] if isinstance(argument, int) else self.object_ids[argument]

    def _empty(self, index: int) -> _Bindings:
        parameters = len(self.task.schemas[index].parameters)
        return _Bindings(np.zeros((1, parameters), dtype=np.int64))

    def _new_bindings(self, index: int) -> Ints:
        """Bindings with at least one precondition from the last round.

        The first such precondition is the new one: those before it are taken from older rounds.
        """
        schema = self.task.schemas[index]
        tables = [self._empty(index).table[:0]]
        fluent = [p for p in schema.positive if schema.related[p].predicate not in self.task.static]
        for count, position in enumerate(fluent):
            relation = self.relations[schema.related[position].predicate]
            if len(relation.new):
                bindings = self._empty(index)
                self._join(index, bindings, position, relation.new)
                tables.append(self._extend(index, bindings, [position], fluent[:count]))
        return np.concatenate(tables)

    def _extend(
        self, index: int, bindings: _Bindings, joined: Sequence[int], older: Sequence[int] = ()
    ) -> Ints:
        """Complete partial bindings: join the other preconditions, then bind what is free."""
        schema = self.task.schemas[index]
        self._filter_equalities(schema, bindings)
        waiting = [position for position in schema.positive if position not in joined]
        while waiting and len(bindings.table):
            position = self._cheapest(schema, bindings, waiting)
            waiting.remove(position)
            relation = self.relations[schema.related[position].predicate]
            keys = relation.old if position in older else relation.total
            self._join(index, bindings, position, keys)
        if waiting:
            return bindings.table[:0]
        for parameter in range(len(schema.parameters)):
            if parameter not in bindings.bound:
                self._bind_freely(index, bindings, parameter)
        return self._without_forbidden(schema, bindings.table)

    def _cheapest(self, schema: Schema, bindings: _Bindings, waiting: Sequence[int]) -> int:
        """Tests come first, then the join with the smallest share of free arguments."""

        def cost(position: int) -> tuple[int, int, int]:
            atom = schema.related[position]
            free = {a for a in atom.arguments if isinstance(a, int)} - bindings.bound
            size = len(self.relations[atom.predicate].total)
            return (len(free) > 0, len(free) - len(atom.arguments), size)

        return min(waiting, key=cost)

    def _join(self, index: int, bindings: _Bindings, position: int, keys: Ints) -> None:
        """Keep the bindings that agree with some row of the relation, extended by it."""
        schema = self.task.schemas[index]
        atom = schema.related[position]
        rows = decode(keys, len(atom.arguments), self.base)
        keep = np.ones(len(rows), dtype=np.bool_)
        known: list[int] = []
        fresh: dict[int, int] = {}  # parameter -> column of its first occurrence
        for column, argument in enumerate(atom.arguments):
            if isinstance(argument, str):
                keep &= rows[:, column] == self.object_ids[argument]
            elif argument in bindings.bound:
                known.append(column)
            elif argument in fresh:
                keep &= rows[:, column] == rows[:, fresh[argument]]
            else:
                fresh[argument] = column
                keep &= self.task.candidates[index][argument][rows[:, column]]
        rows = rows[keep]
        parameters = [int(atom.arguments[column]) for column in known]
        left = encode(bindings.table[:, parameters], self.base)
        right = encode(rows[:, known], self.base)
        chosen, partner = _matches(left, right)
        bindings.table = bindings.table[chosen]
        for parameter, column in fresh.items():
            bindings.table[:, parameter] = rows[partner, column]
        bindings.bound.update(fresh)
        self._filter_equalities(schema, bindings)

    def _bind_freely(self, index: int, bindings: _Bindings, parameter: int) -> None:
        values = np.flatnonzero(self.task.candidates[index][parameter])
        _check_size(len(bindings.table) * len(values))
        count = len(bindings.table)
        bindings.table = np.repeat(bindings.table, len(values), axis=0)
        bindings.table[:, parameter] = np.tile(values, count)
        bindings.bound.add(parameter)
        self._filter_equalities(self.task.schemas[index], bindings)

    def _filter_equalities(self, schema: Schema, bindings: _Bindings) -> None:
        for test in schema.equalities:
            terms = (test.left, test.right)
            if test in bindings.tested or any(
                isinstance(term, int) and term not in bindings.bound for term in terms
            ):
                continue
            bindings.tested.add(test)
            left = self._values(test.left, bindings.table)
            right = self._values(test.right, bindings.table)
            same = np.broadcast_to(np.equal(left, right), len(bindings.table))
            bindings.table = bindings.table[same == test.equal]

    def _without_forbidden(self, schema: Schema, table: Ints) -> Ints:
        """Drop bindings with a negative precondition on a static fact that holds."""
        for position in schema.negative:
            atom = schema.related[position]
            if atom.predicate in self.task.static:
                keys = encode(self._ground(atom, table), self.base)
                table = table[~np.isin(keys, self.relations[atom.predicate].total)]
        return table


def _matches(left: Ints, right: Ints) -> tuple[Ints, Ints]:
    """All pairs of positions with equal keys."""
    order = np.argsort(right, kind="stable")
    ordered = right[order]
    first = np.searchsorted(ordered, left, side="left")
    counts = np.searchsorted(ordered, left, side="right") - first
    total = int(counts.sum())
    _check_size(total)
    chosen = np.repeat(np.arange(len(left)), counts)
    start = np.cumsum(counts) - counts
    partner = order[np.arange(total) + np.repeat(first - start, counts)]
    return chosen, partner


def _check_size(rows: int) -> None:
    if rows > MAX_BINDINGS:
        raise UnsupportedError(
            f"grounding the network needs more than {MAX_BINDINGS} bindings of one action",
            hint="use a smaller problem",
        )
