"""What benchmark files do and the translator accepts is no error, at most a warning."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.pddl import check_texts, parse_domain, parse_problem
from engine.pddl.model import OBJECT, And, EffectAnd, Exists, Forall, Imply, Or, When

PROBLEM = "(define (problem p) (:domain d) (:init) (:goal (and)))"


@pytest.mark.parametrize(
    "body",
    [
        "(:types block - object) (:predicates (block ?x - block)) (:action a :effect (and))",
        "(:types object) (:predicates (p ?x - object))",
        "(:types a object - object)",
        "(:types truck - vehicle) (:predicates (p ?x - vehicle))",
        "(:predicates (p))",
        "(:predicates (p)) (:action a :precondition () :effect ())",
        "(:predicates (p)) (:action a :parameters () :effect (p))",
        "(:predicates (p)) (:action a :precondition (and (and (p)) (and)) :effect (and (and (p))))",
        "(:predicates (p)) (:functions (total-cost)) (:action a :effect (p))",
        "(:predicates (p)) (:functions (f ?x) (total-cost) - number)",
        "(:predicates (p)) (:action a :effect (and (p) (increase (total-cost) 2)))",
        "(:predicates (p) (q ?x ?x))",
        "(:predicates (p)) (:requirements :strips :negation)",
        "(:constants - object)",
        "(:types storage area area - object area - storage)",
    ],
)
def test_domains(body: str) -> None:
    assert check_texts(f"(define (domain d) {body})", PROBLEM).errors == ()


@pytest.mark.parametrize(
    "init",
    [
        "(p) (p)",
        "(not (q a))",
        "(= (total-cost) 0)",
        "(= total-cost 0)",
        "(= (f a) 15) (= (f a) 15)",
        "(Q A)",
    ],
)
def test_problems(init: str) -> None:
    domain = "(define (domain D) (:predicates (p) (q ?x)) (:functions (f ?x)))"
    problem = f"(define (problem x) (:domain d) (:objects a) (:init {init}) (:goal (p)))"
    assert check_texts(domain, problem).errors == ()


WARNINGS = [
    pytest.param(
        "(:requirements :typing) (:types truck - .vehicle)",
        "used as a parent but not declared",
        "add",
        id="implicit-type",
    ),
    pytest.param(
        "(:requirements :strips) (:types .a)", "needs the requirement ':typing'", "add", id="typing"
    ),
    pytest.param(
        "(:predicates (p)) (:action a :precondition .(not (p)) :effect (p))",
        "':negative-preconditions'",
        "add",
        id="negative",
    ),
    pytest.param(
        "(:requirements :typing) (:types a b - object c - b)\n(:predicates (p ?x - b))"
        "(:action a :parameters (?y - object) :effect (p .?y))",
        "'?y' has the type 'object', but 'p' asks for 'b'",
        "change one of the types",
        id="too-general",
    ),
    pytest.param(
        "(:predicates (p)) .(:action a :effect (and))", "changes nothing", "", id="no-effect"
    ),
    pytest.param("(:predicates (p ?x .?x))", "'?x' twice", "different", id="parameter-twice"),
    pytest.param(
        "(:requirements :typing) (:types a .a)", "declared twice", "remove", id="type-twice"
    ),
    pytest.param(
        "(:predicates (p ?x) .(p ?y))", "'p' is declared twice", "line 1", id="predicate-twice"
    ),
    pytest.param(
        "(:constants .- object)", "a name is missing before this dash", "remove", id="dash"
    ),
    pytest.param(
        "(:requirements :action-costs) (:predicates (p))\n"
        "(:action a :effect (and (p) (increase .(total-cost) 1)))",
        "'total-cost' is not declared",
        ":functions",
        id="total-cost",
    ),
]


@pytest.mark.parametrize(("body", "message", "hint"), WARNINGS)
def test_warnings(
    body: str, message: str, hint: str, assert_domain_says: Callable[..., None]
) -> None:
    assert_domain_says(f"(define (domain d) {body})", message, hint, severity="warning")


def test_an_argument_that_may_have_the_type_is_a_warning_with_common_subtypes() -> None:
    text = """(define (domain d) (:requirements :typing)
      (:types a b - object c - a c - b e - object)
      (:predicates (p ?x - a) (q ?x - e))
      (:action act :parameters (?x - b) :effect (and (p ?x) (q ?x))))"""
    report = check_texts(text)
    assert [item.message for item in report.errors] == [
        "'?x' has the type 'b', but 'q' asks for 'e' here"
    ]
    assert "'?x' has the type 'b', but 'p' asks for 'a' here" in {
        item.message for item in report.warnings
    }


def test_all_of_adl_is_represented() -> None:
    domain = parse_domain(
        """(define (domain d) (:requirements :adl :derived-predicates)
        (:types t u)
        (:predicates (p ?x - t) (q ?x - (either t u)))
        (:derived (q ?x - t) (p ?x))
        (:action a :parameters (?x - t)
          :precondition (or (imply (p ?x) (not (q ?x))) (forall (?y ?z - t) (exists (?w) (p ?y))))
          :effect (forall (?y - t) (when (p ?y) (not (p ?x))))))"""
    )
    action = domain.actions[0]
    assert isinstance(action.precondition, Or)
    first, second = action.precondition.parts
    assert isinstance(first, Imply)
    assert isinstance(second, Forall)
    assert isinstance(second.part, Exists)
    assert second.part.parameters[0].types == (OBJECT,)
    assert isinstance(action.effect.part, When)
    assert domain.predicates[1].parameters[0].types == ("t", "u")
    assert domain.derived[0].predicate.name == "q"


def test_missing_and_empty_parts_of_an_action_are_the_same() -> None:
    with_parts = parse_domain(
        "(define (domain d) (:action a :parameters () :precondition () :effect ()))"
    )
    without = parse_domain("(define (domain d) (:action a :effect (and)))")
    assert with_parts == without
    assert without.actions[0].precondition == And()
    assert without.actions[0].effect == EffectAnd()


def test_denied_and_repeated_facts_leave_no_trace() -> None:
    domain = parse_domain("(define (domain d) (:predicates (p) (q)))")
    problem = parse_problem(
        "(define (problem x) (:domain d) (:init (p) (not (q)) (p)) (:goal (q)))", domain
    )
    assert [str(atom) for atom in problem.init] == ["(p)"]


def test_positions_take_no_part_in_comparison() -> None:
    text = "(define (domain d) (:predicates (p ?x)) (:action a :parameters (?x) :effect (p ?x)))"
    assert parse_domain(text) == parse_domain(text.upper().replace(" (", "\n\n   ("))
