"""What can be read but not grounded: ambiguous types, costs that are not whole numbers.

Everything else of classical PDDL becomes a task: quantifiers, disjunctions and derived predicates
become axioms where the translator needs them, `when` and `forall` effects conditional effects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.errors import Location
from engine.pddl.diagnostics import Diagnostic, Severity
from engine.pddl.flat_effects import find_hiding
from engine.pddl.model import (
    Action,
    Condition,
    Domain,
    EffectForall,
    Exists,
    Forall,
    FunctionValue,
    Increase,
    Number,
    Position,
    Problem,
    TypedName,
)
from engine.pddl.strata import find_unstratified
from engine.pddl.traversal import conditions_of, subconditions, subeffects

MAX_COST = 2**31 - 1
"""Of one action: what planners can count."""

Refusal = tuple[Position, str, str, bool]
"""Where, what, what to do, and whether it does not matter where every action costs 1."""


def unsupported_for_task(domain: Domain, problem: Problem | None = None) -> list[Diagnostic]:
    """Why these files cannot become a task; nothing if they can."""
    found = _diagnostics(domain.path, _in_domain(domain))
    if problem is not None:
        found += _diagnostics(problem.path, _in_problem(problem))
    return found


def _diagnostics(path: str, refusals: Iterable[Refusal]) -> list[Diagnostic]:
    return [
        Diagnostic(
            Severity.ERROR,
            message,
            hint,
            Location(path or None, position.line or None, position.column or None),
            about_costs=about_costs,
            is_refusal=True,
        )
        for position, message, hint, about_costs in refusals
    ]


def _in_domain(domain: Domain) -> Iterator[Refusal]:
    for item in domain.types:
        if len(item.types) > 1:
            yield _either(item, "a type with two parents")
    for function in domain.functions:
        yield from _either_in(function.parameters)
    for rule in domain.derived:
        yield from _either_in(rule.predicate.parameters)
    for action in domain.actions:
        yield from _either_in(action.parameters)
    yield from _either_in(domain.constants)
    for condition in conditions_of(domain):
        yield from _in_condition(condition)
    if (loop := find_unstratified(domain)) is not None:
        yield (
            loop.position,
            f"the derived predicate '{loop.predicate.name}' depends on its own negation",
            "rewrite the rules so that no predicate needs the negation of one that needs it",
            False,
        )
    for action in domain.actions:
        yield from _in_effects(action)


def _in_effects(action: Action) -> Iterator[Refusal]:
    if isinstance(action.effect, Increase):
        yield (
            action.effect.position,
            f"the only effect of '{action.name}' is a cost",
            "remove the action",
            True,
        )
    for item in find_hiding(action):
        yield (
            item.position,
            f"'{item.name}' of a 'forall' inside 'when' hides another '{item.name}'",
            "give it another name: the translator would confuse them",
            False,
        )
    for effect in subeffects(action.effect):
        if isinstance(effect, EffectForall):
            yield from _either_in(effect.parameters)
        elif isinstance(effect, Increase):
            amount = effect.amount
            if isinstance(amount, Number):
                yield from _not_a_cost(amount)


def _in_problem(problem: Problem) -> Iterator[Refusal]:
    yield from _either_in(problem.objects)
    for entry in problem.values:
        if entry.function.name != "total-cost" or entry.has_point:  # its value is not used
            yield from _not_a_cost(entry)
    yield from _in_condition(problem.goal)


def _in_condition(condition: Condition) -> Iterator[Refusal]:
    for part in subconditions(condition):
        if isinstance(part, Forall | Exists):
            yield from _either_in(part.parameters)


def _either_in(names: Iterable[TypedName]) -> Iterator[Refusal]:
    for item in names:
        if len(item.types) > 1:
            yield _either(item, f"'(either {' '.join(item.types)})'")


def _either(item: TypedName, what: str) -> Refusal:
    return (
        item.type_position,
        f"{what} is not supported in a grounded task for '{item.name}'",
        "declare a common parent of these types and use it",
        False,
    )


def _not_a_cost(number: Number | FunctionValue) -> Iterator[Refusal]:
    if number.value.denominator != 1:
        what, hint = "that are not whole numbers", "scale all costs to whole numbers"
    elif number.has_point:
        what, hint = "with a decimal point", f"write {number.value}"
    elif number.value > MAX_COST:
        what, hint = f"above {MAX_COST}", "scale all costs down"
    else:
        return
    yield number.position, f"costs {what} are not supported in a grounded task", hint, True
