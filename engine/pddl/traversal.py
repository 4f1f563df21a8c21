"""Walks over conditions and effects that several checks share."""

from __future__ import annotations

from collections.abc import Iterator

from engine.pddl.model import (
    Add,
    And,
    Condition,
    Delete,
    Domain,
    Effect,
    EffectAnd,
    EffectForall,
    Exists,
    Forall,
    Imply,
    Not,
    Or,
    When,
)


def parts_of(condition: Condition) -> tuple[Condition, ...]:
    """The conditions directly inside a condition."""
    match condition:
        case And(parts) | Or(parts):
            return parts
        case Not(part) | Forall(_, part) | Exists(_, part):
            return (part,)
        case Imply(premise, conclusion):
            return (premise, conclusion)
        case _:
            return ()


def subconditions(condition: Condition) -> Iterator[Condition]:
    """The condition and everything inside it, in textual order."""
    yield condition
    for part in parts_of(condition):
        yield from subconditions(part)


def subeffects(effect: Effect) -> Iterator[Effect]:
    """The effect and every effect inside it, in textual order."""
    yield effect
    match effect:
        case EffectAnd(parts):
            for part in parts:
                yield from subeffects(part)
        case EffectForall(_, part) | When(_, part):
            yield from subeffects(part)


def conditions_of(domain: Domain) -> Iterator[Condition]:
    """Every precondition, condition of an effect and condition of a derived predicate."""
    for rule in domain.derived:
        yield rule.condition
    for action in domain.actions:
        yield action.precondition
        for effect in subeffects(action.effect):
            if isinstance(effect, When):
                yield effect.condition


def static_predicates(domain: Domain) -> frozenset[str]:
    """The predicates that no action changes and no rule derives."""
    changed = {rule.predicate.name for rule in domain.derived}
    for action in domain.actions:
        for effect in subeffects(action.effect):
            if isinstance(effect, Add | Delete):
                changed.add(effect.atom.predicate)
    return frozenset(item.name for item in domain.predicates if item.name not in changed)
