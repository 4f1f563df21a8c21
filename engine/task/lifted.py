"""What conditions and effects mean, straight from the PDDL.

States are sets of atoms, derived ones included. No grounding, no translator and no FDR take part,
so that plans can be checked by something that shares nothing with what found them. Quantifiers
range over the problem's objects; effects see the state before the action, and what is both deleted
and added is true afterward.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from engine.pddl import format_condition, objects_of_type
from engine.pddl.model import (
    TOTAL_COST,
    Action,
    Add,
    And,
    Atom,
    Condition,
    Delete,
    Domain,
    Effect,
    EffectAnd,
    EffectForall,
    Equality,
    Exists,
    Expression,
    Forall,
    Imply,
    Increase,
    Not,
    Number,
    Or,
    Problem,
    Term,
    TypedName,
    When,
)
from engine.task.atoms import format_atom, ground_atom
from engine.task.derived import DerivedRules
from engine.task.task import GroundAtom

Binding = Mapping[str, str]
"""Objects for variables."""

AtomSet = frozenset[GroundAtom]


class UndefinedValueError(Exception):
    """An action needs a numeric value that the problem does not give."""


@dataclass(frozen=True, slots=True)
class Outcome:
    state: AtomSet
    cost: Fraction  # what the action adds to total-cost


class World:
    """A domain and a problem: which objects there are, what holds, what actions do."""

    def __init__(self, domain: Domain, problem: Problem) -> None:
        self.domain = domain
        self.problem = problem
        self.objects = objects_of_type(domain, problem)
        stated: AtomSet = frozenset(map(ground_atom, problem.init))
        self._rules = DerivedRules(domain, self.objects, stated, self.holds)
        self.init: AtomSet = self._rules.close(stated)
        self._values = {
            (item.function.name, *(term.name for term in item.function.arguments)): item.value
            for item in problem.values
        }

    def holds(self, condition: Condition, binding: Binding, state: AtomSet) -> bool:
        match condition:
            case Atom():
                result = _ground(condition, binding) in state
            case Equality(left, right):
                result = _object(left, binding) == _object(right, binding)
            case Not(part):
                result = not self.holds(part, binding, state)
            case And(parts):
                result = all(self.holds(part, binding, state) for part in parts)
            case Or(parts):
                result = any(self.holds(part, binding, state) for part in parts)
            case Imply(premise, conclusion):
                result = not self.holds(premise, binding, state) or self.holds(
                    conclusion, binding, state
                )
            case Forall(parameters, part):
                bindings = self.bindings(parameters, binding)
                result = all(self.holds(part, inner, state) for inner in bindings)
            case Exists(parameters, part):
                bindings = self.bindings(parameters, binding)
                result = any(self.holds(part, inner, state) for inner in bindings)
        return result

    def complaints(self, condition: Condition, binding: Binding, state: AtomSet) -> Iterator[str]:
        """Every part of the condition that does not hold, in words that follow "needs"."""
        match condition:
            case And(parts):
                for part in parts:
                    yield from self.complaints(part, binding, state)
            case Forall(parameters, part):
                for inner in self.bindings(parameters, binding):
                    yield from self.complaints(part, inner, state)
            case _ if self.holds(condition, binding, state):
                return
            case Atom():
                yield f"{format_atom(_ground(condition, binding))}, which is false"
            case Not(Atom() as atom):
                yield f"{format_atom(_ground(atom, binding))} to be false, but it is true"
            case Not(Equality(left, _)):
                yield f"two different objects, but both are {_object(left, binding)}"
            case Equality(left, right):
                names = _object(left, binding), _object(right, binding)
                yield f"{names[0]} and {names[1]} to be the same object"
            case _:
                yield f"{format_condition(substitute(condition, binding))}, which is false"

    def apply(self, action: Action, binding: Binding, state: AtomSet) -> Outcome:
        """The state after the action; its precondition is not looked at."""
        added: set[GroundAtom] = set()
        deleted: set[GroundAtom] = set()
        cost = Fraction(0)
        for effect, inner in self._simple_effects(action.effect, binding, state):
            match effect:
                case Add(atom):
                    added.add(_ground(atom, inner))
                case Delete(atom):
                    deleted.add(_ground(atom, inner))
                case Increase(target, amount) if target.name == TOTAL_COST:
                    cost += self._value(amount, inner)
        return Outcome(self._rules.close((state - deleted) | added), cost)

    def bindings(self, parameters: Iterable[TypedName], outer: Binding) -> Iterator[Binding]:
        names = []
        choices = []
        for parameter in parameters:
            names.append(parameter.name)
            fitting = itertools.chain.from_iterable(self.objects[t] for t in parameter.types)
            choices.append(tuple(dict.fromkeys(fitting)))
        for objects in itertools.product(*choices):
            yield {**outer, **dict(zip(names, objects, strict=True))}

    def _simple_effects(
        self, effect: Effect, binding: Binding, state: AtomSet
    ) -> Iterator[tuple[Effect, Binding]]:
        match effect:
            case EffectAnd(parts):
                for part in parts:
                    yield from self._simple_effects(part, binding, state)
            case EffectForall(parameters, part):
                for inner in self.bindings(parameters, binding):
                    yield from self._simple_effects(part, inner, state)
            case When(condition, part):
                if self.holds(condition, binding, state):
                    yield from self._simple_effects(part, binding, state)
            case _:
                yield effect, binding

    def _value(self, expression: Expression, binding: Binding) -> Fraction:
        if isinstance(expression, Number):
            return expression.value
        name = (expression.name, *(_object(term, binding) for term in expression.arguments))
        if name not in self._values:
            raise UndefinedValueError(format_atom(name))
        return self._values[name]


def substitute(condition: Condition, binding: Binding) -> Condition:
    """The condition with the objects of `binding` in the places of its free variables."""

    def term(old: Term) -> Term:
        return Term(_object(old, binding))

    result: Condition
    match condition:
        case Atom(predicate, arguments):
            result = Atom(predicate, tuple(map(term, arguments)))
        case Equality(left, right):
            result = Equality(term(left), term(right))
        case Not(part):
            result = Not(substitute(part, binding))
        case And(parts):
            result = And(tuple(substitute(part, binding) for part in parts))
        case Or(parts):
            result = Or(tuple(substitute(part, binding) for part in parts))
        case Imply(premise, conclusion):
            result = Imply(substitute(premise, binding), substitute(conclusion, binding))
        case Forall(parameters, part):
            result = Forall(parameters, substitute(part, _without(binding, parameters)))
        case Exists(parameters, part):
            result = Exists(parameters, substitute(part, _without(binding, parameters)))
    return result


def _without(binding: Binding, parameters: Iterable[TypedName]) -> Binding:
    hidden = {parameter.name for parameter in parameters}
    return {name: value for name, value in binding.items() if name not in hidden}


def _object(term: Term, binding: Binding) -> str:
    return binding.get(term.name, term.name)


def _ground(atom: Atom, binding: Binding) -> GroundAtom:
    return (atom.predicate, *(binding.get(term.name, term.name) for term in atom.arguments))
