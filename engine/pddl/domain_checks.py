"""What a domain must satisfy beyond its syntax: names, arity, types, costs."""

from __future__ import annotations

from collections.abc import Iterable

from engine.pddl.diagnostics import Diagnostic, Diagnostics
from engine.pddl.model import (
    OBJECT,
    TOTAL_COST,
    Action,
    Derived,
    Domain,
    Effect,
    EffectAnd,
    EffectForall,
    Function,
    FunctionTerm,
    Increase,
    Number,
    Predicate,
    TypedName,
    When,
)
from engine.pddl.name_checks import Vocabulary, check_duplicates, count_arguments
from engine.pddl.requirements import check_requirements
from engine.pddl.traversal import subeffects


def check_domain(domain: Domain) -> list[Diagnostic]:
    diagnostics = Diagnostics(domain.path)
    vocabulary = Vocabulary(domain, None, diagnostics)
    _check_hierarchy(domain, diagnostics)
    _check_declarations(domain, vocabulary, diagnostics)
    for rule in domain.derived:
        _check_derived(rule, vocabulary, diagnostics)
    for action in domain.actions:
        _check_action(action, vocabulary, diagnostics)
    check_requirements(domain, None, diagnostics)
    return diagnostics.found


def _check_hierarchy(domain: Domain, diagnostics: Diagnostics) -> None:
    parents: dict[str, tuple[str, ...]] = {}
    for item in domain.types:
        if item.name == "number":
            diagnostics.error(
                item.position, "the type 'number' is built in", "choose another name for this type"
            )
        if item.name != OBJECT or item.types != (OBJECT,):
            parents[item.name] = (*parents.get(item.name, ()), *item.types)
    reported: set[str] = set()
    for item in domain.types:
        cycle = _cycle_from(item.name, parents)
        if cycle and not reported.intersection(cycle):
            reported.update(cycle)
            diagnostics.error(
                item.position,
                "the type hierarchy has a cycle: " + " - ".join([*cycle, cycle[0]]),
                "remove one of these parents",
            )


def _cycle_from(start: str, parents: dict[str, tuple[str, ...]]) -> list[str]:
    """The way from a type up to itself, if there is one."""
    came_from: dict[str, str] = {}
    waiting = [start]
    while waiting:
        name = waiting.pop()
        for parent in parents.get(name, ()):
            if parent == start:
                path = [name]
                while path[-1] != start:
                    path.append(came_from[path[-1]])
                return path[::-1]
            if parent not in came_from:
                came_from[parent] = name
                waiting.append(parent)
    return []


def _check_declarations(domain: Domain, vocabulary: Vocabulary, diagnostics: Diagnostics) -> None:
    _warn_of_repeated_types(domain, diagnostics)
    _check_repeated_predicates(domain, diagnostics)
    for what, items in (
        ("constant", domain.constants),
        ("function", domain.functions),
        ("action", domain.actions),
    ):
        check_duplicates(((item.name, item.position) for item in items), what, diagnostics)
    vocabulary.check_types(domain.constants)
    declared: Iterable[Predicate | Function] = (*domain.predicates, *domain.functions)
    for item in declared:
        vocabulary.check_types(item.parameters)
        _warn_of_repeated_parameters(item.parameters, item.name, diagnostics)


def _warn_of_repeated_types(domain: Domain, diagnostics: Diagnostics) -> None:
    """Benchmark domains do this, and the translator takes the parents of both."""
    seen: dict[str, TypedName] = {}
    for item in domain.types:
        first = seen.setdefault(item.name, item)
        if first is not item:
            diagnostics.warning(
                item.position,
                f"the type '{item.name}' is declared twice and has the parents of both",
                f"remove this or the one in line {first.position.line}",
            )


def _check_repeated_predicates(domain: Domain, diagnostics: Diagnostics) -> None:
    seen: dict[str, Predicate] = {}
    for item in domain.predicates:
        first = seen.setdefault(item.name, item)
        if first is item:
            continue
        same = [p.types for p in first.parameters] == [p.types for p in item.parameters]
        report = diagnostics.warning if same else diagnostics.error
        report(
            item.position,
            f"the predicate '{item.name}' is declared twice{'' if same else ' in different ways'}",
            f"remove or rename this or the one in line {first.position.line}",
        )


def _warn_of_repeated_parameters(
    parameters: Iterable[TypedName], name: str, diagnostics: Diagnostics
) -> None:
    seen: set[str] = set()
    for item in parameters:
        if item.name in seen:
            diagnostics.warning(
                item.position,
                f"'{name}' is declared with the parameter '{item.name}' twice",
                "give its parameters different names",
            )
        seen.add(item.name)


def _check_derived(rule: Derived, vocabulary: Vocabulary, diagnostics: Diagnostics) -> None:
    head = rule.predicate
    check_duplicates(((p.name, p.position) for p in head.parameters), "parameter", diagnostics)
    declared = vocabulary.predicates.get(head.name)
    if declared is None:
        hint = diagnostics.similar(head.name, vocabulary.predicates, "declare it in :predicates")
        diagnostics.error(head.position, f"unknown predicate '{head.name}'", hint)
    elif declared.arity != head.arity:
        diagnostics.error(
            head.position,
            f"the predicate '{head.name}' takes {count_arguments(declared.arity)} "
            f"but has {head.arity} here",
            f"see line {declared.position.line}",
        )
    scope = vocabulary.extended(vocabulary.objects, head.parameters)
    vocabulary.check_condition(rule.condition, scope)


def _check_action(action: Action, vocabulary: Vocabulary, diagnostics: Diagnostics) -> None:
    names = ((item.name, item.position) for item in action.parameters)
    check_duplicates(names, "parameter", diagnostics)
    scope = vocabulary.extended(vocabulary.objects, action.parameters)
    vocabulary.check_condition(action.precondition, scope)
    vocabulary.check_effect(action.effect, scope)
    _check_costs(action, diagnostics)
    if all(isinstance(part, EffectAnd | Increase) for part in subeffects(action.effect)):
        diagnostics.warning(
            action.position,
            f"the action '{action.name}' changes nothing",
            "it will not be part of the grounded task",
        )


def _check_costs(action: Action, diagnostics: Diagnostics) -> None:
    costs = [part for part in subeffects(action.effect) if isinstance(part, Increase)]
    for cost in costs[1:]:
        diagnostics.error(
            cost.position,
            f"the action '{action.name}' increases ({TOTAL_COST}) twice",
            "write one increase",
        )
    for cost in _conditional_costs(action.effect):
        diagnostics.error(
            cost.position,
            "a cost inside 'when' or 'forall' is not supported",
            "an action has one cost: write the increase outside",
        )
    for cost in costs:
        amount = cost.amount
        if isinstance(amount, Number) and amount.value < 0:
            diagnostics.error(
                amount.position, "the cost of an action is negative", "costs are 0 or more"
            )
        if isinstance(amount, FunctionTerm) and amount.name == TOTAL_COST:
            diagnostics.error(
                amount.position,
                f"({TOTAL_COST}) cannot be increased by itself",
                "write a number or another function",
            )


def _conditional_costs(effect: Effect) -> Iterable[Increase]:
    for part in subeffects(effect):
        if isinstance(part, When | EffectForall):
            yield from (inner for inner in subeffects(part) if isinstance(inner, Increase))
