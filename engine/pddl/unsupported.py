"""What can be read but not grounded: conditional effects, axioms, numbers that are no costs.

The translator splits `or`, `imply` and `exists` in preconditions into several actions. What it
can only express with axioms (`forall` in a condition, `exists` or `or` in a goal) or with
conditional effects has no place in a task here and is refused by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.pddl.diagnostics import Diagnostic, Diagnostics
from engine.pddl.model import (
    Action,
    And,
    Atom,
    Condition,
    Domain,
    EffectForall,
    Equality,
    Exists,
    Forall,
    Imply,
    Increase,
    Not,
    Number,
    Or,
    Position,
    Problem,
    TypedName,
    When,
)
from engine.pddl.traversal import conditions_of, static_predicates, subconditions, subeffects

Refusal = tuple[Position, str, str]


def unsupported_for_task(domain: Domain, problem: Problem | None = None) -> list[Diagnostic]:
    """Why these files cannot become a task; nothing if they can."""
    diagnostics = Diagnostics(domain.path)
    for refusal in _in_domain(domain):
        diagnostics.error(*refusal)
    found = diagnostics.found
    if problem is not None:
        diagnostics = Diagnostics(problem.path)
        for refusal in _in_problem(problem):
            diagnostics.error(*refusal)
        found = found + diagnostics.found
    return found


def _in_domain(domain: Domain) -> Iterator[Refusal]:
    for rule in domain.derived:
        yield (
            rule.position,
            f"the derived predicate '{rule.predicate.name}' is not supported in a grounded task",
            "rewrite the domain without ':derived'",
        )
    for item in domain.types:
        if len(item.types) > 1:
            yield _either(item, "a type with two parents")
    for function in domain.functions:
        yield from _either_in(function.parameters)
    for action in domain.actions:
        yield from _either_in(action.parameters)
    yield from _either_in(domain.constants)
    for condition in conditions_of(domain):
        yield from _in_condition(condition, positive=True)
    static = static_predicates(domain)
    for action in domain.actions:
        yield from _in_effects(action, static)


def _in_effects(action: Action, static: frozenset[str]) -> Iterator[Refusal]:
    if isinstance(action.effect, Increase):
        yield (
            action.effect.position,
            f"the only effect of '{action.name}' is a cost",
            "remove the action",
        )
    for effect in subeffects(action.effect):
        if isinstance(effect, When) and not _is_static(effect.condition, static):
            yield (
                effect.position,
                f"the conditional effect 'when' in the action '{action.name}' is not supported "
                "in a grounded task",
                "split the action: one for the case that the condition holds, one for the other",
            )
        elif isinstance(effect, EffectForall):
            yield from _either_in(effect.parameters)
        elif isinstance(effect, Increase):
            amount = effect.amount
            if isinstance(amount, Number) and amount.value.denominator != 1:
                yield _fraction(amount.position)


def _in_problem(problem: Problem) -> Iterator[Refusal]:
    yield from _either_in(problem.objects)
    for entry in problem.values:
        if entry.value.denominator != 1:
            yield _fraction(entry.position)
    yield from _in_condition(problem.goal, positive=True)
    yield from _in_goal(problem.goal, positive=True)
    if not any(isinstance(part, Atom | Equality) for part in subconditions(problem.goal)):
        yield (
            problem.goal.position,
            "the goal names no fact, which is not supported in a grounded task",
            "add a fact that is to be reached",
        )


def _in_condition(condition: Condition, positive: bool) -> Iterator[Refusal]:
    """Universal quantifiers, written as `forall` or as a negated `exists`."""
    match condition:
        case Forall(names, part) | Exists(names, part):
            yield from _either_in(names)
            if isinstance(condition, Forall) is positive:
                word = "'forall'" if positive else "a negated 'exists'"
                yield (
                    condition.position,
                    f"{word} in a condition is not supported in a grounded task",
                    "write the condition for every object, or keep track of it with a predicate",
                )
            else:
                yield from _in_condition(part, positive)
        case Not(part):
            yield from _in_condition(part, not positive)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _in_condition(part, positive)
        case Imply(premise, conclusion):
            yield from _in_condition(premise, not positive)
            yield from _in_condition(conclusion, positive)


def _in_goal(goal: Condition, positive: bool) -> Iterator[Refusal]:
    """What makes a goal more than a list of facts."""
    match goal:
        case Not(part):
            yield from _in_goal(part, not positive)
        case And(parts) | Or(parts) if isinstance(goal, And) is positive or len(parts) == 1:
            for part in parts:
                yield from _in_goal(part, positive)
        case And() | Or() | Imply():
            yield _complicated(goal, "'or' or 'imply'" if positive else "a negated 'and'")
        case Exists() if positive:
            yield _complicated(goal, "'exists'")
        case Forall() if not positive:
            yield _complicated(goal, "a negated 'forall'")


def _complicated(goal: Condition, what: str) -> Refusal:
    return (
        goal.position,
        f"{what} in a goal is not supported in a grounded task",
        "add an action that reaches a new fact in each of the cases, and make it the goal",
    )


def _is_static(condition: Condition, static: frozenset[str]) -> bool:
    """Whether the translator can decide the condition, so that no conditional effect is left."""
    allowed = (Atom, Equality, Not, And)
    parts = list(subconditions(condition))
    return all(isinstance(part, allowed) for part in parts) and all(
        part.predicate in static for part in parts if isinstance(part, Atom)
    )


def _either_in(names: Iterable[TypedName]) -> Iterator[Refusal]:
    for item in names:
        if len(item.types) > 1:
            yield _either(item, f"'(either {' '.join(item.types)})'")


def _either(item: TypedName, what: str) -> Refusal:
    return (
        item.type_position,
        f"{what} is not supported in a grounded task for '{item.name}'",
        "declare a common parent of these types and use it",
    )


def _fraction(position: Position) -> Refusal:
    return (
        position,
        "costs that are not whole numbers are not supported in a grounded task",
        "scale all costs to whole numbers",
    )
