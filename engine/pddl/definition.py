"""What domain and problem files have in common: `(define (KIND NAME) SECTION ...)`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice

from engine.pddl.diagnostics import Diagnostics, MalformedError
from engine.pddl.model import Position
from engine.pddl.sexpr import Block, Node, Word, show, tokens
from engine.pddl.terms import read_name

UNSUPPORTED_SECTIONS = {
    ":durative-action": "durative actions",
    ":constraints": "trajectory constraints",
    ":process": "processes",
    ":event": "events",
    ":axiom": "':axiom' (write '(:derived (predicate ?x) CONDITION)')",
    ":method": "hierarchical tasks",
    ":task": "hierarchical tasks",
    ":htn": "hierarchical tasks",
    ":timeless": "':timeless' (write these facts in :init)",
    ":extends": "':extends'",
    ":safety": "safety constraints",
    ":situation": "':situation'",
    ":length": "':length'",
}


def definition_kind(text: str) -> str:
    """What a file claims to be: "domain", "problem", "animation" or nothing of these."""
    with suppress(MalformedError):
        words = [token for token, _ in islice(tokens(text), 4)]
        if words[:3] == ["(", "define", "("] and words[3:] in (
            ["domain"],
            ["problem"],
            ["animation"],
        ):
            return words[3]
    return ""


def open_definition(whole: Block, kind: str) -> tuple[Word, Sequence[Node]]:
    """The name and the sections of a definition of the given kind."""
    form = f"'(define ({kind} NAME) ...)'"
    if whole.head != "define":
        raise MalformedError(
            whole.position, "this file does not start with 'define'", f"a {kind} file is {form}"
        )
    if len(whole.items) < 2:
        raise MalformedError(whole.position, f"the {kind} has no name", f"write {form}")
    header = whole.items[1]
    found = header.head if isinstance(header, Block) else ""
    if {found, kind} == {"domain", "problem"}:
        raise MalformedError(
            header.position,
            f"this is a {found}, but a {kind} is expected here",
            "give the domain file first and the problem file second",
        )
    if not isinstance(header, Block) or found != kind:
        raise MalformedError(
            header.position, f"expected '({kind} NAME)' but found {show(header)}", f"write {form}"
        )
    return single_name(header, f"a {kind}"), whole.items[2:]


def single_name(block: Block, what: str) -> Word:
    if len(block.items) != 2:
        raise MalformedError(
            block.position,
            f"expected one name after '{block.head}'",
            f"write '({block.head} NAME)'",
        )
    return read_name(block.items[1], what)


def sections(
    nodes: Sequence[Node], order: Sequence[str], repeated: frozenset[str], diagnostics: Diagnostics
) -> Iterator[Block]:
    """The sections that are allowed, each with its place in the file checked."""
    seen: dict[str, Position] = {}
    for node in nodes:
        if isinstance(node, Word) or not node.head.startswith(":"):
            diagnostics.error(
                node.position,
                f"expected a section but found {show(node)}",
                "sections are " + ", ".join(f"'({name} ...)'" for name in order),
            )
        elif node.head in UNSUPPORTED_SECTIONS:
            diagnostics.error(
                node.position,
                f"{UNSUPPORTED_SECTIONS[node.head]}: this is not supported",
                "remove this section",
            )
        elif node.head not in order:
            hint = diagnostics.similar(node.head, order, "allowed are " + ", ".join(order))
            diagnostics.error(node.position, f"unknown section '{node.head}'", hint)
        elif node.head in seen and node.head not in repeated:
            diagnostics.error(
                node.position,
                f"duplicate section '{node.head}'",
                f"join it with the one in line {seen[node.head].line}",
            )
        else:
            seen[node.head] = node.position
            yield node


def read_requirements(block: Block, diagnostics: Diagnostics) -> tuple[str, ...]:
    result: list[str] = []
    for node in block.items[1:]:
        if isinstance(node, Block) or not node.text.startswith(":"):
            diagnostics.error(
                node.position,
                f"expected a requirement but found {show(node)}",
                "requirements start with a colon: ':strips'",
            )
        elif node.text in UNSUPPORTED_REQUIREMENTS:
            diagnostics.error(
                node.position,
                f"the requirement '{node.text}' is not supported",
                "remove it if the domain does not use it",
            )
        elif node.text not in REQUIREMENTS:
            known = [*REQUIREMENTS, *UNSUPPORTED_REQUIREMENTS]
            hint = diagnostics.similar(node.text, known, "supported are " + " ".join(REQUIREMENTS))
            diagnostics.error(node.position, f"unknown requirement '{node.text}'", hint)
        else:
            result.append(node.text.removeprefix(":"))
    return tuple(dict.fromkeys(result))


REQUIREMENTS = (
    ":strips",
    ":typing",
    ":equality",
    ":negative-preconditions",
    ":disjunctive-preconditions",
    ":existential-preconditions",
    ":universal-preconditions",
    ":quantified-preconditions",
    ":conditional-effects",
    ":adl",
    ":derived-predicates",
    ":action-costs",
    ":negation",
)

UNSUPPORTED_REQUIREMENTS = frozenset(
    {
        ":fluents",
        ":numeric-fluents",
        ":object-fluents",
        ":durative-actions",
        ":duration-inequalities",
        ":continuous-effects",
        ":timed-initial-literals",
        ":timed-effects",
        ":preferences",
        ":constraints",
        ":time",
        ":hierarchy",
        ":method-preconditions",
        ":probabilistic-effects",
        ":non-deterministic",
        ":rewards",
        ":mdp",
        ":goal-utilities",
        ":domain-axioms",
        ":open-world",
        ":ucpop",
    }
)
