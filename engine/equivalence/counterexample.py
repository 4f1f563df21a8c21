"""Why two domains are not equivalent: a problem that only one of them solves, and the obstacle.

A counterexample is a tiny planning problem in the words of both domains. Its objects are the
arguments of one operator instance, its goal is the exact state that this leads to. Both claims are
confirmed with the plain simulator before the problem is shown.

The obstacle is an operator without a macro, or that no mapping fits all of them. An operator has no
macro if no images of its own predicates (and types) let the other domain do it; whether it is
covered depends on nothing else. The images are enumerated, and a projection that fails cuts off all
that extend it. See docs/theory/equivalence.md, "No macro, or no mapping".
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping
from functools import cache

from engine.equivalence.budget import Budget, LimitExceededError
from engine.equivalence.ground_cover import Gap
from engine.equivalence.mapping_search import MappingSearch, Outcome
from engine.equivalence.operator_cover import Image, Renaming
from engine.equivalence.replay import Fact, Facts, Simulator, TooLargeError
from engine.pddl.model import (
    OBJECT,
    Add,
    And,
    Atom,
    Condition,
    Domain,
    Not,
    Predicate,
    Problem,
    Term,
    TypedName,
    effects,
)
from engine.pddl.printer import format_problem
from engine.pddl.types import Types
from engine.records.comparison import (
    SIDES,
    Counterexample,
    MacroStep,
    Obstacle,
    PredicatePair,
    ThingOfBoth,
)

BOUND = 200_000
SECONDS = 5.0
"""States and time after which the confirming search gives up."""


def translate(facts: Facts, mapping: tuple[PredicatePair, ...], to_b: bool) -> Facts:
    """The same state in the words of the other domain."""
    known = {(pair.a if to_b else pair.b): pair for pair in mapping}
    result = set()
    for name, *arguments in facts:
        pair = known[name]
        if to_b:
            result.add((pair.b, *(arguments[place] for place in pair.order)))
        else:
            places = [pair.order.index(place) for place in range(len(pair.order))]
            result.add((pair.a, *(arguments[place] for place in places)))
    return frozenset(result)


def object_names(things: tuple[ThingOfBoth, ...]) -> dict[str, str]:
    """Names for a problem file: parameters lose their question mark, constants stay."""
    taken = {thing.name for thing in things if not thing.name.startswith("?")}
    names: dict[str, str] = {}
    for thing in things:
        name = thing.name.removeprefix("?")
        while thing.name.startswith("?") and name in taken:
            name += "-object"
        taken.add(name)
        names[thing.name] = name
    return names


def build_counterexample(
    domains: tuple[Domain, Domain],
    mapping: tuple[PredicatePair, ...],
    *,
    things: tuple[ThingOfBoth, ...],
    side: int,
    action: MacroStep,
    state: Facts,
    distinct: bool,
    look: Callable[[], None],
) -> Counterexample:
    """`state` is in the words of the domain that cannot do it; `side` is the one that can."""
    names = object_names(things)
    start = frozenset((f[0], *(names[o] for o in f[1:])) for f in state)
    starts = [start, start]
    starts[side] = translate(start, mapping, to_b=side == 1)
    types = [{names[thing.name]: thing.type_in(number) for thing in things} for number in (0, 1)]
    simulators = [Simulator(d, t, distinct) for d, t in zip(domains, types, strict=True)]
    step = MacroStep(action.operator, tuple(names[argument] for argument in action.arguments))
    goal = simulators[side].apply(starts[side], step.operator, step.arguments)
    assert goal is not None, "the state was chosen so that the operator applies"
    goals = [goal, goal]
    goals[1 - side] = translate(goal, mapping, to_b=side == 0)
    try:
        give_up = _with_deadline(look)
        plan, explored = simulators[1 - side].search(
            starts[1 - side], goals[1 - side], BOUND, give_up
        )
        assert plan is None, f"the prover found no plan but there is one: {plan}"
    except TooLargeError:
        explored = None
    problems = [
        problem(domains, mapping, number, types=types, start=starts[number], goal=goals[number])
        for number in (0, 1)
    ]
    texts = [format_problem(problem) for problem in problems]
    return Counterexample(SIDES[side], step, texts[0], texts[1], explored)


def _with_deadline(look: Callable[[], None]) -> Callable[[], None]:
    end = time.monotonic() + SECONDS

    def look_and_end() -> None:
        look()
        if time.monotonic() > end:
            raise TooLargeError

    return look_and_end


def problem(
    domains: tuple[Domain, Domain],
    mapping: tuple[PredicatePair, ...],
    side: int,
    *,
    types: list[dict[str, str | None]],
    start: Facts,
    goal: Facts,
) -> Problem:
    """One of the two files: typed objects, the state, and exactly the goal state."""
    domain = domains[side]
    constants = {constant.name for constant in domain.constants}
    objects = tuple(
        TypedName(name, (own or OBJECT,))
        for name, own in types[side].items()
        if name not in constants
    )
    changing: set[Fact] = set()
    for number, other in enumerate(domains):
        addable = _addable(other, types[number])
        changing |= addable if number == side else translate(addable, mapping, to_b=side == 1)
    present: tuple[Condition, ...] = tuple(_atom(f) for f in sorted(goal))
    absent = tuple(Not(_atom(f)) for f in sorted(changing - goal))
    return Problem(
        name="counterexample",
        domain_name=domain.name,
        requirements=("strips", "typing", "negative-preconditions"),
        objects=objects,
        init=tuple(_atom(f) for f in sorted(start)),
        goal=And((*present, *absent)),
    )


def _addable(domain: Domain, types: Mapping[str, str | None]) -> Facts:
    """Well-typed facts of the predicates that some action can make true."""
    hierarchy = Types.of(domain)
    names = {
        part.atom.predicate
        for action in domain.actions
        for part in effects(action.effect)
        if isinstance(part, Add)
    }

    def fitting(predicate: Predicate) -> list[list[str]]:
        return [
            [name for name, own in types.items() if own and hierarchy.covers(place.types, own)]
            for place in predicate.parameters
        ]

    return frozenset(
        (predicate.name, *arguments)
        for predicate in domain.predicates
        if predicate.name in names
        for arguments in itertools.product(*fitting(predicate))
    )


def _atom(fact: Fact) -> Atom:
    return Atom(fact[0], tuple(Term(name) for name in fact[1:]))


MAX_TRIED = 20_000
"""Partial images of one operator's predicates; with more the reason stays unknown."""


