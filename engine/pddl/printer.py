"""Domains and problems as text that is easy to read and that reads back as the same model."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import groupby

from engine.pddl.model import (
    OBJECT,
    Action,
    Add,
    And,
    Atom,
    Condition,
    Delete,
    Derived,
    Domain,
    Effect,
    EffectAnd,
    EffectForall,
    Equality,
    Exists,
    Expression,
    Forall,
    Function,
    FunctionTerm,
    Imply,
    Increase,
    Not,
    Number,
    Or,
    Predicate,
    Problem,
    Term,
    TypedName,
    When,
)

WIDTH = 88

Tree = str | list["Tree"]
"""A word, or what stands between two parentheses."""


def format_domain(domain: Domain) -> str:
    lines = [f"(define (domain {domain.name})"]
    lines += _requirements(domain.requirements)
    typed = bool(domain.types)
    lines += _typed_section(":types", domain.types, typed)
    lines += _typed_section(":constants", domain.constants, typed)
    if domain.predicates:
        predicates = [_one_line(_signature(predicate, typed)) for predicate in domain.predicates]
        lines += _section(":predicates", predicates)
    if domain.functions:
        functions = [_one_line(_signature(f, typed)) + " - number" for f in domain.functions]
        lines += _section(":functions", functions)
    for rule in domain.derived:
        lines += ["", *_derived(rule, typed)]
    for action in domain.actions:
        lines += ["", *_action(action, typed)]
    return "\n".join(lines) + ")\n"


def format_problem(problem: Problem) -> str:
    lines = [f"(define (problem {problem.name})", f"  (:domain {problem.domain_name})"]
    lines += _requirements(problem.requirements)
    typed = any(item.types != (OBJECT,) for item in problem.objects)
    lines += _typed_section(":objects", problem.objects, typed)
    values = [f"(= {entry.function} {format_number(entry.value)})" for entry in problem.values]
    lines += _section(":init", [*map(str, problem.init), *values])
    lines += _laid_out([":goal", _condition(problem.goal, typed)], 2)
    if problem.metric:
        lines.append(f"  (:metric minimize {_one_line(_expression(problem.metric.expression))})")
    return "\n".join(lines) + ")\n"


def format_action(action: Action) -> str:
    return textwrap.dedent("\n".join(_action(action))) + "\n"


def format_condition(condition: Condition) -> str:
    """Return a condition on one line."""
    return _one_line(_condition(condition))


def format_effect(effect: Effect) -> str:
    """Return an effect on one line."""
    return _one_line(_effect(effect))


def format_typed_list(names: Sequence[TypedName]) -> str:
    """`?a ?b - block ?c - (either ball box)`; without types if all are objects."""
    return " ".join(_groups(names))


def format_number(value: Fraction) -> str:
    """The exact decimal form; only numbers that have one can be read from a file."""
    if value.denominator == 1:
        return str(value.numerator)
    digits = next(n for n in range(1, 1000) if (value * 10**n).denominator == 1)
    scaled = str(abs(value) * 10**digits).zfill(digits + 1)
    return f"{'-' if value < 0 else ''}{scaled[:-digits]}.{scaled[-digits:]}"


def _requirements(names: Sequence[str]) -> list[str]:
    return [f"  (:requirements {' '.join(':' + name for name in names)})"] if names else []


def _section(head: str, entries: Sequence[str]) -> list[str]:
    lines = [f"  ({head}", *(f"    {entry}" for entry in entries)]
    lines[-1] += ")"
    return lines


def _typed_section(head: str, names: Sequence[TypedName], typed: bool) -> list[str]:
    if not names:
        return []
    filler = textwrap.TextWrapper(
        WIDTH - 4, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    groups = _groups(names, typed)
    return _section(head, [line for group in groups for line in filler.wrap(group)])


def _groups(names: Sequence[TypedName], typed: bool = False) -> list[str]:
    """Neighbors of the same type together; the type is left out if all are just objects.

    Not in a typed domain: VAL refuses names without a type beside others.
    """
    if not typed and all(item.types == (OBJECT,) for item in names):
        return [" ".join(item.name for item in names)] if names else []
    return [
        " ".join([*(item.name for item in group), "-", format_type(types)])
        for types, group in groupby(names, key=lambda item: item.types)
    ]


def format_type(types: Sequence[str]) -> str:
    """Return `t`, or `(either t u)` for several alternatives."""
    return types[0] if len(types) == 1 else f"(either {' '.join(types)})"


def _signature(declared: Predicate | Function, typed: bool) -> list[Tree]:
    return [declared.name, *_groups(declared.parameters, typed)]


def _derived(rule: Derived, typed: bool) -> list[str]:
    signature, condition = _signature(rule.predicate, typed), _condition(rule.condition, typed)
    return _laid_out([":derived", signature, condition], 2)


def _action(action: Action, typed: bool = False) -> list[str]:
    lines = [f"  (:action {action.name}"]
    lines.append(f"    :parameters ({' '.join(_groups(action.parameters, typed))})")
    for key, tree in (
        (":precondition", _condition(action.precondition, typed)),
        (":effect", _effect(action.effect, typed)),
    ):
        first, *rest = _laid_out(tree, 4, len(key) + 1)
        lines += [f"    {key} {first.lstrip()}", *rest]
    lines[-1] += ")"
    return lines


def _laid_out(tree: Tree, indent: int, taken: int = 0) -> list[str]:
    """On one line if it fits; else one part per line, indented by two.

    `taken` characters stand before the first line already.
    """
    flat = " " * indent + _one_line(tree)
    if isinstance(tree, str) or len(flat) + taken <= WIDTH:
        return [flat]
    words = list(_leading_words(tree))
    lines = [" " * indent + "(" + " ".join(words)]
    for part in tree[len(words) :]:
        lines += _laid_out(part, indent + 2)
    lines[-1] += ")"
    return lines


def _leading_words(tree: list[Tree]) -> Iterable[str]:
    for part in tree:
        if not isinstance(part, str):
            return
        yield part


def _one_line(tree: Tree) -> str:
    if isinstance(tree, str):
        return tree
    return "(" + " ".join(map(_one_line, tree)) + ")"


def _condition(condition: Condition, typed: bool = False) -> Tree:  # noqa: PLR0911 - one case per kind of condition
    match condition:
        case Atom(name, arguments):
            return _application(name, arguments)
        case Equality(left, right):
            return ["=", left.name, right.name]
        case Not(part):
            return ["not", _condition(part, typed)]
        case And(parts):
            return ["and", *(_condition(part, typed) for part in parts)]
        case Or(parts):
            return ["or", *(_condition(part, typed) for part in parts)]
        case Imply(premise, conclusion):
            return ["imply", _condition(premise, typed), _condition(conclusion, typed)]
        case Forall(names, part):
            return ["forall", [*_groups(names, typed)], _condition(part, typed)]
        case Exists(names, part):
            return ["exists", [*_groups(names, typed)], _condition(part, typed)]


def _effect(effect: Effect, typed: bool = False) -> Tree:
    match effect:
        case Add(atom):
            return _condition(atom, typed)
        case Delete(atom):
            return ["not", _condition(atom, typed)]
        case EffectAnd(parts):
            return ["and", *(_effect(part, typed) for part in parts)]
        case EffectForall(names, part):
            return ["forall", [*_groups(names, typed)], _effect(part, typed)]
        case When(condition, part):
            return ["when", _condition(condition, typed), _effect(part, typed)]
        case Increase(target, amount):
            return ["increase", _expression(target), _expression(amount)]


def _application(name: str, arguments: Sequence[Term]) -> Tree:
    return [name, *(term.name for term in arguments)]


def _expression(expression: Expression) -> Tree:
    match expression:
        case FunctionTerm(name, arguments):
            return _application(name, arguments)
        case Number(value):
            return format_number(value)
