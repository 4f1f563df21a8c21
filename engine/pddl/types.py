"""The type hierarchy of a domain and the objects of each type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum

from engine.pddl.model import OBJECT, Domain, Problem, TypedName

MOST_LEVELS = 50
"""Levels of types; the supertypes of every type are written out, which takes time and space."""


class Fit(Enum):
    """How a thing of some types fits where other types are asked for."""

    ALWAYS = "always"
    SOMETIMES = "sometimes"
    NEVER = "never"


class Types:
    """Subtype questions. Every type is below `object`, declared or not; cycles do no harm."""

    def __init__(self, declarations: Iterable[TypedName]) -> None:
        self._parents: dict[str, tuple[str, ...]] = {OBJECT: ()}
        for item in declarations:
            if item.name != OBJECT:
                known = self._parents.get(item.name, ())
                self._parents[item.name] = (*known, *item.types)
        for parents in list(self._parents.values()):
            for parent in parents:
                self._parents.setdefault(parent, (OBJECT,))
        self._supertypes = {name: self._closure(name) for name in self._parents}
        self._subtypes: dict[str, list[str]] = {name: [] for name in self._parents}
        for name, above in self._supertypes.items():
            for supertype in above:
                self._subtypes[supertype].append(name)
        self._fits: dict[tuple[tuple[str, ...], tuple[str, ...]], Fit] = {}

    @classmethod
    def of(cls, domain: Domain) -> Types:
        return cls(domain.types)

    def _closure(self, name: str) -> tuple[str, ...]:
        found = {name: None}
        waiting = [name]
        while waiting:
            for parent in self._parents[waiting.pop()]:
                if parent not in found:
                    found[parent] = None
                    waiting.append(parent)
        found.pop(OBJECT, None)
        return (*found, OBJECT)

    @property
    def names(self) -> tuple[str, ...]:
        """Every type, `object` first."""
        return tuple(self._parents)

    def __contains__(self, name: object) -> bool:
        return name in self._parents

    def parents(self, name: str) -> tuple[str, ...]:
        return self._parents[name]

    def supertypes(self, name: str) -> tuple[str, ...]:
        """The type itself and everything above it, `object` last."""
        return self._supertypes[name]

    def is_subtype(self, below: str, above: str) -> bool:
        """Whether everything of type `below` is of type `above`; a type is below itself."""
        return above in self._supertypes[below]

    def covers(self, asked: Iterable[str], given: str) -> bool:
        """Whether something of type `given` is of one of the types asked for."""
        return any(name in self._supertypes[given] for name in asked)

    def fit(self, given: tuple[str, ...], asked: tuple[str, ...]) -> Fit:
        """How something of the types `given` fits where the types `asked` are asked for."""
        answer = self._fits.get((given, asked))
        if answer is None:
            answer = self._fits[given, asked] = self._fit(given, asked)
        return answer

    def _fit(self, given: tuple[str, ...], asked: tuple[str, ...]) -> Fit:
        wanted = frozenset(asked)

        def covered(name: str) -> bool:
            return not wanted.isdisjoint(self._supertypes[name])

        if all(map(covered, given)):
            return Fit.ALWAYS
        below = {subtype for name in given for subtype in self._subtypes[name]}
        return Fit.SOMETIMES if any(map(covered, below)) else Fit.NEVER


def levels_of(declarations: Iterable[TypedName]) -> int:
    """Return the depth of the hierarchy; a cycle counts as many levels as it has types."""
    parents: dict[str, set[str]] = {}
    for item in declarations:
        parents.setdefault(item.name, set()).update(item.types)
    below: dict[str, list[str]] = {}
    for name, above in parents.items():
        for parent in above:
            below.setdefault(parent, []).append(name)
    open_parents = {
        name: sum(parent in parents and parent != OBJECT for parent in above)
        for name, above in parents.items()
    }
    level, levels = [name for name, count in open_parents.items() if not count], 0
    while level:
        levels += 1
        under = [child for name in level if name != OBJECT for child in below.get(name, ())]
        for child in under:
            open_parents[child] -= 1
        level = [child for child in dict.fromkeys(under) if not open_parents[child]]
    return levels + sum(count > 0 for count in open_parents.values())


def objects_of_type(
    domain: Domain, problem: Problem | None = None
) -> Mapping[str, tuple[str, ...]]:
    """The constants and objects of every type, in the order of declaration.

    An object of type `(either a b)` is counted for both.
    """
    types = Types.of(domain)
    result: dict[str, list[str]] = {name: [] for name in types.names}
    for item in (*domain.constants, *(problem.objects if problem else ())):
        above = {name for own in item.types for name in types.supertypes(own)}
        for name in above:
            result[name].append(item.name)
    return {name: tuple(names) for name, names in result.items()}
