"""Reading the smallest parts: names, variables, terms, numbers and typed lists of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from engine.pddl.diagnostics import Diagnostics, MalformedError
from engine.pddl.model import OBJECT, Term, TypedName
from engine.pddl.sexpr import Block, Node, Word, show

NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
LONGEST_NUMBER = 30
CONNECTIVES = frozenset({"and", "or", "not", "imply", "forall", "exists", "when", "either"})
NUMERIC = frozenset({"=", "<", ">", "<=", ">="})
CHANGES = frozenset({"increase", "decrease", "assign", "scale-up", "scale-down"})
RESERVED = CONNECTIVES | NUMERIC | CHANGES | {"preference", "define"}


def is_number(word: Word) -> bool:
    return NUMBER.fullmatch(word.text) is not None


def read_number(word: Word) -> Fraction:
    if len(word.text) > LONGEST_NUMBER:
        raise MalformedError(
            word.position,
            f"the number has more than {LONGEST_NUMBER} digits",
            "scale the numbers down",
        )
    return Fraction(word.text)


def read_name(node: Node, what: str) -> Word:
    """A word that can be the name of something; `what` says of what."""
    if isinstance(node, Block):
        raise MalformedError(
            node.position,
            f"expected the name of {what} but found {show(node)}",
            "write a word without parentheses",
        )
    text = node.text
    if text.startswith("?"):
        raise MalformedError(
            node.position,
            f"expected the name of {what} but found the variable '{text}'",
            "remove the question mark",
        )
    if text.startswith(":"):
        raise MalformedError(
            node.position,
            f"expected the name of {what} but found the keyword '{text}'",
            "check the parentheses before it",
        )
    if text.startswith("-"):
        raise MalformedError(
            node.position,
            f"'{text}' cannot be the name of {what}",
            f"write a space after the dash: '- {text[1:]}'" if text[1:] else "write a name",
        )
    return node


def read_variable(node: Node) -> Word:
    if isinstance(node, Word) and node.text.startswith("-") and node.text != "-":
        raise MalformedError(
            node.position,
            f"a space is missing between the dash and the type in '{node.text}'",
            f"put a space after '-': '- {node.text[1:]}'",
        )
    if isinstance(node, Block) or not node.text.startswith("?"):
        raise MalformedError(
            node.position,
            f"expected a variable but found {show(node)}",
            "variables start with a question mark: '?x'",
        )
    if node.text == "?":
        raise MalformedError(node.position, "this variable has no name", "write for example '?x'")
    return node


def read_term(node: Node) -> Term:
    if isinstance(node, Block):
        raise MalformedError(
            node.position,
            f"an argument that is an expression itself, {show(node)}, is not supported",
            "arguments are variables, objects or constants; "
            "object fluents, timed and temporal formulas are not handled",
        )
    word = read_variable(node) if node.text.startswith("?") else read_name(node, "an object")
    return Term(word.text, word.position)


def read_typed_list(
    nodes: Sequence[Node], diagnostics: Diagnostics, what: str, variables: bool = False
) -> tuple[TypedName, ...]:
    """`a b - t c`: names with their types; `what` names them in messages."""
    result: list[TypedName] = []
    waiting: list[Word] = []
    rest = iter(nodes)
    for node in rest:
        if not (isinstance(node, Word) and node.text == "-"):
            waiting.append(read_variable(node) if variables else read_name(node, what))
            continue
        type_node = next(rest, None)
        if type_node is None:
            raise MalformedError(
                node.position, "a type is missing after this dash", "add a type or remove the dash"
            )
        if not waiting:
            diagnostics.warning(
                node.position, "a name is missing before this dash", "remove the dash and the type"
            )
        types = read_type(type_node)
        result += [TypedName(w.text, types, w.position, type_node.position) for w in waiting]
        waiting = []
    result += [TypedName(word.text, (OBJECT,), word.position, word.position) for word in waiting]
    return tuple(result)


def read_type(node: Node) -> tuple[str, ...]:
    """`t` or `(either t u)`."""
    if isinstance(node, Word):
        return (read_name(node, "a type").text,)
    if node.head != "either" or len(node.items) < 2:
        raise MalformedError(
            node.position,
            f"expected a type but found {show(node)}",
            "write one type, or '(either TYPE TYPE)'",
        )
    names = (read_name(item, "a type").text for item in node.items[1:])
    return tuple(dict.fromkeys(names))
