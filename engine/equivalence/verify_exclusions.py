"""The refutation half of the checker: each exclusion holds, and together they leave no mapping."""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import Any

from engine.equivalence.budget import Budget
from engine.equivalence.replay import Fact, Facts, Simulator, TooLargeError, literals, named
from engine.pddl.model import (
    Action,
    Add,
    And,
    Atom,
    Condition,
    Delete,
    Domain,
    EffectAnd,
    Not,
    effects,
)
from engine.pddl.types import Types
from engine.records.comparison import Exclusion, PredicatePair, ReadingResult

BOUND = 200_000
SOLVER_MILLISECONDS = 20_000


class Translation:
    """Facts of one domain in the words of the other; other predicates are left out."""

    def __init__(self, pairs: tuple[PredicatePair, ...], to_b: bool) -> None:
        self._words: dict[str, tuple[str, tuple[int, ...]]] = {}
        for pair in pairs:
            if to_b:
                self._words[pair.a] = pair.b, pair.order
            else:
                places = range(len(pair.order))
                self._words[pair.b] = pair.a, tuple(pair.order.index(i) for i in places)

    def knows(self, fact: Fact) -> bool:
        return fact[0] in self._words

    def fact(self, fact: Fact) -> Fact:
        name, order = self._words[fact[0]]
        return (name, *(fact[1 + place] for place in order))

    def facts(self, facts: Facts) -> Facts:
        return frozenset(self.fact(fact) for fact in facts if self.knows(fact))


def check_exclusion(
    exclusion: Exclusion, domains: tuple[Domain, Domain], distinct: bool, budget: Budget
) -> list[str]:
    """Do the action in the other domain's words; the other domain must not reach the result."""
    side = "AB".index(exclusion.domain)
    action, other = domains[side].action(exclusion.operator), domains[1 - side]
    if action is None:
        return [f"{exclusion.domain} has no action {exclusion.operator}"]
    words = Translation(exclusion.predicates, to_b=side == 0)
    names = {p.name: v for p, v in zip(action.parameters, exclusion.arguments, strict=True)}
    state = frozenset((a.predicate, *(t.name for t in a.arguments)) for a in exclusion.state)
    used = {a for a, _ in literals(action.precondition) if isinstance(a, Atom)}
    for atom, value in literals(action.precondition):
        if isinstance(atom, Atom):
            tested = named(atom, names)
            if words.knows(tested) and (words.fact(tested) in state) != value:
                return [f"the action does not apply: {exclusion}"]
    parts = list(effects(action.effect))
    deleted = frozenset(named(p.atom, names) for p in parts if isinstance(p, Delete))
    added = frozenset(named(p.atom, names) for p in parts if isinstance(p, Add))
    touched = {a.predicate for a in used} | {f[0] for f in deleted | added}
    if not exclusion.projected and not all(words.knows((name,)) for name in touched):
        return [f"not all predicates of the action are mapped: {exclusion}"]
    goal = state - words.facts(deleted) | words.facts(added)
    if exclusion.projected:
        other = restricted(other, {(p.b, p.a)[side] for p in exclusion.predicates})
    types = {thing.name: thing.type_in(1 - side) for thing in exclusion.objects}
    try:
        plan, _ = Simulator(other, types, distinct).search(state, goal, BOUND, budget.tick)
    except TooLargeError:
        return [f"too large to be confirmed: {exclusion}"]
    return [f"it can be done: {exclusion}"] if plan is not None else []


def restricted(domain: Domain, keep: set[str]) -> Domain:
    """The domain with every other predicate struck out of its actions."""

    def condition(whole: Condition) -> Condition:
        parts = [
            (part, true)
            for part, true in literals(whole)
            if not isinstance(part, Atom) or part.predicate in keep
        ]
        return And(tuple(part if true else Not(part) for part, true in parts))

    actions = tuple(
        Action(
            action.name,
            action.parameters,
            condition(action.precondition),
            EffectAnd(
                tuple(
                    part
                    for part in effects(action.effect)
                    if isinstance(part, Add | Delete) and part.atom.predicate in keep
                )
            ),
        )
        for action in domain.actions
    )
    return Domain(domain.name, types=domain.types, constants=domain.constants, actions=actions)


