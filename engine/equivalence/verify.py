"""An independent check of a comparison's evidence: replays every claim with a plain simulator.

Shares no code with the prover beyond the PDDL model. Macros are replayed in random states over
the operator's objects and some more; exclusions and counterexamples are searched exhaustively;
that the exclusions leave no mapping is asked of the solver afresh (`verify_exclusions`).
See docs/theory/equivalence.md, "Verifying a comparison".
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from engine.equivalence.budget import Budget, no_budget
from engine.equivalence.replay import Fact, Facts, Simulator, TooLargeError, holds, literals, named
from engine.equivalence.verify_exclusions import (
    BOUND,
    Translation,
    check_exclusion,
    uncovered_mapping,
)
from engine.errors import PddlError
from engine.pddl import parse_problem
from engine.pddl.model import Action, Atom, Condition, Domain, Problem
from engine.pddl.types import Types
from engine.records.comparison import (
    SIDES,
    Counterexample,
    EquivalenceVerdict,
    Macro,
    OperatorCover,
    Parameters,
    ReadingResult,
    ThingOfBoth,
)

STATES_PER_CHOICE = 2
MOST_CHOICES = 60
"""Argument tuples tried per operator beyond the patterns of its macros."""
MOST_CONDITIONS = 6


def verify_certificate(
    reading: ReadingResult,
    domain_a: Domain,
    domain_b: Domain,
    seed: int = 0,
    budget: Budget | None = None,
) -> list[str]:
    """What is wrong with the evidence, in sentences; empty if it all holds.

    Raises LimitExceededError if the budget does not suffice.
    """
    if reading.verdict is EquivalenceVerdict.UNDECIDED:
        return []
    if not reading.mapping and (domain_a.predicates or domain_b.predicates):
        counts = [Counter(p.arity for p in d.predicates) for d in (domain_a, domain_b)]
        return [] if counts[0] != counts[1] else ["a mapping of the predicates is not excluded"]
    checker = _Checker(reading, (domain_a, domain_b), random.Random(seed), budget or no_budget())
    problems = checker.mapping()
    if problems:
        return problems
    problems = [problem for cover in reading.operators for problem in checker.cover(cover)]
    if reading.verdict is EquivalenceVerdict.EQUIVALENT:
        return [*problems, *checker.nothing_missing()]
    return [*problems, *checker.counterexample(), *checker.exclusions()]


@dataclass(frozen=True, slots=True)
class _Trial:
    """A ground action of one side among some objects."""

    side: int
    action: Action
    arguments: tuple[str, ...]
    things: tuple[ThingOfBoth, ...]

    @property
    def names(self) -> dict[str, str]:
        parameters = (parameter.name for parameter in self.action.parameters)
        return dict(zip(parameters, self.arguments, strict=True))

    def __str__(self) -> str:
        return f"({' '.join((self.action.name, *self.arguments))}) of {'AB'[self.side]}"


class _Checker:
    def __init__(
        self,
        reading: ReadingResult,
        domains: tuple[Domain, Domain],
        chance: random.Random,
        budget: Budget,
    ) -> None:
        self._reading = reading
        self._budget = budget
        self._domains = domains
        self._chance = chance
        self._distinct = reading.parameters is Parameters.DISTINCT
        self._hierarchies = tuple(Types.of(domain) for domain in domains)

    # The mapping

    def mapping(self) -> list[str]:
        """It has to be a bijection of predicates with equal arity, and keep subtypes."""
        pairs = self._reading.mapping
        problems = []
        for side, domain in enumerate(self._domains):
            mapped = sorted((pair.a, pair.b)[side] for pair in pairs)
            if mapped != sorted(predicate.name for predicate in domain.predicates):
                problems.append(f"the mapping is not a bijection of the predicates of {'AB'[side]}")
        for pair in pairs:
            ours, theirs = self._domains[0].predicate(pair.a), self._domains[1].predicate(pair.b)
            arities = {p.arity for p in (ours, theirs) if p is not None} | {len(pair.order)}
            if len(arities) != 1 or sorted(pair.order) != list(range(len(pair.order))):
                problems.append(f"{pair} does not keep the arguments")
        return problems + self._type_mapping()

    def _type_mapping(self) -> list[str]:
        first, second = self._hierarchies
        return [
            f"types {s} -> {t} and {other_s} -> {other_t} do not keep subtypes"
            for (s, t), (other_s, other_t) in itertools.permutations(self._reading.types, 2)
            if first.is_subtype(s, other_s) != second.is_subtype(t, other_t)
        ]

    def nothing_missing(self) -> list[str]:
        listed = {(cover.domain, cover.operator) for cover in self._reading.operators}
        listed -= {(c.domain, c.operator) for c in self._reading.operators if not c.covered}
        return [
            f"the evidence says nothing about {action.name} of {side}"
            for side, domain in zip("AB", self._domains, strict=True)
            for action in domain.actions
            if (side, action.name) not in listed
        ]

    # Macros

    def cover(self, cover: OperatorCover) -> Iterator[str]:
        """Replay the macros under their patterns, and under arguments chosen here."""
        side = "AB".index(cover.domain)
        action = self._domains[side].action(cover.operator)
        if action is None:
            yield f"{cover.domain} has no action {cover.operator}"
        elif cover.covered:
            yield from itertools.islice(self._replays(side, action, cover), 1)

    def _replays(self, side: int, action: Action, cover: OperatorCover) -> Iterator[str]:
        for macro in cover.macros:
            for pattern in macro.patterns:
                arguments = tuple(value for _, value in pattern.bindings)
                things = (*pattern.objects, *self._more_things(1))
                yield from self._replay(_Trial(side, action, arguments, things), macro)
        for case in cover.shortest:
            pattern = cover.macros[0].patterns[0]
            arguments = tuple(value for _, value in pattern.bindings)
            things = (*pattern.objects, *self._more_things(1))
            yield from self._replay(
                _Trial(side, action, arguments, things), Macro((pattern,), (case,))
            )
        for trial in self._choices(side, action):
            macro_for_it = self._matching(trial, cover)
            if macro_for_it is None:
                yield f"no macro for {trial}"
            else:
                yield from self._replay(trial, macro_for_it)

    def _more_things(self, number: int) -> list[ThingOfBoth]:
        """Return further objects of random types."""
        if not self._reading.types:
            return []
        chosen = self._chance.choices(self._reading.types, k=number)
        return [ThingOfBoth(f"more{i}", s, t) for i, (s, t) in enumerate(chosen)]

    def _choices(self, side: int, action: Action) -> Iterator[_Trial]:
        """Arguments over a pool with objects of every type; coincidences are frequent."""
        size = len(action.parameters)
        pool = self._constants()
        for s, t in self._reading.types:
            pool += [ThingOfBoth(f"{s}{i}", s, t) for i in range(min(size, 3))]
        hierarchy = self._hierarchies[side]
        fitting = []
        for parameter in action.parameters:
            types = [(thing, thing.type_in(side)) for thing in pool]
            fitting.append(
                [x for x, own in types if own and hierarchy.covers(parameter.types, own)]
            )
        if not all(fitting):
            return
        for _ in range(MOST_CHOICES):
            chosen: list[ThingOfBoth] = []
            for some in fitting:
                again = [thing for thing in chosen if thing in some]
                reuse = again and not self._distinct and self._chance.random() < 0.4
                chosen.append(self._chance.choice(again if reuse else some))
            arguments = tuple(thing.name for thing in chosen)
            if self._exists(action, arguments):
                extra = self._chance.sample(pool, min(2, len(pool)))
                used = {x.name: x for x in (*self._constants(), *chosen, *extra)}
                yield _Trial(side, action, arguments, tuple(used.values()))

    def _constants(self) -> list[ThingOfBoth]:
        declared = [{c.name: c.types[0] for c in domain.constants} for domain in self._domains]
        names = dict.fromkeys([*declared[0], *declared[1]])
        return [
            ThingOfBoth(
                n, declared[0].get(n, declared[1].get(n)), declared[1].get(n, declared[0].get(n))
            )
            for n in names
        ]

    def _exists(self, action: Action, arguments: tuple[str, ...]) -> bool:
        """Does the reading and do the equality tests allow these arguments?"""
        if self._distinct and len(set(arguments)) < len(arguments):
            return False
        names = {p.name: v for p, v in zip(action.parameters, arguments, strict=True)}
        return all(
            holds(part, frozenset(), names) == wanted
            for part, wanted in literals(action.precondition)
            if not isinstance(part, Atom)
        )

    def _matching(self, trial: _Trial, cover: OperatorCover) -> Macro | None:
        """The macro for the way the arguments coincide, with types at least as general."""
        constants = {thing.name for thing in self._constants()}
        first: dict[str, str] = {}
        for name, value in trial.names.items():
            first.setdefault(value, value if value in constants else name)
        bindings = tuple((name, first[value]) for name, value in trial.names.items())
        types = {first[t.name]: t.type_in(trial.side) for t in trial.things if t.name in first}
        hierarchy = self._hierarchies[trial.side]
        for macro in cover.macros:
            for pattern in macro.patterns:
                asked = {thing.name: thing.type_in(trial.side) for thing in pattern.objects}
                if pattern.bindings == bindings and all(
                    hierarchy.is_subtype(own or "", asked[name] or "")
                    for name, own in types.items()
                    if name not in constants
                ):
                    return macro
        return None

    def _replay(self, trial: _Trial, macro: Macro) -> Iterator[str]:
        """From random states: the action here, the macro there; the results have to agree."""
        here, there = (
            Simulator(
                self._domains[side],
                {thing.name: thing.type_in(side) for thing in trial.things},
                self._distinct,
            )
            for side in (trial.side, 1 - trial.side)
        )
        to_there = Translation(self._reading.mapping, to_b=trial.side == 0)
        self._budget.look()
        for state in self._states(trial, macro):
            self._budget.tick()
            expected = here.apply(state, trial.action.name, trial.arguments)
            if expected is None:
                continue
            reached, why = _follow(macro, to_there.facts(state), trial.names, there)
            if reached != to_there.facts(expected):
                yield f"{trial}: {why or 'its macro leads to another state'}"
                return

    def _states(self, trial: _Trial, macro: Macro) -> Iterator[Facts]:
        """States in which the action can be applied, otherwise random.

        What the macro's cases ask for is tried in every combination, if there are not too many.
        """
        wanted = {
            named(part, trial.names): value
            for part, value in literals(trial.action.precondition)
            if isinstance(part, Atom)
        }
        back = Translation(self._reading.mapping, to_b=trial.side == 1)
        conditions = [atom for case in macro.cases for atom in (*case.true, *case.false)]
        asked = sorted({back.fact(named(atom, trial.names)) for atom in conditions})
        if len(asked) > MOST_CONDITIONS:
            asked = []
        objects = [thing.name for thing in trial.things]
        for combination in itertools.product((False, True), repeat=len(asked)):
            for _ in range(STATES_PER_CHOICE):
                facts = self._random_facts(trial.side, objects)
                facts.update(dict(zip(asked, combination, strict=True)))
                facts.update(wanted)
                yield frozenset(fact for fact, value in facts.items() if value)

    def _random_facts(self, side: int, objects: list[str]) -> dict[Fact, bool]:
        predicates = self._domains[side].predicates
        usable = [p for p in predicates if objects or not p.arity]
        number = self._chance.choice((0, len(usable), 4 * len(usable)))
        chosen = self._chance.choices(usable, k=number) if usable else []
        return {(p.name, *self._chance.choices(objects, k=p.arity)): True for p in chosen}

    # Refutations

    def counterexample(self) -> list[str]:
        found = self._reading.counterexample
        if found is None:
            return ["the counterexample is missing"]
        try:
            # Only what they say counts: a fact may be ill-typed in one of the domains.
            problems = [parse_problem(text, None) for text in (found.problem_a, found.problem_b)]
        except PddlError as error:
            return [f"a problem of the counterexample is not valid PDDL: {error}"]
        return self._refutation(found, problems)

    def _refutation(self, found: Counterexample, problems: Sequence[Problem]) -> list[str]:
        side = SIDES.index(found.solved_by)
        starts = [_facts(problem.init) for problem in problems]
        ends = [
            _facts(part for part, true in literals(problem.goal) if true) for problem in problems
        ]
        to_b = Translation(self._reading.mapping, to_b=True)
        if to_b.facts(starts[0]) != starts[1] or to_b.facts(ends[0]) != ends[1]:
            return ["the two problems of the counterexample do not say the same"]
        here, there = (
            Simulator(self._domains[s], _objects(self._domains[s], problems[s]), self._distinct)
            for s in (side, 1 - side)
        )
        if here.apply(starts[side], found.step.operator, found.step.arguments) != ends[side]:
            return [f"{found.step} does not solve the counterexample in {found.solved_by}"]
        if not holds(problems[side].goal, ends[side], {}):
            return ["the goal of the counterexample is not the state it should be"]
        try:
            plan, _ = there.search(starts[1 - side], ends[1 - side], BOUND, self._budget.tick)
        except TooLargeError:
            return ["the counterexample is too large to be confirmed"]
        return [f"the counterexample has a plan: {plan}"] if plan is not None else []

    def exclusions(self) -> list[str]:
        problems = [
            problem
            for exclusion in self._reading.exclusions
            for problem in check_exclusion(exclusion, self._domains, self._distinct, self._budget)
        ]
        return problems or uncovered_mapping(self._reading, self._domains, self._budget)


def _facts(parts: Iterable[Condition]) -> Facts:
    atoms = [part for part in parts if isinstance(part, Atom)]
    return frozenset((atom.predicate, *(t.name for t in atom.arguments)) for atom in atoms)


def _objects(domain: Domain, own: Problem) -> dict[str, str | None]:
    """Objects and constants with their types."""
    return {item.name: item.types[0] for item in (*domain.constants, *own.objects)}


def _follow(
    macro: Macro, state: Facts, names: dict[str, str], there: Simulator
) -> tuple[Facts | None, str]:
    """Take the first case that applies; the state reached, or what went wrong."""

    for case in macro.cases:
        if all(named(atom, names) in state for atom in case.true) and not any(
            named(atom, names) in state for atom in case.false
        ):
            for step in case.steps:
                arguments = tuple(names.get(value, value) for value in step.arguments)
                following = there.apply(state, step.operator, arguments)
                if following is None:
                    return None, f"step {step} of its macro cannot be taken"
                state = following
            return state, ""
    return None, "no case of its macro applies"
