"""Instances of an operator: one per way its parameters can coincide with each other and constants.

Two readings: with distinct objects, different parameters stand for different objects (either may
be a constant); as in PDDL they may coincide. Objects are numbers: the constants of both domains
first, then the fresh objects of the instance, each with the hardest sort its parameters allow.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.equivalence.schemas import LiftedAtom, Schema
from engine.equivalence.sorts import Sort, SortTable

GroundAtom = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """What a ground action tests and does, normalized (`ground_change`)."""

    pre: frozenset[GroundAtom]
    npre: frozenset[GroundAtom]
    add: frozenset[GroundAtom]
    delete: frozenset[GroundAtom]

    @property
    def atoms(self) -> frozenset[GroundAtom]:
        return self.pre | self.npre | self.add | self.delete

    @property
    def idle(self) -> bool:
        """Never applicable or without effect: the empty sequence does the same."""
        return not (self.add or self.delete) or bool(self.pre & self.npre)


@dataclass(frozen=True, slots=True)
class Instance:
    """`arguments[i]` is the object of parameter i; `sorts` lists all objects, constants first."""

    arguments: tuple[int, ...]
    sorts: tuple[Sort, ...]
    change: Change


def ground_atom(atom: LiftedAtom, arguments: Sequence[int]) -> GroundAtom:
    return (atom[0], *(arguments[term] if term >= 0 else -1 - term for term in atom[1:]))


def ground_change(schema: Schema, arguments: Sequence[int]) -> Change:
    """Substitute, then normalize: add wins over delete, effects that already hold are dropped."""

    def ground(atoms: frozenset[LiftedAtom]) -> frozenset[GroundAtom]:
        return frozenset(ground_atom(atom, arguments) for atom in atoms)

    pre, npre, add = ground(schema.pre), ground(schema.npre), ground(schema.add)
    return Change(pre, npre, add - pre, ground(schema.delete) - add - npre)


def equalities_hold(schema: Schema, arguments: Sequence[int]) -> bool:
    def value(term: int) -> int:
        return arguments[term] if term >= 0 else -1 - term

    return all(value(a) == value(b) for a, b in schema.same) and all(
        value(a) != value(b) for a, b in schema.different
    )


def instances(
    schema: Schema,
    table: SortTable,
    constant_sorts: tuple[Sort, ...],
    distinct: bool,
) -> Iterator[Instance]:
    """Every instance that has to be covered, the one with all parameters fresh first."""
    for arguments in _coincidences(schema, constant_sorts, distinct):
        if not equalities_hold(schema, arguments):
            continue
        change = ground_change(schema, arguments)
        for sorts in _hardest_sorts(schema, arguments, table, len(constant_sorts)):
            yield Instance(arguments, constant_sorts + sorts, change)


def _coincidences(
    schema: Schema, constant_sorts: tuple[Sort, ...], distinct: bool
) -> Iterator[tuple[int, ...]]:
    """Assign parameters one by one: a new object, an earlier one, a constant."""
    constants = len(constant_sorts)

    def extend(chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(chosen) == len(schema.parameters):
            yield chosen
            return
        fresh = max([constants - 1, *chosen]) + 1
        yield from extend((*chosen, fresh))
        for known in range(fresh):
            if distinct and (known >= constants or known in chosen):
                continue
            if known >= constants or constant_sorts[known] & schema.types[len(chosen)]:
                yield from extend((*chosen, known))

    yield from extend(())


def _hardest_sorts(
    schema: Schema, arguments: tuple[int, ...], table: SortTable, constants: int
) -> Iterator[tuple[Sort, ...]]:
    """The sorts of the fresh objects; none if some parameters have no common subtype."""
    choices = []
    for fresh in range(constants, max([constants - 1, *arguments]) + 1):
        demands = [schema.types[i] for i, chosen in enumerate(arguments) if chosen == fresh]
        choices.append(table.hardest(demands))
    yield from itertools.product(*choices)
