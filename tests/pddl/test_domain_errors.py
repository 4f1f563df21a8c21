"""Broken domains: each error at its exact place with something to do about it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.pddl import check_texts

BASE = """\
(define (domain d)
  (:requirements :adl :typing :action-costs :derived-predicates)
  (:types thing place - object box - thing)
  (:constants home - place)
  (:predicates (at ?x - thing ?p - place) (open ?b - box) (near ?p - place))
  (:functions (total-cost) - number (length ?a - place) - number)
"""


def action(precondition: str = "()", effect: str = "(open ?b)") -> str:
    parameters = "(?b - box ?p - place)"
    return (
        f"{BASE}  (:action act\n    :parameters {parameters}\n"
        f"    :precondition {precondition}\n    :effect {effect}))\n"
    )


DECLARATIONS = [
    pytest.param(
        "(define .(problem d))", "this is a problem", "domain file first", id="problem-for-domain"
    ),
    pytest.param(
        ".(domain d)", "does not start with 'define'", "(define (domain NAME)", id="start"
    ),
    pytest.param(".(define)", "has no name", "(define (domain NAME)", id="no-header"),
    pytest.param("(define .(domain))", "one name after 'domain'", "(domain NAME)", id="no-name"),
    pytest.param(
        "(define (domain d) (:requirements :strips .:typng))",
        "unknown requirement ':typng'",
        "did you mean ':typing'?",
        id="requirement",
    ),
    pytest.param(
        "(define (domain d) (:requirements .:numeric-fluents))",
        "':numeric-fluents' is not supported",
        "remove it",
        id="unsupported-requirement",
    ),
    pytest.param(
        "(define (domain d)\n (:predicates (p))\n .(:predicates (q)))",
        "duplicate section ':predicates'",
        "line 2",
        id="second-section",
    ),
    pytest.param(
        "(define (domain d)\n .(:predicate (p)))",
        "unknown section ':predicate'",
        "did you mean ':predicates'?",
        id="unknown-section",
    ),
    pytest.param(
        "(define (domain d)\n .(:durative-action a))",
        "durative actions",
        "remove this section",
        id="durative-action",
    ),
    pytest.param(
        "(define (domain d)\n (:predicates (p))\n (:action a :effect (p))\n .(:types t))",
        "stands after the first action",
        "before line 3",
        id="late-section",
    ),
    pytest.param(
        "(define (domain d)\n (:types a b .-))",
        "a type is missing after this dash",
        "add a type",
        id="dash",
    ),
    pytest.param(
        "(define (domain d)\n (:constants x .-thing))",
        "'-thing' cannot be the name",
        "'- thing'",
        id="dash-without-space",
    ),
    pytest.param(
        "(define (domain d)\n (:types .a - b b - c c - a))",
        "has a cycle: a - b - c - a",
        "remove one of these parents",
        id="cycle",
    ),
    pytest.param(
        "(define (domain d)\n (:types .a - a))", "has a cycle: a - a", "remove", id="own-parent"
    ),
    pytest.param(
        "(define (domain d)\n (:types .number))",
        "'number' is built in",
        "another name",
        id="number",
    ),
    pytest.param(
        "(define (domain d)\n (:types box)\n (:constants c - .bx))",
        "unknown type 'bx'",
        "did you mean 'box'?",
        id="unknown-type-of-constant",
    ),
    pytest.param(
        "(define (domain d)\n (:types box)\n (:predicates (p ?x - .(either box bal))))",
        "unknown type 'bal'",
        "declare it in :types",
        id="unknown-type-in-either",
    ),
    pytest.param(
        "(define (domain d)\n (:constants a b .a))",
        "the constant 'a' is declared twice",
        "line 2",
        id="constant-twice",
    ),
    pytest.param(
        "(define (domain d)\n (:predicates (p) .(p ?x)))",
        "the predicate 'p' is declared twice in different ways",
        "remove or rename",
        id="predicate-twice",
    ),
    pytest.param(
        "(define (domain d)\n (:predicates (p .x)))",
        "expected a variable but found 'x'",
        "question mark",
        id="parameter-without-question-mark",
    ),
    pytest.param(
        "(define (domain d)\n (:predicates (.not ?x)))",
        "'not' has a meaning in PDDL",
        "another name",
        id="reserved-predicate",
    ),
    pytest.param(
        "(define (domain d)\n (:predicates .p))",
        "expected the declaration of a predicate",
        "(predicate ?x - type)",
        id="bare-predicate",
    ),
    pytest.param(
        "(define (domain d)\n (:functions (pos ?x) - .place))",
        "object fluents",
        "type 'number'",
        id="object-fluent",
    ),
]


@pytest.mark.parametrize(("text", "message", "hint"), DECLARATIONS)
def test_declarations(
    text: str, message: str, hint: str, assert_domain_says: Callable[..., None]
) -> None:
    assert_domain_says(text, message, hint)


ACTIONS = [
    pytest.param(".(opn ?b)", "unknown predicate 'opn'", "did you mean 'open'?", id="predicate"),
    pytest.param(
        ".(box ?b)", "unknown predicate 'box'", "this is a type, not a predicate", id="type"
    ),
    pytest.param("(open .?c)", "unknown variable '?c'", "declare it", id="variable"),
    pytest.param("(near .hme)", "unknown object 'hme'", "did you mean 'home'?", id="object"),
    pytest.param(".(at ?b)", "takes 2 arguments but has 1", "'(at ?x - thing ?p", id="few"),
    pytest.param(".(open ?b ?p)", "takes 1 argument but has 2", "(open ?b - box)", id="many"),
    pytest.param("(open .?p)", "'?p' has the type 'place'", "another argument", id="wrong-type"),
    pytest.param("(near .?)", "variable has no name", "'?x'", id="nameless"),
    pytest.param("(and (near ?p) .())", "condition is empty", "'(and)'", id="empty-part"),
    pytest.param("(and .open)", "expected a condition", "parentheses", id="bare-word"),
    pytest.param(".(not (near ?p) (near home))", "has 2 parts but needs 1", "(not", id="not"),
    pytest.param(".(imply (near ?p))", "has 1 part but needs 2", "(imply", id="imply"),
    pytest.param("(forall .() (near ?p))", "list of variables", "(forall (?x", id="forall"),
    pytest.param("(exists (.z) (near ?z))", "expected a variable", "'?x'", id="exists"),
    pytest.param("(exists (?z - .plce) (near ?z))", "unknown type", "'place'", id="type-inside"),
    pytest.param(".(> (length ?p) 3)", "numeric conditions", "action costs", id="numeric"),
    pytest.param("(= .(length ?p) 3)", "values of functions", "'(= ?x ?y)'", id="numeric-equal"),
    pytest.param(".(preference a (near ?p))", "preferences", "hard condition", id="preference"),
    pytest.param("(near .(pos ?b))", "an expression itself", "object fluents", id="nested"),
    pytest.param("(at start .(near ?p))", "an expression itself", "timed", id="timed"),
]


@pytest.mark.parametrize(("text", "message", "hint"), ACTIONS)
def test_conditions(
    text: str, message: str, hint: str, assert_domain_says: Callable[..., None]
) -> None:
    assert_domain_says(action(precondition=text), message, hint)


EFFECTS = [
    pytest.param("(and .())", "effect is empty", "'(and)'", id="empty-part"),
    pytest.param("(not .(opn ?b))", "unknown predicate 'opn'", "'open'", id="predicate"),
    pytest.param("(not .(not (open ?b)))", "'not' is not allowed here", "predicate", id="not-not"),
    pytest.param(".(assign (length ?p) 3)", "numeric effect 'assign'", "increase", id="assign"),
    pytest.param(".(oneof (open ?b) (near ?p))", "'oneof'", "deterministic", id="oneof"),
    pytest.param(".(or (open ?b) (near ?p))", "'or' is not allowed here", "predicate", id="or"),
    pytest.param("(increase .(length ?p) 3)", "numeric effect on", "total-cost", id="increase"),
    pytest.param("(increase .total-cost 3)", "expected '(total-cost)'", "AMOUNT", id="bare"),
    pytest.param("(increase (total-cost) .(+ 1 2))", "arithmetic", "one function", id="arithmetic"),
    pytest.param(
        "(increase (total-cost) .(lngth ?p))", "unknown function", "length", id="function"
    ),
    pytest.param("(increase (total-cost) .(length))", "takes 1 argument", "length", id="arity"),
    pytest.param("(increase (total-cost) .-1)", "negative", "0 or more", id="negative"),
    pytest.param("(increase (total-cost) .(total-cost))", "by itself", "number", id="itself"),
    pytest.param("(increase (total-cost) ." + "1" * 99 + ")", "30 digits", "scale", id="long"),
    pytest.param(
        "(and (increase (total-cost) 1) .(increase (total-cost) 2))", "twice", "one", id="twice"
    ),
    pytest.param(
        "(when (near ?p) .(increase (total-cost) 2))", "inside 'when'", "outside", id="conditional"
    ),
]


@pytest.mark.parametrize(("text", "message", "hint"), EFFECTS)
def test_effects(
    text: str, message: str, hint: str, assert_domain_says: Callable[..., None]
) -> None:
    assert_domain_says(action(effect=text), message, hint)


STRUCTURE = [
    pytest.param(".(:action)", "has no name", ":action NAME", id="no-name"),
    pytest.param(
        ".(:action a :parameters ())", "'a' has no effect", "add ':effect", id="no-effect"
    ),
    pytest.param("(:action a .:efect (near home))", "':efect'", "':effect'", id="keyword"),
    pytest.param(
        "(:action a :effect (near home) .:precondition ())", "stands after", "move it", id="order"
    ),
    pytest.param("(:action a :precondition () .:effect)", "nothing follows", "(...)", id="nothing"),
    pytest.param(
        "(:action a :effect (near home) .:effect (near home))",
        "duplicate ':effect'",
        "join",
        id="2",
    ),
    pytest.param(
        "(:action a :parameters .?x :effect (near home))", "list of parameters", "(?x", id="bare"
    ),
    pytest.param(
        "(:action a :parameters (?x .?x) :effect (near home))", "twice", "rename", id="parameter"
    ),
    pytest.param(
        "(:action a :effect (near home))\n .(:action a :effect (near home))",
        "the action 'a' is declared twice",
        "rename",
        id="action-twice",
    ),
]


@pytest.mark.parametrize(("text", "message", "hint"), STRUCTURE)
def test_actions(
    text: str, message: str, hint: str, assert_domain_says: Callable[..., None]
) -> None:
    assert_domain_says(f"{BASE}  {text})", message, hint)


def test_a_derived_predicate_may_not_be_changed_by_an_action(
    assert_domain_says: Callable[..., None],
) -> None:
    rule = "(:derived (near ?p - place) (exists (?b - box) (at ?b ?p)))"
    text = f"{BASE}  {rule}\n  (:action a :effect .(near home)))"
    assert_domain_says(text, "derived predicate 'near' appears in an effect", "line 7")


def test_a_derived_predicate_must_be_declared(assert_domain_says: Callable[..., None]) -> None:
    assert_domain_says(f"{BASE} (:derived .(nar ?p) (near ?p)))", "unknown predicate", "'near'")


def test_all_errors_of_a_file_are_found_at_once() -> None:
    text = action("(and (opn ?b) (at ?b) (> 1 2))", "(and (open ?x) () (assign (length ?p) 1))")
    errors = check_texts(text).errors
    assert [(item.location.line, item.location.column) for item in errors] == [
        (9, 24),
        (9, 33),
        (9, 41),
        (10, 24),
        (10, 28),
        (10, 31),
    ]


def test_an_error_in_a_declaration_gives_no_false_complaints_about_its_uses() -> None:
    text = "(define (domain d) (:predicates (p x)) (:action a :effect (p home)))"
    assert [item.message for item in check_texts(text).errors] == [
        "expected a variable but found 'x'"
    ]
