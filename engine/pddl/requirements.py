"""Which `:requirements` a domain and a problem use, and which they forgot to declare.

A missing requirement is a warning, because other planners refuse such files.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.pddl.diagnostics import Diagnostics
from engine.pddl.model import (
    OBJECT,
    And,
    Condition,
    Domain,
    EffectForall,
    Equality,
    Exists,
    Forall,
    Imply,
    Increase,
    Not,
    Or,
    Position,
    Problem,
    TypedName,
    When,
)
from engine.pddl.traversal import conditions_of, subconditions, subeffects

QUANTIFIED = ("existential-preconditions", "universal-preconditions")
IMPLIED = {
    "quantified-preconditions": QUANTIFIED,
    "negation": ("negative-preconditions",),
    "adl": (
        "typing",
        "equality",
        "negative-preconditions",
        "disjunctive-preconditions",
        "conditional-effects",
        *QUANTIFIED,
    ),
}


def check_requirements(domain: Domain, problem: Problem | None, diagnostics: Diagnostics) -> None:
    """Warn once for each requirement that is used but not declared.

    Without a problem, what the domain uses; with one, what only the problem uses.
    """
    declared = {*domain.requirements, *(problem.requirements if problem else ())}
    for name in tuple(declared):
        declared.update(IMPLIED.get(name, ()))
    used = _used_by_domain(domain)
    if problem:
        declared.update(name for name, _ in used)
        used = _used_by_problem(problem)
    for name, position in used:
        if name not in declared:
            declared.add(name)
            diagnostics.warning(
                position,
                f"this needs the requirement ':{name}', which is not declared",
                f"add ':{name}' to :requirements",
            )


def _used_by_domain(domain: Domain) -> Iterator[tuple[str, Position]]:
    if domain.types:
        yield "typing", domain.types[0].position
    yield from _used_by_list(domain.constants)
    for declared in (domain.predicates, domain.functions, domain.actions):
        for item in declared:
            yield from _used_by_list(item.parameters)
    if domain.derived:
        yield "derived-predicates", domain.derived[0].position
    for condition in conditions_of(domain):
        yield from _used_by_condition(condition)
    for action in domain.actions:
        for effect in subeffects(action.effect):
            if isinstance(effect, Increase):
                yield "action-costs", effect.position
            elif isinstance(effect, When | EffectForall):
                yield "conditional-effects", effect.position


def _used_by_problem(problem: Problem) -> Iterator[tuple[str, Position]]:
    yield from _used_by_list(problem.objects)
    yield from _used_by_condition(problem.goal)
    if problem.metric:
        yield "action-costs", problem.metric.position


def _used_by_list(names: tuple[TypedName, ...]) -> Iterator[tuple[str, Position]]:
    for item in names:
        if item.types != (OBJECT,):
            yield "typing", item.type_position


def _used_by_condition(condition: Condition) -> Iterator[tuple[str, Position]]:
    for part in subconditions(condition):
        match part:
            case Equality():
                yield "equality", part.position
            case Not(inner):
                # Inequality is covered by :equality in most benchmark domains.
                if not isinstance(inner, Equality):
                    yield "negative-preconditions", part.position
            case Or() | Imply():
                yield "disjunctive-preconditions", part.position
            case Forall(names):
                yield "universal-preconditions", part.position
                yield from _used_by_list(names)
            case Exists(names):
                yield "existential-preconditions", part.position
                yield from _used_by_list(names)
            case And():
                pass
