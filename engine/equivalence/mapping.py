"""Bijections of predicates and types, and the solver that proposes the next one to try.

One Boolean per possible pair, exactly one per row and column, one clause per learned conflict.
Pairs of the guessed mapping are assumed as long as they can be, so that candidates stay close to
what a reader would expect. See docs/theory/equivalence.md, "Search for a mapping".
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.equivalence.budget import Budget, LimitExceededError
from engine.equivalence.operator_cover import Image, Renaming

Element = tuple[str, int | str, Image | str]
"""("predicate", p, image) or ("type", name, name): one pair of a mapping."""

MOST_PAIRS = 300_000


@dataclass(frozen=True, slots=True)
class Conflict:
    """No equivalence contains all these pairs: an instance of an operator refutes them together.

    `direction` 0: an operator of A that B cannot do; 1: the other way round.
    """

    elements: frozenset[Element]
    direction: int
    operator: int
    instance: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A complete mapping; `types` is None when types go by name."""

    predicates: tuple[Image, ...]
    types: tuple[tuple[str, str], ...] | None

    def elements(self) -> frozenset[Element]:
        pairs: set[Element] = {("predicate", p, image) for p, image in enumerate(self.predicates)}
        return frozenset(pairs | {("type", s, t) for s, t in self.types or ()})


def renaming(elements: Iterable[Element], direction: int, by_name: bool) -> Renaming:
    """The pairs as seen from the covered domain: A for direction 0, B for direction 1."""
    predicates: dict[int, Image] = {}
    types: dict[str, str] = {}
    for kind, mine, theirs in elements:
        if kind == "type":
            one, other = (mine, theirs) if direction == 0 else (theirs, mine)
            types[str(one)] = str(other)
        else:
            assert isinstance(mine, int)
            assert isinstance(theirs, tuple)
            target, order = theirs
            if direction == 0:
                predicates[mine] = theirs
            else:
                inverse = tuple(order.index(position) for position in range(len(order)))
                predicates[target] = (mine, inverse)
    return Renaming(predicates, None if by_name else types)


def column(element: Element) -> tuple[str, int | str]:
    """What the element's right-hand side is: a predicate of B (whatever the order) or a type."""
    kind, _, theirs = element
    return kind, theirs[0] if isinstance(theirs, tuple) else theirs


def unmatchable(domains: Mapping[int, Sequence[Image]]) -> set[int] | None:
    """Predicates that together have fewer possible images than members (Hall), or None."""
    owner: dict[int, int] = {}
    for start in sorted(domains, key=lambda p: len(domains[p])):
        parents: dict[int, int] = {}
        layer, free = [start], None
        while layer and free is None:
            following = []
            for p in layer:
                for q in dict.fromkeys(image[0] for image in domains[p]):
                    if q in parents:
                        continue
                    parents[q] = p
                    if q not in owner:
                        free = q
                        break
                    following.append(owner[q])
                if free is not None:
                    break
            layer = following
        if free is None:
            return {start, *(owner[q] for q in parents)}
        matched = {p: q for q, p in owner.items()}
        while free is not None:
            p = parents[free]
            owner[free] = p
            free = matched.get(p) if p != start else None
    return None


class MappingSolver:
    """Proposes candidates that contain no learned conflict."""

    def __init__(
        self,
        domains: Mapping[int, Sequence[Image]],
        types: Mapping[str, Sequence[str]],
        preferred: Sequence[Element],
        budget: Budget,
    ) -> None:
        import z3  # type: ignore[import-untyped]  # it has no annotations

        size = sum(len(images) for images in domains.values())
        if size > MOST_PAIRS:
            raise LimitExceededError(f"{size} possible pairs of predicates are too many")
        self._z3 = z3
        self._budget = budget
        self._rows: dict[tuple[object, ...], list[Element]] = defaultdict(list)
        self._variables: dict[Element, Any] = {}
        for p in domains:
            for image in domains[p]:
                self._add_variable(("predicate", p, image))
        for s in types:
            for t in types[s]:
                self._add_variable(("type", s, t))
        self._preferred = [e for e in preferred if e in self._variables]
        self._conflicts: list[Conflict] = []
        self._known: set[frozenset[Element]] = set()
        self._solver = self._fresh_solver()

    def _add_variable(self, element: Element) -> None:
        self._budget.tick()
        self._rows[0, element[0], element[1]].append(element)
        self._rows[1, *column(element)].append(element)
        self._variables[element] = self._z3.Bool(f"pair{len(self._variables)}")

    def _fresh_solver(self) -> Any:
        solver = self._z3.Solver()
        solver.set("random_seed", 0)
        for group in self._rows.values():
            self._budget.look()
            solver.add(self._z3.PbEq([(self._variables[e], 1) for e in group], 1))
        return solver

    def alternatives(self, element: Element, direction: int) -> list[Element]:
        """Other pairs for the same predicate or type of A (direction 0) or of B (1)."""
        kind, mine, _ = element
        key = (0, kind, mine) if direction == 0 else (1, *column(element))
        return [other for other in self._rows[key] if other != element]

    def learn(self, conflict: Conflict) -> bool:
        """False if it was known; pairs that are no longer possible make a conflict void."""
        if conflict.elements in self._known:
            return False
        self._known.add(conflict.elements)
        if all(element in self._variables for element in conflict.elements):
            self._conflicts.append(conflict)
            self._solver.add(self._clause(conflict))
        return True

    def _clause(self, conflict: Conflict) -> Any:
        ordered = sorted(conflict.elements, key=repr)
        return self._z3.Or([self._z3.Not(self._variables[element]) for element in ordered])

    def next(self) -> frozenset[Element] | None:
        """The pairs of the next candidate, or None: every mapping contains a conflict."""
        while True:
            assumed = {str(self._variables[e]): e for e in self._preferred}
            answer = self._check(self._solver, [self._variables[e] for e in self._preferred])
            if answer == self._z3.sat:
                chosen = self._solver.model()
                true = self._z3.is_true
                return frozenset(e for e, v in self._variables.items() if true(chosen[v]))
            core = [assumed[str(literal)] for literal in self._solver.unsat_core()]
            if not core:
                return None
            weakest = max(core, key=self._preferred.index)
            self._preferred.remove(weakest)

    def needed_conflicts(self, refuted: Iterable[Conflict]) -> list[Conflict]:
        """After `next` returned None: conflicts that already exclude every mapping.

        `refuted` are the pairs that were discarded before this solver was made.
        """
        conflicts = [*self._conflicts, *refuted]
        for element in itertools.chain(*(conflict.elements for conflict in conflicts)):
            if element not in self._variables:
                self._add_variable(element)
        solver = self._fresh_solver()
        tracked = {}
        for number, conflict in enumerate(conflicts):
            self._budget.tick()
            label = self._z3.Bool(f"conflict{number}")
            tracked[str(label)] = conflict
            solver.assert_and_track(self._clause(conflict), label)
        self._check(solver, [])
        return [tracked[str(label)] for label in solver.unsat_core()]

    def _check(self, solver: Any, assumptions: Sequence[Any]) -> Any:
        answer = self._budget.check(solver, *assumptions)
        if answer == self._z3.unknown:
            raise LimitExceededError(f"the solver gave up: {solver.reason_unknown()}")
        return answer
