"""The loop that finds a mapping under which both domains cover each other, or refutes them all.

First the guessed mapping is checked. If it fails, single-predicate projections discard pairs,
then the solver proposes mappings; every operator that is not covered yields a short conflict:
the fewest pairs whose projection already fails, and the same failure for neighboring pairs.
See docs/theory/equivalence.md, "Search for a mapping".
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from engine.equivalence.budget import Budget, LimitExceededError
from engine.equivalence.ground_cover import Cover, Gap
from engine.equivalence.mapping import (
    Candidate,
    Conflict,
    Element,
    MappingSolver,
    column,
    renaming,
    unmatchable,
)
from engine.equivalence.operator_cover import Coverage, Image, Renaming
from engine.equivalence.schemas import LiftedModel
from engine.equivalence.similarity import guess_predicates, guess_types
from engine.equivalence.sorts import TypeMatch, correspond, find_isomorphism, possible_types
from engine.records.comparison import SIDES, Parameters
from engine.records.events import ComparisonEvent, ComparisonProgress, OperatorChecked, StageStarted

LESSONS = 4
"""How many failures of one mapping become conflicts; simple operators teach most."""

NO_OPERATOR = -1
"""In a conflict: the types alone do not correspond."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An operator instance that the other domain cannot do under the mapping tried."""

    direction: int
    operator: int
    instance: int
    gap: Gap


@dataclass(frozen=True, slots=True)
class Checked:
    """A candidate with its failures; `covers` holds every cover found, by instance."""

    candidate: Candidate
    failures: tuple[Failure, ...]
    covers: dict[tuple[int, int], list[Cover]] = field(compare=False)


@dataclass(frozen=True, slots=True)
class Outcome:
    """`best` is the equivalence, or the mapping with the fewest uncovered operators.

    `conflicts` exclude every mapping; `candidates` counts the mappings tried. `unfinished` is the
    limit that left other mappings possible.
    """

    best: Checked
    conflicts: tuple[Conflict, ...]
    candidates: int
    learned: int
    unfinished: str = ""

    @property
    def equivalent(self) -> bool:
        return not self.best.failures