class _TooManyError(Exception):
    """Internal: not all images were tried."""


def find_obstacle(
    search: MappingSearch, outcome: Outcome, budget: Budget
) -> tuple[Obstacle | None, str]:
    """For domains that are not equivalent; and the operator that has no macro, if one has none.

    Operators that the closest mapping covers have macros, so only the others are looked at.
    """
    operators = dict.fromkeys((item.direction, item.operator) for item in outcome.best.failures)
    is_known = True
    for direction, operator in operators:
        try:
            if not _has_macro(search, direction, operator, budget):
                name = search.directions[direction].covered.schemas[operator].name
                return Obstacle.NO_MACRO, f"{name} of {SIDES[direction]}"
        except (_TooManyError, LimitExceededError):
            is_known = False
    return (Obstacle.NO_MAPPING if is_known else None), ""


def _has_macro(search: MappingSearch, direction: int, operator: int, budget: Budget) -> bool:
    coverage = search.directions[direction]
    if not search.types_by_name:
        raise _TooManyError  # the types would have to be enumerated, too
    arities = coverage.covering.arities
    tried = 0

    @cache
    def fits(*pairs: tuple[int, Image]) -> bool:
        """Whether the operator is covered as far as it concerns these predicates alone."""
        budget.tick()
        return coverage.part(operator, 0, Renaming(dict(pairs), None)) is None

    def images(predicate: int) -> list[Image]:
        arity = coverage.covered.arities[predicate]
        found = ((q, order) for q, n in enumerate(arities) if n == arity for order in orders(arity))
        return [image for image in found if fits((predicate, image))]

    def extend(chosen: tuple[tuple[int, Image], ...], possible: dict[int, list[Image]]) -> bool:
        nonlocal tried
        tried += 1
        if tried > MAX_TRIED:
            raise _TooManyError
        if not possible:
            names = Renaming(dict(chosen), None)
            return all(
                not isinstance(coverage.whole(operator, number, names), Gap)
                for number, _ in coverage.instances(operator)
            )
        predicate = min(possible, key=lambda p: (len(possible[p]), p))
        for image in possible[predicate]:
            pair = (predicate, image)
            if not fits(*chosen, pair):
                continue
            left = {
                p: [i for i in others if i[0] != image[0] and fits(pair, (p, i))]
                for p, others in possible.items()
                if p != predicate
            }
            if all(left.values()) and extend((*chosen, pair), left):
                return True
        return False

    orders = search.orders
    return extend((), {p: images(p) for p in coverage.covered.schemas[operator].predicates})
