"""Reading effects; the only numeric effect is the increase of `(total-cost)`."""

from __future__ import annotations

from collections.abc import Callable

from engine.pddl.condition_reader import (
    expect_parts,
    read_atom,
    read_condition,
    read_quantified_variables,
)
from engine.pddl.diagnostics import Diagnostics, MalformedError
from engine.pddl.model import (
    TOTAL_COST,
    Add,
    Delete,
    Effect,
    EffectAnd,
    EffectForall,
    Expression,
    FunctionTerm,
    Increase,
    Number,
    When,
)
from engine.pddl.sexpr import Block, Node, Word, show
from engine.pddl.terms import is_number, read_name, read_number, read_term

NUMERIC_EFFECTS = frozenset({"assign", "decrease", "scale-up", "scale-down"})
UNCERTAIN_EFFECTS = frozenset({"oneof", "probabilistic"})
ARITHMETIC = frozenset("+-*/")


def read_effect(node: Node, diagnostics: Diagnostics) -> Effect:
    """An effect; `()` is no effect."""
    if isinstance(node, Word):
        raise MalformedError(
            node.position,
            f"expected an effect but found {show(node)}",
            "write effects in parentheses: '(predicate ?x)'",
        )
    if not node.items:
        return EffectAnd((), node.position)
    reader = READERS.get(node.head)
    if reader:
        return reader(node, diagnostics)
    _refuse(node)
    return Add(read_atom(node), node.position)


def read_expression(node: Node, diagnostics: Diagnostics) -> Expression:
    """A number or a function term such as `(road-length ?a ?b)`."""
    if isinstance(node, Word) and is_number(node):
        return Number(read_number(node), node.position, "." in node.text)
    if isinstance(node, Block) and node.head in ARITHMETIC:
        raise MalformedError(
            node.position,
            f"arithmetic like {show(node)} is not supported",
            "write a number or one function, and give the computed values in :init",
        )
    return read_function_term(node, diagnostics)


def read_function_term(node: Node, diagnostics: Diagnostics) -> FunctionTerm:
    if isinstance(node, Word):
        name = read_name(node, "a function")
        diagnostics.warning(
            name.position,
            f"the function '{name.text}' needs parentheses",
            f"write '({name.text})'",
        )
        return FunctionTerm(name.text, (), node.position)
    if not node.items:
        raise MalformedError(
            node.position, "expected a function but found '()'", "write '(function ARGUMENT ...)'"
        )
    name = read_name(node.items[0], "a function")
    arguments = tuple(read_term(item) for item in node.items[1:])
    return FunctionTerm(name.text, arguments, node.position)


def _refuse(node: Block) -> None:
    head = node.head
    if head in NUMERIC_EFFECTS:
        raise MalformedError(
            node.position,
            f"the numeric effect '{head}' is not supported",
            f"only '(increase ({TOTAL_COST}) AMOUNT)' is",
        )
    if head in UNCERTAIN_EFFECTS:
        raise MalformedError(
            node.position,
            f"the effect '{head}' is not supported",
            "Plumbline handles deterministic actions only",
        )


def _read_part(node: Node, diagnostics: Diagnostics) -> Effect:
    if isinstance(node, Block) and not node.items:
        raise MalformedError(
            node.position, "this effect is empty", "remove it, or write '(and)' for no effect"
        )
    return read_effect(node, diagnostics)


def _read_and(node: Block, diagnostics: Diagnostics) -> EffectAnd:
    parts = []
    for item in node.items[1:]:
        with diagnostics.noting():
            parts.append(_read_part(item, diagnostics))
    return EffectAnd(tuple(parts), node.position)


def _read_not(node: Block, diagnostics: Diagnostics) -> Delete:
    expect_parts(node, 1, "(not (predicate ?x))")
    return Delete(read_atom(node.items[1]), node.position)


def _read_forall(node: Block, diagnostics: Diagnostics) -> EffectForall:
    variables, body = read_quantified_variables(node, diagnostics)
    return EffectForall(variables, _read_part(body, diagnostics), node.position)


def _read_when(node: Block, diagnostics: Diagnostics) -> When:
    expect_parts(node, 2, "(when CONDITION EFFECT)")
    condition = read_condition(node.items[1], diagnostics)
    return When(condition, _read_part(node.items[2], diagnostics), node.position)


def _read_increase(node: Block, diagnostics: Diagnostics) -> Increase:
    expect_parts(node, 2, f"(increase ({TOTAL_COST}) AMOUNT)")
    target = node.items[1]
    if isinstance(target, Word):
        raise MalformedError(
            target.position,
            f"expected '({TOTAL_COST})' but found {show(target)}",
            f"write '(increase ({TOTAL_COST}) AMOUNT)'",
        )
    function = read_function_term(target, diagnostics)
    if function.name != TOTAL_COST or function.arguments:
        raise MalformedError(
            target.position,
            f"the numeric effect on {function} is not supported",
            f"only '(increase ({TOTAL_COST}) AMOUNT)' is",
        )
    return Increase(function, read_expression(node.items[2], diagnostics), node.position)


READERS: dict[str, Callable[[Block, Diagnostics], Effect]] = {
    "and": _read_and,
    "not": _read_not,
    "forall": _read_forall,
    "when": _read_when,
    "increase": _read_increase,
}
