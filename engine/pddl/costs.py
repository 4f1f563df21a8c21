"""A domain and a problem without their costs, so that every action costs 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from engine.pddl.diagnostics import Diagnostics
from engine.pddl.model import (
    Action,
    Add,
    Atom,
    Domain,
    Effect,
    EffectAnd,
    EffectForall,
    FunctionTerm,
    Increase,
    Problem,
    Term,
    When,
    conjuncts,
    effects,
)
from engine.pddl.traversal import static_predicates, subeffects
from engine.pddl.types import Types


def without_costs(domain: Domain, problem: Problem) -> tuple[Domain, Problem]:
    """Functions, increases, values and the metric removed."""
    actions = tuple(
        replace(action, effect=_without_increase(action.effect)) for action in domain.actions
    )
    plain_domain = replace(
        domain, requirements=_without(domain.requirements), functions=(), actions=actions
    )
    plain_problem = replace(
        problem, requirements=_without(problem.requirements), values=(), metric=None
    )
    return plain_domain, plain_problem


def _without(requirements: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in requirements if name != "action-costs")


def _without_increase(effect: Effect) -> Effect:
    match effect:
        case Increase():
            return EffectAnd((), effect.position)
        case EffectAnd(parts):
            kept = tuple(_without_increase(p) for p in parts if not isinstance(p, Increase))
            return replace(effect, parts=kept)
        case EffectForall(_, part):
            return replace(effect, part=_without_increase(part))
        case When(_, part):
            return replace(effect, effect=_without_increase(part))
        case _:
            return effect


MAX_STEPS = 200_000
"""For all joins of a problem; of larger ones only a part is looked at."""

Binding = dict[str, str]
Names = tuple[str, ...]


def check_missing_values(domain: Domain, problem: Problem, diagnostics: Diagnostics) -> None:
    known = {entry.function for entry in problem.values}
    costs = [
        (action, effect.amount)
        for action in domain.actions
        for effect in subeffects(action.effect)
        if isinstance(effect, Increase) and isinstance(effect.amount, FunctionTerm)
    ]
    if not costs:
        return
    reachable = _Reachable(domain, problem)
    for action, term in costs:
        missing = reachable.missing(action, term, known, MAX_STEPS // len(costs))
        if missing:
            _warn(action, term, missing, problem, diagnostics)


def _warn(
    action: Action,
    term: FunctionTerm,
    missing: Sequence[FunctionTerm],
    problem: Problem,
    diagnostics: Diagnostics,
) -> None:
    if not any(entry.function.name == term.name for entry in problem.values):
        lack = f"'{term.name}' has no value"
    elif len(missing) == 1:
        lack = f"{missing[0]} has no value"
    else:
        lack = f"{missing[0]} and {len(missing) - 1} other values are missing"
    diagnostics.warning(
        problem.init_position,
        f"{lack} in :init: the actions '{action.name}' that need it can never be applied",
        "add the values, or count actions instead of costs with '--unit-costs'",
        about_costs=True,
    )


class _Relations:
    """Ground facts, found by predicate and by one argument."""

    def __init__(self) -> None:
        self._all: dict[str, dict[Names, None]] = {}
        self._with: dict[tuple[str, int, str], list[Names]] = {}

    def add(self, predicate: str, names: Names) -> None:
        facts = self._all.setdefault(predicate, {})
        if names not in facts:
            facts[names] = None
            for place, name in enumerate(names):
                self._with.setdefault((predicate, place, name), []).append(names)

    def candidates(self, atom: Atom, binding: Binding) -> Sequence[Names]:
        for place, term in enumerate(atom.arguments):
            name = binding.get(term.name) if term.is_variable else term.name
            if name is not None:
                return self._with.get((atom.predicate, place, name), ())
        return tuple(self._all.get(atom.predicate, ()))


class _Reachable:
    """Which objects an action can be applied to, over-approximated."""

    def __init__(self, domain: Domain, problem: Problem) -> None:
        self._domain = domain
        self._types = Types.of(domain)
        self._objects = {o.name: o.types for o in (*domain.constants, *problem.objects)}
        self._usable = set(static_predicates(domain))
        self._relations = _Relations()
        self._steps_left = MAX_STEPS
        for fact in problem.init:
            self._relations.add(fact.predicate, tuple(term.name for term in fact.arguments))
        additions = {item.name: self._additions(item.name) for item in domain.predicates}
        for predicate, names in additions.items():
            if names is not None:
                self._usable.add(predicate)
                for item in names:
                    self._relations.add(predicate, item)

    def missing(
        self, action: Action, term: FunctionTerm, known: set[FunctionTerm], most_steps: int
    ) -> list[FunctionTerm]:
        """The ground terms without a value, in the order they are met."""
        self._steps_left = most_steps
        found: dict[FunctionTerm, None] = {}
        variables = _variables(term)
        for binding in self._bindings(action, self._relevant(action, variables), {}):
            for full in self._completed(action, variables, binding):
                ground = _ground(term, full)
                if ground not in known:
                    found[ground] = None
        return list(found)

    def _additions(self, predicate: str) -> list[Names] | None:
        """What actions can add to a predicate; None if that cannot be told."""
        if predicate in self._usable:
            return []
        result: list[Names] = []
        for action in self._domain.actions:
            outer = [part for part in effects(action.effect) if isinstance(part, Add)]
            for effect in subeffects(action.effect):
                if isinstance(effect, Add) and effect.atom.predicate == predicate:
                    names = self._added(action, effect.atom) if effect in outer else None
                    if names is None:
                        return None
                    result += names
        return result

    def _added(self, action: Action, atom: Atom) -> list[Names] | None:
        variables = _variables(atom)
        result: dict[Names, None] = {}
        for binding in self._bindings(action, self._relevant(action, variables), {}):
            if any(name not in binding for name in variables):
                return None
            names = tuple(binding.get(term.name, term.name) for term in atom.arguments)
            result[names] = None
        return list(result) if self._steps_left > 0 else None

    def _relevant(self, action: Action, variables: Sequence[str]) -> list[Atom]:
        """The usable atoms connected with the variables, each joined to those before it."""
        waiting = [
            part
            for part in conjuncts(action.precondition)
            if isinstance(part, Atom) and part.predicate in self._usable
        ]
        bound = set(variables)
        order: list[Atom] = []
        while True:
            near = [atom for atom in waiting if bound.intersection(_variables(atom))]
            if not near:
                return order
            order.append(near[0])
            waiting.remove(near[0])
            bound.update(_variables(near[0]))

    def _bindings(
        self, action: Action, atoms: Sequence[Atom], binding: Binding
    ) -> Iterator[Binding]:
        if not atoms:
            yield binding
            return
        for names in self._relations.candidates(atoms[0], binding):
            self._steps_left -= 1
            if self._steps_left <= 0:
                return
            extended = self._matched(action, atoms[0], names, binding)
            if extended is not None:
                yield from self._bindings(action, atoms[1:], extended)

    def _matched(
        self, action: Action, atom: Atom, names: Names, binding: Binding
    ) -> Binding | None:
        if len(atom.arguments) != len(names):
            return None
        result = dict(binding)
        for term, name in zip(atom.arguments, names, strict=True):
            expected = result.get(term.name) if term.is_variable else term.name
            if expected is None and self._allowed(action, term.name, name):
                result[term.name] = name
            elif expected != name:
                return None
        return result

    def _allowed(self, action: Action, variable: str, name: str) -> bool:
        asked = next((item.types for item in action.parameters if item.name == variable), ())
        own = self._objects.get(name, ())
        known = [item for item in own if item in self._types]
        return any(self._types.covers(asked, item) for item in known)

    def _completed(
        self, action: Action, variables: Sequence[str], binding: Binding
    ) -> Iterator[Binding]:
        """Every way to give an object of its type to each variable that has none yet."""
        free = next((name for name in variables if name not in binding), None)
        if free is None:
            yield binding
            return
        for name in self._objects:
            self._steps_left -= 1
            if self._steps_left <= 0:
                return
            if self._allowed(action, free, name):
                yield from self._completed(action, variables, {**binding, free: name})


def _variables(item: Atom | FunctionTerm) -> list[str]:
    return [term.name for term in item.arguments if term.is_variable]


def _ground(term: FunctionTerm, binding: Binding) -> FunctionTerm:
    arguments = tuple(Term(binding.get(item.name, item.name)) for item in term.arguments)
    return FunctionTerm(term.name, arguments)
