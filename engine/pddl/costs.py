"""A domain and a problem without their costs, so that every action costs 1."""

from __future__ import annotations

from dataclasses import replace

from engine.pddl.model import Domain, Effect, EffectAnd, EffectForall, Increase, Problem, When


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