def uncovered_mapping(
    reading: ReadingResult, domains: tuple[Domain, Domain], budget: Budget
) -> list[str]:
    """A bijection that contains no exclusion, if the solver still finds one.

    Predicates that no action mentions are interchangeable and are paired off first.
    """
    import z3  # type: ignore[import-untyped]  # it has no annotations

    solver = z3.Solver()
    solver.set("timeout", SOLVER_MILLISECONDS)
    paired = _pair_off(domains)
    pairs = [
        (p.name, q.name)
        for p, q in itertools.product(domains[0].predicates, domains[1].predicates)
        if p.arity == q.arity and p.name not in paired and q.name not in paired.values()
    ]
    variables = _bijection(z3, solver, "predicate", pairs)
    types = [(s, t) for s, t in reading.types if s != t] and list(
        itertools.product(*map(list, zip(*reading.types, strict=True)))
    )
    type_variables = _bijection(z3, solver, "type", types)
    for pair in _types_of_constants(domains):
        if pair in type_variables:
            solver.add(type_variables[pair])
    for exclusion in reading.exclusions:
        chosen = [(p.a, p.b) for p in exclusion.predicates]
        if any(pair not in variables for pair in chosen):
            continue
        part = [variables[pair] for pair in chosen]
        part += [type_variables[pair] for pair in exclusion.types]
        solver.add(z3.Or([z3.Not(variable) for variable in part]))
    return _solve(z3, solver, type_variables, domains, budget)


def _types_of_constants(domains: tuple[Domain, Domain]) -> list[tuple[str, str]]:
    """A constant is the same object in both domains, so its types correspond."""
    theirs = {constant.name: constant.types[0] for constant in domains[1].constants}
    both = [constant for constant in domains[0].constants if constant.name in theirs]
    return [(constant.types[0], theirs[constant.name]) for constant in both]


def _pair_off(domains: tuple[Domain, Domain]) -> dict[str, str]:
    unused: list[dict[int, list[str]]] = []
    for domain in domains:
        used = {
            part.predicate
            for action in domain.actions
            for part, _ in literals(action.precondition)
            if isinstance(part, Atom)
        }
        used |= {
            part.atom.predicate
            for action in domain.actions
            for part in effects(action.effect)
            if isinstance(part, Add | Delete)
        }
        by_arity = defaultdict(list)
        for predicate in domain.predicates:
            if predicate.name not in used:
                by_arity[predicate.arity].append(predicate.name)
        unused.append(by_arity)
    first, second = unused
    return {
        p: q for arity in first for p, q in zip(first[arity], second.get(arity, ()), strict=False)
    }


def _bijection(
    z3: Any, solver: Any, kind: str, pairs: list[tuple[str, str]]
) -> dict[tuple[str, str], Any]:
    variables = {pair: z3.Bool(f"{kind} {pair[0]} {pair[1]}") for pair in pairs}
    groups: dict[tuple[int, str], list[Any]] = defaultdict(list)
    for pair, variable in variables.items():
        groups[0, pair[0]].append(variable)
        groups[1, pair[1]].append(variable)
    for group in groups.values():
        solver.add(z3.PbEq([(variable, 1) for variable in group], 1))
    return variables


def _solve(
    z3: Any,
    solver: Any,
    types: dict[tuple[str, str], Any],
    domains: tuple[Domain, Domain],
    budget: Budget,
) -> list[str]:
    """Until the type pairs of a solution keep subtypes, or there is none."""
    first, second = Types.of(domains[0]), Types.of(domains[1])
    while (answer := budget.check(solver)) == z3.sat:
        found = solver.model()
        chosen = [pair for pair, variable in types.items() if z3.is_true(found[variable])]
        broken = [
            (one, other)
            for one, other in itertools.permutations(chosen, 2)
            if first.is_subtype(one[0], other[0]) != second.is_subtype(one[1], other[1])
        ]
        if not broken:
            return ["the exclusions leave a mapping of the predicates"]
        for one, other in broken:
            solver.add(z3.Or(z3.Not(types[one]), z3.Not(types[other])))
    if answer == z3.unsat:
        return []
    return ["that the exclusions leave no mapping could not be confirmed in time"]
