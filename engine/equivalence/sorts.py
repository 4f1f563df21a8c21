"""Types as sorts: an object is known by the set of relevant types it belongs to.

Two type hierarchies correspond when a bijection of their types maps the sorts of one onto the
sorts of the other: by name if that works, else by any isomorphism (`isomorphic_types`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from engine.pddl.model import Domain
from engine.pddl.types import Types

Sort = frozenset[str]


@dataclass(frozen=True, slots=True)
class SortTable:
    """The sorts that objects of one domain can have, over its relevant types."""

    sorts: frozenset[Sort]
    of_type: dict[str, Sort]

    def hardest(self, demands: Iterable[frozenset[str]]) -> list[Sort]:
        """Sorts of the objects that fit every demand and little else.

        A demand is the alternatives of one parameter. An object with fewer types can do less,
        so covering the smallest sorts covers all.
        """
        wanted = list(demands)
        fitting = [sort for sort in self.sorts if all(sort & types for types in wanted)]
        smallest = [s for s in fitting if not any(other < s for other in fitting)]
        return sorted(smallest, key=sorted)

    def type_of(self, sort: Sort) -> str:
        """A type whose objects have this sort; one that operators use, if there is one."""
        names = [name for name, own in self.of_type.items() if own == sort]
        return next((name for name in names if name in sort), names[0])


@dataclass(frozen=True, slots=True)
class TypeMatch:
    """How the types of A and B correspond: by name, by a search, or not at all (`refusal`)."""

    first: SortTable
    second: SortTable
    by_name: bool
    first_types: tuple[str, ...] = ()
    second_types: tuple[str, ...] = ()
    refusal: str = ""


def operator_types(domain: Domain) -> set[str]:
    """The types that decide what can be done: of parameters and constants."""
    typed = [parameter for action in domain.actions for parameter in action.parameters]
    return {name for entry in [*typed, *domain.constants] for name in entry.types}


def used_types(domain: Domain) -> set[str]:
    """The types of parameters, constants and declared predicates."""
    declared = [parameter for predicate in domain.predicates for parameter in predicate.parameters]
    return operator_types(domain) | {name for entry in declared for name in entry.types}


def declared_types(domain: Domain) -> set[str]:
    return set(Types.of(domain).names)


def sort_table(domain: Domain, relevant: set[str]) -> SortTable:
    types = Types.of(domain)
    of_type = {name: frozenset(types.supertypes(name)) & relevant for name in types.names}
    return SortTable(frozenset(of_type.values()), of_type)


def match_types(first: Domain, second: Domain) -> TypeMatch:
    """By name if names and hierarchy agree; else prepare a search for an isomorphism."""
    both = operator_types(first) | operator_types(second)
    tables = sort_table(first, both), sort_table(second, both)
    known = set(tables[0].of_type) & set(tables[1].of_type)
    if both <= known and tables[0].sorts == tables[1].sorts:
        clash = _constants_clash(first, second)
        return TypeMatch(*tables, by_name=True, refusal=clash)
    for relevant in (used_types, operator_types, declared_types):
        mine, theirs = relevant(first), relevant(second)
        tables = sort_table(first, mine), sort_table(second, theirs)
        if _shape(tables[0].sorts) == _shape(tables[1].sorts) and len(mine) == len(theirs):
            names = tuple(sorted(mine)), tuple(sorted(theirs))
            return TypeMatch(*tables, by_name=False, first_types=names[0], second_types=names[1])
    mine, theirs = used_types(first), used_types(second)
    only = sorted(mine - theirs), sorted(theirs - mine)
    return TypeMatch(*tables, by_name=False, refusal=_different_shape(only))


def _shape(sorts: frozenset[Sort]) -> list[int]:
    return sorted(len(sort) for sort in sorts)


def _different_shape(only: tuple[list[str], list[str]]) -> str:
    parts = [
        f"only {side} uses {', '.join(names)}"
        for side, names in zip("AB", only, strict=True)
        if names
    ]
    detail = "; ".join(parts) or "the same names form different hierarchies"
    return f"the type hierarchies of A and B do not correspond ({detail})"


def _constants_clash(first: Domain, second: Domain) -> str:
    theirs = {constant.name: constant.types for constant in second.constants}
    for constant in first.constants:
        other = theirs.get(constant.name, constant.types)
        if set(other) != set(constant.types):
            return (
                f"the constant {constant.name} is a {'/'.join(constant.types)} in A "
                f"but a {'/'.join(other)} in B"
            )
    return ""


def correspond(match: TypeMatch, pairs: dict[str, str]) -> bool:
    """Does this bijection of types carry the sorts of A onto those of B?"""
    image = {frozenset(pairs[name] for name in sort) for sort in match.first.sorts}
    return image == match.second.sorts


def possible_types(match: TypeMatch, fixed: dict[str, str]) -> dict[str, list[str]]:
    """Per type of A the types of B with as many supertypes and subtypes, or the fixed one."""

    def signature(table: SortTable, name: str) -> tuple[list[int], int]:
        above = table.of_type[name]
        return sorted(len(s) for s in table.sorts if name in s), len(above)

    theirs = {name: signature(match.second, name) for name in match.second_types}
    return {
        name: [
            other
            for other in match.second_types
            if theirs[other] == signature(match.first, name) and fixed.get(name, other) == other
        ]
        for name in match.first_types
    }


def find_isomorphism(match: TypeMatch, possible: dict[str, list[str]]) -> dict[str, str] | None:
    """Some bijection of the types under which the sorts correspond."""
    order = sorted(possible, key=lambda name: len(possible[name]))

    def consistent(pairs: dict[str, str], name: str, other: str) -> bool:
        mine, theirs = match.first.of_type, match.second.of_type
        return all(
            (a in mine[name]) == (b in theirs[other]) and (name in mine[a]) == (other in theirs[b])
            for a, b in pairs.items()
        )

    def extend(pairs: dict[str, str]) -> dict[str, str] | None:
        if len(pairs) == len(order):
            return dict(pairs) if correspond(match, pairs) else None
        name = order[len(pairs)]
        for other in possible[name]:
            if other not in pairs.values() and consistent(pairs, name, other):
                found = extend({**pairs, name: other})
                if found is not None:
                    return found
        return None

    return extend({})