class MappingSearch:
    """One reading of the parameters; `run` is called once."""

    def __init__(
        self,
        models: tuple[LiftedModel, LiftedModel],
        match: TypeMatch,
        *,
        distinct: bool,
        permute: bool,
        budget: Budget,
        emit: Callable[[ComparisonEvent], None],
    ) -> None:
        self._models = models
        self._match = match
        self._permute = permute
        self._budget = budget
        self._emit = emit
        self._parameters = Parameters.DISTINCT if distinct else Parameters.PDDL
        first, second = match.first, match.second
        self.directions = (
            Coverage(models[0], models[1], (first, second), distinct, budget),
            Coverage(models[1], models[0], (second, first), distinct, budget),
        )
        self._operators = sum(len(model.schemas) for model in models)
        self._simple_first = sorted(
            ((side, o) for side in (0, 1) for o in range(len(models[side].schemas))),
            key=lambda place: len(models[place[0]].schemas[place[1]].predicates),
        )
        self._candidates = 0
        self._learned = 0

    def run(self) -> Outcome:
        self._stage("first mapping")
        best = self.check(self._guess())
        if not best.failures:
            self._assert_projections_agree(best.candidate)
            return Outcome(best, (), self._candidates, 0)
        try:
            return self._other_mappings(best)
        except LimitExceededError as limit:
            return Outcome(best, (), self._candidates, self._learned, str(limit))

    def _other_mappings(self, best: Checked) -> Outcome:
        self._stage("projections")
        domains = self._single_projections()
        stuck = unmatchable(domains)
        if stuck is not None:
            reach = [image for p in stuck for image in domains[p]]
            why = tuple(self._refuted_pairs(stuck, dict.fromkeys(stuck, reach)))
            return Outcome(best, why, self._candidates, self._learned)
        self._stage("mappings")
        return self._propose_and_refute(best, domains)

    def _propose_and_refute(self, best: Checked, domains: dict[int, list[Image]]) -> Outcome:
        types = self._possible_types()
        solver = MappingSolver(domains, types, self._preferences(best.candidate), self._budget)
        self._learn_from(best, solver)
        while (chosen := solver.next()) is not None:
            candidate = self._candidate(chosen)
            if candidate.types is not None and not correspond(self._match, dict(candidate.types)):
                pairs = frozenset(element for element in chosen if element[0] == "type")
                solver.learn(Conflict(pairs, 0, NO_OPERATOR, 0))
                continue
            checked = self.check(candidate, max(LESSONS, len(best.failures)))
            if len(checked.failures) < len(best.failures):
                best = checked
            if not checked.failures:
                self._assert_projections_agree(candidate)
                return Outcome(best, (), self._candidates, self._learned)
            self._learn_from(checked, solver)
        refuted = self._refuted_pairs(domains, domains)
        needed = (c for c in solver.needed_conflicts(refuted) if c.operator != NO_OPERATOR)
        return Outcome(best, tuple(needed), self._candidates, self._learned)

    def _refuted_pairs(
        self, predicates: Iterable[int], domains: dict[int, list[Image]]
    ) -> Iterator[Conflict]:
        """Why these predicates cannot be mapped outside of their domains."""
        paired = {image[0] for _, image in self._inert_pairs()}
        for p in sorted(predicates):
            arity, possible = self._models[0].arities[p], set(domains[p])
            for q, other in enumerate(self._models[1].arities):
                for order in self.orders(arity) if other == arity and q not in paired else ():
                    if (q, order) not in possible:
                        conflict = self._refute_pair(p, (q, order))
                        assert conflict is not None
                        yield conflict

    def check(self, candidate: Candidate, enough: int | None = None) -> Checked:
        """Cover every instance of every operator, both ways, simple operators first.

        An operator is left at its first gap, the candidate after `enough` failures.
        """
        self._candidates += 1
        failures: list[Failure] = []
        covers: dict[tuple[int, int], list[Cover]] = {}
        names = [self.renaming(candidate, direction) for direction in (0, 1)]
        for direction, operator in self._simple_first:
            answer = self._check_operator(direction, operator, names[direction])
            if isinstance(answer, Failure):
                failures.append(answer)
            else:
                covers[direction, operator] = answer
            name = self.directions[direction].covered.schemas[operator].name
            covered, states = isinstance(answer, list), self._budget.states
            self._emit(OperatorChecked(self._parameters, SIDES[direction], name, covered, states))
            if enough is not None and len(failures) >= enough:
                break
        self._report("mappings", len(covers))
        return Checked(candidate, tuple(failures), covers)

    def _check_operator(
        self, direction: int, operator: int, names: Renaming
    ) -> list[Cover] | Failure:
        coverage = self.directions[direction]
        found: list[Cover] = []
        for number, _ in coverage.instances(operator):
            answer = coverage.whole(operator, number, names)
            if isinstance(answer, Gap):
                return Failure(direction, operator, number, answer)
            found.append(answer)
        return found

    @property
    def types_by_name(self) -> bool:
        return self._match.by_name

    def renaming(self, candidate: Candidate, direction: int) -> Renaming:
        return renaming(candidate.elements(), direction, self._match.by_name)

    # Candidates

    def _guess(self) -> Candidate:
        first, second = self._models
        pairs = guess_predicates(first, second, self._budget)
        images = tuple((pairs[p], tuple(range(n))) for p, n in enumerate(first.arities))
        if self._match.by_name:
            return Candidate(images, None)
        names = {first.predicates[p]: second.predicates[q] for p, q in pairs.items()}
        match = self._match
        types = (match.first_types, match.second_types)
        guess = guess_types(first.domain, second.domain, types, names)
        possible = self._possible_types()
        if not all(t in possible[s] for s, t in guess.items()) or not correspond(match, guess):
            found = find_isomorphism(match, possible)
            assert found is not None, "the caller made sure that there is one"
            guess = found
        return Candidate(images, tuple(sorted(guess.items())))

    def _possible_types(self) -> dict[str, list[str]]:
        if self._match.by_name:
            return {}
        return possible_types(self._match, fixed_types(self._models))

    def _preferences(self, guess: Candidate) -> list[Element]:
        """Pairs of the guess; those of predicates that occur in fewer operators go first."""
        ordered = sorted(guess.elements(), key=repr)
        counts = [0] * len(guess.predicates)
        for schema in self._models[0].schemas:
            for predicate in schema.predicates:
                counts[predicate] += 1
        return sorted(ordered, key=lambda e: -counts[e[1]] if isinstance(e[1], int) else -9999)

    def _candidate(self, chosen: frozenset[Element]) -> Candidate:
        images = dict(self._inert_pairs())
        types: dict[str, str] = {}
        for kind, mine, theirs in chosen:
            if kind == "type":
                types[str(mine)] = str(theirs)
            else:
                assert isinstance(mine, int)
                assert isinstance(theirs, tuple)
                images[mine] = theirs
        ordered = tuple(images[p] for p in range(len(self._models[0].predicates)))
        by_name = self._match.by_name
        return Candidate(ordered, None if by_name else tuple(sorted(types.items())))

    def _inert_pairs(self) -> Iterator[tuple[int, Image]]:
        """Predicates in no operator are interchangeable: as many as possible are paired off."""
        inert = []
        for model in self._models:
            used = frozenset().union(*(schema.predicates for schema in model.schemas))
            inert.append([p for p in range(len(model.predicates)) if p not in used])
        for arity in sorted(set(self._models[0].arities)):
            mine, theirs = (
                [p for p in unused if model.arities[p] == arity]
                for unused, model in zip(inert, self._models, strict=True)
            )
            for p, q in zip(mine, theirs, strict=False):
                yield p, (q, tuple(range(arity)))

    # Conflicts

    def _single_projections(self) -> dict[int, list[Image]]:
        """Per predicate the images that single-predicate projections do not refute.

        Predicates that look the same alone are handled together.
        """
        inert = dict(self._inert_pairs())
        taken = {image[0] for image in inert.values()}
        mine = self._classes(0, set(inert))
        theirs = self._classes(1, taken)
        domains: dict[int, list[Image]] = {}
        for members in mine.values():
            arity = self._models[0].arities[members[0]]
            images: list[Image] = []
            for others in theirs.values():
                if self._models[1].arities[others[0]] != arity:
                    continue
                for order in self.orders(arity):
                    self._budget.look()
                    if self._refute_pair(members[0], (others[0], order)) is None:
                        images += [(q, order) for q in others]
            domains |= dict.fromkeys(members, images)
        self._report("projections", 0)
        return domains

    def _classes(self, side: int, skip: set[int]) -> dict[Hashable, list[int]]:
        model, covered = self._models[side], self.directions[side]
        covering = self.directions[1 - side]
        classes: dict[Hashable, list[int]] = {}
        for p, arity in enumerate(model.arities):
            if p not in skip:
                shapes = frozenset(covered.covered_class(p))
                key = (arity, shapes, covering.covering_class(p))
                classes.setdefault(key, []).append(p)
        return classes

    def orders(self, arity: int) -> list[tuple[int, ...]]:
        if self._permute:
            return list(itertools.permutations(range(arity)))
        return [tuple(range(arity))]

    def _refute_pair(self, p: int, image: Image) -> Conflict | None:
        """An operator that, restricted to p or to its image, the other side cannot do."""
        element: Element = ("predicate", p, image)
        for direction, predicate in ((0, p), (1, image[0])):
            coverage = self.directions[direction]
            names = renaming([element], direction, self._match.by_name)
            for operator in coverage.covered_class(predicate).values():
                if coverage.part(operator, 0, names) is not None:
                    return Conflict(frozenset([element]), direction, operator, 0)
        return None

    def _learn_from(self, checked: Checked, solver: MappingSolver) -> None:
        for failure in checked.failures[:LESSONS]:
            conflict = self._minimal(failure, checked.candidate)
            for found in (conflict, *self._neighbors(conflict, solver)):
                self._learned += solver.learn(found)
        self._report("mappings", len(checked.covers))

    def _minimal(self, failure: Failure, candidate: Candidate) -> Conflict:
        """Drop pairs as long as the projection onto the others still fails."""
        coverage = self.directions[failure.direction]
        instance = coverage.instance(failure.operator, failure.instance)
        used = coverage.covered.schemas[failure.operator].predicates
        needed = coverage.types_of(instance)
        side = failure.direction

        def concerns(element: Element) -> bool:
            name = element[1] if side == 0 else column(element)[1]
            return name in (needed if element[0] == "type" else used)

        elements = sorted((e for e in candidate.elements() if concerns(e)), key=repr)
        if self._fails(failure, elements):
            for element in list(elements):
                fewer = [e for e in elements if e != element]
                if self._fails(failure, fewer):
                    elements = fewer
        return Conflict(frozenset(elements), side, failure.operator, failure.instance)

    def _fails(self, at: Failure | Conflict, elements: Iterable[Element]) -> bool:
        names = renaming(elements, at.direction, self._match.by_name)
        coverage = self.directions[at.direction]
        return coverage.part(at.operator, at.instance, names) is not None

    def _fails_as_a_whole(self, at: Failure | Conflict, elements: Iterable[Element]) -> bool:
        """Whether an operator is covered depends on the images of its own predicates only."""
        names = renaming(elements, at.direction, self._match.by_name)
        coverage = self.directions[at.direction]
        return isinstance(coverage.whole(at.operator, at.instance, names), Gap)

    def _neighbors(self, conflict: Conflict, solver: MappingSolver) -> Iterator[Conflict]:
        """The same operator instance with one pair exchanged: often refuted for the same reason."""
        fails = self._fails
        if not fails(conflict, conflict.elements):
            fails = self._fails_as_a_whole
        for element in sorted(conflict.elements, key=repr):
            rest = conflict.elements - {element}
            rows, columns = {e[1] for e in rest}, {column(e) for e in rest}
            for other in solver.alternatives(element, conflict.direction):
                if other[1] in rows or column(other) in columns:
                    continue
                changed = frozenset(rest | {other})
                if fails(conflict, changed):
                    yield replace(conflict, elements=changed)

    def _assert_projections_agree(self, candidate: Candidate) -> None:
        """A full check must never succeed for a mapping that a projection refutes."""
        for p, image in enumerate(candidate.predicates):
            conflict = self._refute_pair(p, image)
            assert conflict is None, f"covered in full, refuted by a projection: {conflict}"

    # Events

    def _stage(self, stage: str) -> None:
        self._budget.look()
        self._emit(StageStarted(self._parameters, stage))

    def _report(self, stage: str, covered: int) -> None:
        self._emit(
            ComparisonProgress(
                parameters=self._parameters,
                stage=stage,
                candidates=self._candidates,
                conflicts=self._learned,
                operators_covered=covered,
                operators=self._operators,
                states=self._budget.states,
                seconds=self._budget.seconds,
            )
        )


def fixed_types(models: tuple[LiftedModel, LiftedModel]) -> dict[str, str]:
    """A constant has the same name in both domains, so its types correspond."""
    theirs = {constant.name: constant.types[0] for constant in models[1].domain.constants}
    return {
        constant.types[0]: theirs[constant.name]
        for constant in models[0].domain.constants
        if constant.name in theirs
    }
