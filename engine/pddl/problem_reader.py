"""A problem file's blocks to the lifted model: syntax only, names are checked later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from engine.pddl.condition_reader import read_atom, read_condition
from engine.pddl.definition import open_definition, read_requirements, sections, single_name
from engine.pddl.diagnostics import Diagnostics, MalformedError
from engine.pddl.effect_reader import read_function_term
from engine.pddl.model import (
    TOTAL_COST,
    And,
    Atom,
    Condition,
    FunctionTerm,
    FunctionValue,
    Metric,
    Position,
    Problem,
    TypedName,
)
from engine.pddl.sexpr import Block, Node, Word, show
from engine.pddl.terms import is_number, read_number, read_typed_list

ORDER = (":domain", ":requirements", ":objects", ":init", ":goal", ":metric")


@dataclass(frozen=True, slots=True)
class ReadProblem:
    problem: Problem
    denied: tuple[Atom, ...]  # `(not (p a))` in :init; they are false anyway
    trusted: bool  # whether its declarations are free of errors


@dataclass
class _Parts:
    """A problem under construction."""

    domain_name: str = ""
    requirements: tuple[str, ...] = ()
    objects: tuple[TypedName, ...] = ()
    init: dict[Atom, Position] = field(default_factory=dict)
    denied: dict[Atom, Position] = field(default_factory=dict)
    values: dict[FunctionTerm, FunctionValue] = field(default_factory=dict)
    goal: Condition = field(default_factory=And)
    metric: Metric | None = None
    domain_position: Position = field(default_factory=Position)
    init_position: Position = field(default_factory=Position)


def problem_from(whole: Block, diagnostics: Diagnostics) -> ReadProblem:
    name, nodes = open_definition(whole, "problem")
    parts = _Parts()
    trusted = True
    read: list[Block] = []
    for block in sections(nodes, ORDER, frozenset(), diagnostics):
        _check_order(block, read, diagnostics)
        read.append(block)
        errors_before = len(diagnostics.found)
        with diagnostics.noting():
            SECTION_READERS[block.head](block, parts, diagnostics)
        if block.head == ":objects":
            trusted = not diagnostics.errors_since(errors_before)
    _check_complete(whole, {block.head for block in read}, diagnostics)
    problem = Problem(
        name.text,
        parts.domain_name,
        parts.requirements,
        parts.objects,
        tuple(parts.init),
        tuple(parts.values.values()),
        parts.goal,
        parts.metric,
        diagnostics.path,
        whole.position,
        parts.domain_position,
        parts.init_position,
    )
    return ReadProblem(problem, tuple(parts.denied), trusted)


def _check_order(block: Block, read: list[Block], diagnostics: Diagnostics) -> None:
    place = ORDER.index(block.head)
    late = [other for other in read if ORDER.index(other.head) > place]
    if late:
        diagnostics.error(
            block.position,
            f"the section '{block.head}' stands after '{late[0].head}'",
            f"move it before line {late[0].position.line}",
        )


def _check_complete(whole: Block, read: set[str], diagnostics: Diagnostics) -> None:
    for name in (":domain", ":init", ":goal"):
        if name not in read:
            diagnostics.error(
                whole.position, f"the problem has no section '{name}'", f"add '({name} ...)'"
            )


def _read_domain_name(block: Block, parts: _Parts, diagnostics: Diagnostics) -> None:
    name = single_name(block, "a domain")
    parts.domain_name, parts.domain_position = name.text, name.position


def _read_requirements(block: Block, parts: _Parts, diagnostics: Diagnostics) -> None:
    parts.requirements = read_requirements(block, diagnostics)


def _read_objects(block: Block, parts: _Parts, diagnostics: Diagnostics) -> None:
    parts.objects = read_typed_list(block.items[1:], diagnostics, "an object")


def _read_init(block: Block, parts: _Parts, diagnostics: Diagnostics) -> None:
    parts.init_position = block.position
    for node in block.items[1:]:
        with diagnostics.noting():
            _read_init_element(node, parts, diagnostics)


def _read_init_element(node: Node, parts: _Parts, diagnostics: Diagnostics) -> None:
    if isinstance(node, Word) or not node.items:
        raise MalformedError(
            node.position,
            f"expected a fact but found {show(node)}",
            "write '(predicate object ...)' or '(= (function object ...) NUMBER)'",
        )
    if node.head == "=":
        _note_value(_read_value(node, diagnostics), parts, diagnostics)
    elif node.head == "not" and len(node.items) == 2:
        _note_fact(read_atom(node.items[1]), parts.denied, parts.init, diagnostics)
    else:
        _refuse_timed(node)
        _note_fact(read_atom(node), parts.init, parts.denied, diagnostics)


def _refuse_timed(node: Block) -> None:
    if node.head == "at" and len(node.items) == 3 and isinstance(node.items[2], Block):
        raise MalformedError(
            node.position, "timed initial literals are not supported", "remove this fact"
        )


def _note_fact(
    atom: Atom,
    facts: dict[Atom, Position],
    opposite: dict[Atom, Position],
    diagnostics: Diagnostics,
) -> None:
    if atom in opposite:
        diagnostics.error(
            atom.position,
            f"{atom} is both true and false in :init",
            f"remove this or the one in line {opposite[atom].line}",
        )
    elif atom in facts:
        diagnostics.warning(
            atom.position, f"{atom} appears twice in :init", f"see line {facts[atom].line}"
        )
    else:
        facts[atom] = atom.position


def _read_value(node: Block, diagnostics: Diagnostics) -> FunctionValue:
    form = "write '(= (function object ...) NUMBER)'"
    if len(node.items) != 3:
        raise MalformedError(node.position, "this is not the value of a function", form)
    function = read_function_term(node.items[1], diagnostics)
    value = node.items[2]
    if isinstance(value, Block) or not is_number(value):
        raise MalformedError(
            value.position, f"the value of {function} is {show(value)}, which is not a number", form
        )
    return FunctionValue(function, read_number(value), node.position, "." in value.text)


def _note_value(value: FunctionValue, parts: _Parts, diagnostics: Diagnostics) -> None:
    first = parts.values.setdefault(value.function, value)
    if first is value:
        return
    place = f"see line {first.position.line}"
    if first.value == value.value:
        diagnostics.warning(value.position, f"the value of {value.function} appears twice", place)
    else:
        diagnostics.error(value.position, f"{value.function} has two different values", place)


def _read_goal(block: Block, parts: _Parts, diagnostics: Diagnostics) -> None:
    condition = block.items[1] if len(block.items) == 2 else None
    if not isinstance(condition, Block) or not condition.items:
        raise MalformedError(
            block.position,
            "the goal is not one condition",
            "write '(:goal (and ...))', or '(:goal (and))' if there is nothing to reach",
        )
    parts.goal = read_condition(condition, diagnostics)


def _read_metric(block: Block, parts: _Parts, diagnostics: Diagnostics) -> None:
    hint = f"write '(:metric minimize ({TOTAL_COST}))'"
    words = block.items[1:]
    if len(words) != 2 or not isinstance(words[0], Word):
        raise MalformedError(block.position, "this metric cannot be read", hint)
    if words[0].text == "maximize":
        raise MalformedError(words[0].position, "':metric maximize' is not supported", hint)
    if words[0].text != "minimize":
        raise MalformedError(words[0].position, f"unknown metric {show(words[0])}", hint)
    expression = words[1]
    if not isinstance(expression, Block) or expression.head != TOTAL_COST or expression.items[1:]:
        raise MalformedError(
            expression.position, f"the metric {show(expression)} is not supported", hint
        )
    parts.metric = Metric(FunctionTerm(TOTAL_COST, (), expression.position), block.position)


SECTION_READERS: dict[str, Callable[[Block, _Parts, Diagnostics], None]] = {
    ":domain": _read_domain_name,
    ":requirements": _read_requirements,
    ":objects": _read_objects,
    ":init": _read_init,
    ":goal": _read_goal,
    ":metric": _read_metric,
}
