"""Reading preconditions, goals and the conditions inside effects."""

from __future__ import annotations

from collections.abc import Callable

from engine.pddl.diagnostics import Diagnostics, MalformedError
from engine.pddl.model import (
    And,
    Atom,
    Condition,
    Equality,
    Exists,
    Forall,
    Imply,
    Not,
    Or,
    TypedName,
)
from engine.pddl.sexpr import Block, Node, Word, show
from engine.pddl.terms import RESERVED, read_name, read_term, read_typed_list

COMPARISONS = frozenset({"<", ">", "<=", ">="})


def read_condition(node: Node, diagnostics: Diagnostics) -> Condition:
    """A condition; `()` is truth."""
    if isinstance(node, Word):
        raise MalformedError(
            node.position,
            f"expected a condition but found {show(node)}",
            "write conditions in parentheses: '(predicate ?x)'",
        )
    if not node.items:
        return And((), node.position)
    reader = READERS.get(node.head)
    return reader(node, diagnostics) if reader else read_atom(node)


def read_part(node: Node, diagnostics: Diagnostics) -> Condition:
    """A condition inside another one, where `()` has no meaning."""
    if isinstance(node, Block) and not node.items:
        raise MalformedError(
            node.position, "this condition is empty", "remove it, or write '(and)' for truth"
        )
    return read_condition(node, diagnostics)


def read_atom(node: Node) -> Atom:
    if isinstance(node, Word) or not node.items:
        raise MalformedError(
            node.position, f"expected an atom but found {show(node)}", "write '(predicate ?x)'"
        )
    name = read_name(node.items[0], "a predicate")
    if name.text in COMPARISONS:
        raise MalformedError(
            node.position,
            f"numeric conditions like {show(node)} are not supported",
            "remove the condition; numbers may only be used for action costs",
        )
    if name.text == "preference":
        raise MalformedError(
            node.position,
            "preferences are not supported",
            "remove the preference, or make it a hard condition",
        )
    if name.text in RESERVED:
        raise MalformedError(
            node.position,
            f"'{name.text}' is not allowed here",
            "expected a predicate and its arguments",
        )
    return Atom(name.text, tuple(read_term(item) for item in node.items[1:]), node.position)


def read_quantified_variables(
    node: Block, diagnostics: Diagnostics
) -> tuple[tuple[TypedName, ...], Node]:
    """The variables and the body of `(forall (?x - t) body)`."""
    expect_parts(node, 2, f"({node.head} (?x - type) ...)")
    variables = node.items[1]
    if isinstance(variables, Word) or not variables.items:
        raise MalformedError(
            variables.position,
            f"'{node.head}' needs a list of variables here",
            f"write '({node.head} (?x - type) ...)'",
        )
    return read_typed_list(variables.items, diagnostics, "a variable", variables=True), node.items[
        2
    ]


def expect_parts(node: Block, count: int, form: str) -> None:
    if len(node.items) != count + 1:
        found = len(node.items) - 1
        raise MalformedError(
            node.position,
            f"'{node.head}' has {found} {'part' if found == 1 else 'parts'} but needs {count}",
            f"write '{form}'",
        )


def _read_parts(node: Block, diagnostics: Diagnostics) -> tuple[Condition, ...]:
    parts = []
    for item in node.items[1:]:
        with diagnostics.noting():
            parts.append(read_part(item, diagnostics))
    return tuple(parts)


def _read_and(node: Block, diagnostics: Diagnostics) -> And:
    return And(_read_parts(node, diagnostics), node.position)


def _read_or(node: Block, diagnostics: Diagnostics) -> Or:
    return Or(_read_parts(node, diagnostics), node.position)


def _read_not(node: Block, diagnostics: Diagnostics) -> Not:
    expect_parts(node, 1, "(not CONDITION)")
    return Not(read_part(node.items[1], diagnostics), node.position)


def _read_imply(node: Block, diagnostics: Diagnostics) -> Imply:
    expect_parts(node, 2, "(imply CONDITION CONDITION)")
    premise, conclusion = (read_part(item, diagnostics) for item in node.items[1:])
    return Imply(premise, conclusion, node.position)


def _read_forall(node: Block, diagnostics: Diagnostics) -> Forall:
    variables, body = read_quantified_variables(node, diagnostics)
    return Forall(variables, read_part(body, diagnostics), node.position)


def _read_exists(node: Block, diagnostics: Diagnostics) -> Exists:
    variables, body = read_quantified_variables(node, diagnostics)
    return Exists(variables, read_part(body, diagnostics), node.position)


def _read_equality(node: Block, diagnostics: Diagnostics) -> Equality:
    expect_parts(node, 2, "(= ?x ?y)")
    for item in node.items[1:]:
        if isinstance(item, Block):
            raise MalformedError(
                item.position,
                "comparing the values of functions is not supported",
                "compare variables, objects or constants: '(= ?x ?y)'",
            )
    left, right = (read_term(item) for item in node.items[1:])
    return Equality(left, right, node.position)


READERS: dict[str, Callable[[Block, Diagnostics], Condition]] = {
    "and": _read_and,
    "or": _read_or,
    "not": _read_not,
    "imply": _read_imply,
    "forall": _read_forall,
    "exists": _read_exists,
    "=": _read_equality,
}
