"""Effects in the form that the translator reads: inside 'when' there are literals only.

`(when c (and e f))` becomes `(and (when c e) (when c f))`, `(when c (forall (?x) e))` becomes
`(forall (?x) (when c e))`, and `(when c (when d e))` becomes `(when (and c d) e)`. All conditions
are read before anything changes, so that this means the same, unless `?x` hides another name that
c mentions (`find_hiding`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from engine.pddl.model import (
    Action,
    Add,
    And,
    Delete,
    Domain,
    Effect,
    EffectAnd,
    EffectForall,
    TypedName,
    When,
)
from engine.pddl.traversal import subeffects


def flatten_effects(domain: Domain) -> Domain:
    """The same domain if there is nothing to do."""
    if not any(_is_nested(action.effect) for action in domain.actions):
        return domain
    actions = tuple(
        replace(action, effect=EffectAnd(tuple(_pieces(action.effect))))
        if _is_nested(action.effect)
        else action
        for action in domain.actions
    )
    return replace(domain, actions=actions)


def find_hiding(action: Action) -> Iterator[TypedName]:
    """Parameters of a 'forall' inside 'when' that have the name of one outside."""
    outside = frozenset(item.name for item in action.parameters)
    return _hiding(action.effect, outside, inside_when=False)


def _hiding(effect: Effect, names: frozenset[str], inside_when: bool) -> Iterator[TypedName]:
    match effect:
        case EffectAnd(parts):
            for part in parts:
                yield from _hiding(part, names, inside_when)
        case EffectForall(parameters, part):
            if inside_when:
                yield from (item for item in parameters if item.name in names)
            inner = names.union(item.name for item in parameters)
            yield from _hiding(part, inner, inside_when)
        case When(_, part):
            yield from _hiding(part, names, inside_when=True)


def _is_nested(effect: Effect) -> bool:
    """Whether there is anything but literals inside some 'when'."""
    return any(
        not isinstance(inner, Add | Delete | EffectAnd)
        for outer in subeffects(effect)
        if isinstance(outer, When)
        for inner in subeffects(outer.effect)
    )


def _pieces(effect: Effect) -> Iterator[Effect]:
    """What happens, one by one."""
    match effect:
        case EffectAnd(parts):
            for part in parts:
                yield from _pieces(part)
        case EffectForall(_, part):
            for piece in _pieces(part):
                yield replace(effect, part=piece)
        case When(_, part):
            for piece in _pieces(part):
                yield _only_if(effect, piece)
        case _:
            yield effect


def _only_if(when: When, piece: Effect) -> Effect:
    match piece:
        case EffectForall(_, part):
            return replace(piece, part=_only_if(when, part))
        case When(condition, _):
            return replace(piece, condition=And((when.condition, condition)))
        case _:
            return replace(when, effect=piece)
