"""A domain file's blocks to the lifted model: syntax only, names are checked later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from engine.pddl.condition_reader import expect_parts, read_condition
from engine.pddl.definition import open_definition, read_requirements, sections
from engine.pddl.diagnostics import Diagnostics, MalformedError
from engine.pddl.effect_reader import read_effect
from engine.pddl.model import (
    OBJECT,
    Action,
    And,
    Condition,
    Derived,
    Domain,
    Effect,
    EffectAnd,
    Function,
    Predicate,
    TypedName,
)
from engine.pddl.sexpr import Block, Node, Word, show
from engine.pddl.terms import RESERVED, read_name, read_type, read_typed_list
from engine.pddl.types import MOST_LEVELS, levels_of

ORDER = (
    ":requirements",
    ":types",
    ":constants",
    ":predicates",
    ":functions",
    ":derived",
    ":action",
)
DECLARATIONS = ORDER[:5]
REPEATED = frozenset({":derived", ":action"})
ACTION_FIELDS = (":parameters", ":precondition", ":effect")


@dataclass
class _Parts:
    """A domain under construction."""

    requirements: tuple[str, ...] = ()
    types: tuple[TypedName, ...] = ()
    constants: tuple[TypedName, ...] = ()
    predicates: list[Predicate] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    derived: list[Derived] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)


def domain_from(whole: Block, diagnostics: Diagnostics) -> tuple[Domain, bool]:
    """The domain, and whether its declarations can be trusted.

    After an error in a declaration, complaints about unknown names would mislead.
    """
    name, nodes = open_definition(whole, "domain")
    parts = _Parts()
    trusted = True
    body: Block | None = None
    for block in sections(nodes, ORDER, REPEATED, diagnostics):
        if block.head in REPEATED:
            body = body or block
        elif body is not None:
            diagnostics.error(
                block.position,
                f"the section '{block.head}' stands after the first action or derived predicate",
                f"move it before line {body.position.line}",
            )
        errors_before = len(diagnostics.found)
        with diagnostics.noting():
            SECTION_READERS[block.head](block, parts, diagnostics)
        if block.head in DECLARATIONS:
            trusted = trusted and not diagnostics.errors_since(errors_before)
    domain = Domain(
        name.text,
        parts.requirements,
        parts.types,
        parts.constants,
        tuple(parts.predicates),
        tuple(parts.functions),
        tuple(parts.derived),
        tuple(parts.actions),
        diagnostics.path,
        whole.position,
    )
    return domain, trusted


def _read_requirements(block: Block, parts: _Parts, diagnostics: Diagnostics) -> None:
    parts.requirements = read_requirements(block, diagnostics)


def _read_types(block: Block, parts: _Parts, diagnostics: Diagnostics) -> None:
    types = read_typed_list(block.items[1:], diagnostics, "a type")
    if levels_of(types) > MOST_LEVELS:
        diagnostics.error(
            block.position,
            f"the type hierarchy has more than {MOST_LEVELS} levels, or a cycle",
            "flatten the hierarchy",
        )
        return
    parts.types = types + _implicit_types(types, diagnostics)


def _implicit_types(types: Sequence[TypedName], diagnostics: Diagnostics) -> tuple[TypedName, ...]:
    """Many benchmark domains use a type as a parent without declaring it."""
    known = {OBJECT, *(item.name for item in types)}
    implicit = []
    for item in types:
        for parent in item.types:
            if parent not in known:
                known.add(parent)
                place = item.type_position
                implicit.append(TypedName(parent, (OBJECT,), place, place))
                diagnostics.warning(
                    place,
                    f"the type '{parent}' is used as a parent but not declared",
                    f"add '{parent}' to :types",
                )
    return tuple(implicit)


def _read_constants(block: Block, parts: _Parts, diagnostics: Diagnostics) -> None:
    parts.constants = read_typed_list(block.items[1:], diagnostics, "a constant")


def _read_predicates(block: Block, parts: _Parts, diagnostics: Diagnostics) -> None:
    for node in block.items[1:]:
        with diagnostics.noting():
            parts.predicates.append(_read_predicate(node, diagnostics))


def _read_predicate(node: Node, diagnostics: Diagnostics) -> Predicate:
    name, parameters = _read_signature(node, "predicate", diagnostics)
    return Predicate(name, parameters, node.position)


def _read_signature(
    node: Node, what: str, diagnostics: Diagnostics
) -> tuple[str, tuple[TypedName, ...]]:
    if isinstance(node, Word) or not node.items:
        raise MalformedError(
            node.position,
            f"expected the declaration of a {what} but found {show(node)}",
            f"write '({what} ?x - type)'",
        )
    name = read_name(node.items[0], f"a {what}")
    if name.text in RESERVED:
        raise MalformedError(
            name.position,
            f"'{name.text}' has a meaning in PDDL and cannot be the name of a {what}",
            "choose another name",
        )
    return name.text, read_typed_list(node.items[1:], diagnostics, "a parameter", variables=True)


def _read_functions(block: Block, parts: _Parts, diagnostics: Diagnostics) -> None:
    rest = iter(block.items[1:])
    for node in rest:
        with diagnostics.noting():
            if isinstance(node, Word) and node.text == "-":
                _expect_number(node, next(rest, None))
            else:
                name, parameters = _read_signature(node, "function", diagnostics)
                parts.functions.append(Function(name, parameters, node.position))


def _expect_number(dash: Word, node: Node | None) -> None:
    if node is None:
        raise MalformedError(
            dash.position, "a type is missing after this dash", "write 'number' or remove the dash"
        )
    types = read_type(node)
    if types != ("number",):
        raise MalformedError(
            node.position,
            f"object fluents (functions of type '{' '.join(types)}') are not supported",
            "use a predicate instead; functions have the type 'number'",
        )


def _read_derived(block: Block, parts: _Parts, diagnostics: Diagnostics) -> None:
    expect_parts(block, 2, "(:derived (predicate ?x - type) CONDITION)")
    predicate = _read_predicate(block.items[1], diagnostics)
    condition = read_condition(block.items[2], diagnostics)
    parts.derived.append(Derived(predicate, condition, block.position))


def _read_action(block: Block, parts: _Parts, diagnostics: Diagnostics) -> None:
    if len(block.items) < 2:
        raise MalformedError(
            block.position, "this action has no name", "write '(:action NAME :parameters ...)'"
        )
    name = read_name(block.items[1], "an action")
    fields = _action_fields(block, name.text, diagnostics)
    parameters: tuple[TypedName, ...] = ()
    precondition: Condition = And()
    effect: Effect = EffectAnd()
    if ":parameters" in fields:
        with diagnostics.noting():
            parameters = _read_parameters(fields[":parameters"], diagnostics)
    if ":precondition" in fields:
        with diagnostics.noting():
            precondition = read_condition(fields[":precondition"], diagnostics)
    with diagnostics.noting():
        effect = read_effect(fields[":effect"], diagnostics)
    parts.actions.append(Action(name.text, parameters, precondition, effect, block.position))


def _read_parameters(node: Node, diagnostics: Diagnostics) -> tuple[TypedName, ...]:
    if isinstance(node, Word):
        raise MalformedError(
            node.position,
            f"expected a list of parameters but found {show(node)}",
            "write ':parameters (?x - type)'",
        )
    return read_typed_list(node.items, diagnostics, "a parameter", variables=True)


def _action_fields(block: Block, name: str, diagnostics: Diagnostics) -> dict[str, Node]:
    """What follows `:parameters`, `:precondition` and `:effect`."""
    fields: dict[str, Node] = {}
    rest = iter(block.items[2:])
    for key in rest:
        if isinstance(key, Block) or key.text not in ACTION_FIELDS:
            hint = "an action has ':parameters (...) :precondition (...) :effect (...)'"
            if isinstance(key, Word):
                hint = diagnostics.similar(key.text, ACTION_FIELDS, hint)
            raise MalformedError(
                key.position, f"{show(key)} is not allowed here in the action '{name}'", hint
            )
        _check_order(key, fields)
        node = next(rest, None)
        if node is None or (isinstance(node, Word) and node.text in ACTION_FIELDS):
            raise MalformedError(
                key.position, f"nothing follows '{key.text}'", f"write '{key.text} (...)'"
            )
        fields[key.text] = node
    if ":effect" not in fields:
        raise MalformedError(
            block.position, f"the action '{name}' has no effect", "add ':effect (and ...)'"
        )
    return fields


def _check_order(key: Word, fields: dict[str, Node]) -> None:
    if key.text in fields:
        raise MalformedError(key.position, f"duplicate '{key.text}' in this action", "join the two")
    place = ACTION_FIELDS.index(key.text)
    late = [name for name in fields if ACTION_FIELDS.index(name) > place]
    if late:
        raise MalformedError(
            key.position, f"'{key.text}' stands after '{late[0]}'", f"move it before '{late[0]}'"
        )


SECTION_READERS: dict[str, Callable[[Block, _Parts, Diagnostics], None]] = {
    ":requirements": _read_requirements,
    ":types": _read_types,
    ":constants": _read_constants,
    ":predicates": _read_predicates,
    ":functions": _read_functions,
    ":derived": _read_derived,
    ":action": _read_action,
}
