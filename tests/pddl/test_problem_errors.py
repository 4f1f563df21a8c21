"""Broken problems: each error at its exact place with something to do about it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.pddl import Domain, InvalidPddlError, check_texts, parse_problem

FULL = (
    "(define (problem p) (:domain gripper) (:objects r - room b - ball)\n (:init {})\n (:goal {}))"
)


def init(text: str) -> str:
    return FULL.format(text, "(free left)")


def goal(text: str) -> str:
    return FULL.format("(at-robot r)", text)


CASES = [
    pytest.param(
        "(define .(domain p))", "this is a domain, but a problem", "first", id="domain-for-problem"
    ),
    pytest.param(
        ".(define (problem p) (:domain gripper) (:init))", "no section ':goal'", "add", id="goal"
    ),
    pytest.param(
        ".(define (problem p) (:domain gripper) (:goal (and)))",
        "no section ':init'",
        "add",
        id="init",
    ),
    pytest.param(
        "(define (problem p) (:domain .griper) (:init) (:goal (and)))",
        "for the domain 'griper'",
        "choose the domain file",
        id="other-domain",
    ),
    pytest.param(
        "(define (problem p) (:domain gripper) (:init)\n .(:objects r - room) (:goal (and)))",
        "stands after ':init'",
        "before line 1",
        id="order",
    ),
    pytest.param(
        "(define (problem p) (:domain gripper) (:objects a b .a) (:init) (:goal (and)))",
        "the object 'a' is declared twice",
        "rename",
        id="object-twice",
    ),
    pytest.param(
        "(define (problem p) (:domain gripper) (:objects .left) (:init) (:goal (and)))",
        "already a constant",
        "remove it from :objects",
        id="constant-as-object",
    ),
    pytest.param(
        "(define (problem p) (:domain gripper) (:objects r - .rom) (:init) (:goal (and)))",
        "unknown type 'rom'",
        "did you mean 'room'?",
        id="type",
    ),
    pytest.param(
        "(define (problem p) (:domain gripper) (:init) (:goal (and))\n (:metric .maximize (c)))",
        "':metric maximize' is not supported",
        "minimize",
        id="maximize",
    ),
    pytest.param(
        "(define (problem p) (:domain gripper) (:init) (:goal (and))\n (:metric minimize .(time)))",
        "the metric '(time ...)' is not supported",
        "(total-cost)",
        id="metric",
    ),
    pytest.param(
        "(define (problem p) (:domain gripper) (:init) (:goal (and)) .(:constraints (and)))",
        "trajectory constraints",
        "remove this section",
        id="constraints",
    ),
    pytest.param(init("(at .x r)"), "unknown object 'x'", "declare it in :objects", id="object"),
    pytest.param(init(".(at-robt r)"), "unknown predicate", "'at-robot'", id="predicate"),
    pytest.param(init(".(at b)"), "takes 2 arguments but has 1", "(at ?b - ball", id="arity"),
    pytest.param(init("(at .r r)"), "'r' has the type 'room'", "another", id="argument"),
    pytest.param(init("(at .?b r)"), "variable '?b' appears in :init", "object", id="variable"),
    pytest.param(init("(= (f .?b) 1)"), "'?b' appears in :init", "object", id="value-variable"),
    pytest.param(init(".at"), "expected a fact", "(predicate object", id="bare-word"),
    pytest.param(init(".()"), "expected a fact", "(predicate object", id="empty"),
    pytest.param(init("(not .(at-robt r))"), "unknown predicate", "'at-robot'", id="denied"),
    pytest.param(init("(free left) (not .(free left))"), "true and false", "line 2", id="both"),
    pytest.param(init(".(at 5 (free left))"), "timed initial literals", "remove", id="timed"),
    pytest.param(init("(= .(cost r) 3)"), "unknown function 'cost'", "declare", id="function"),
    pytest.param(init("(= (cost r) .x)"), "which is not a number", "NUMBER", id="no-number"),
    pytest.param(goal("(carry .x left)"), "unknown object 'x'", "declare", id="goal-object"),
    pytest.param(goal("(at b .?r)"), "unknown variable '?r'", "declare", id="goal-variable"),
    pytest.param(goal(".(holds b)"), "unknown predicate 'holds'", "declare", id="goal-predicate"),
]


@pytest.mark.parametrize(("text", "message", "hint"), CASES)
def test_broken_problems(
    text: str, message: str, hint: str, assert_problem_says: Callable[..., None]
) -> None:
    assert_problem_says(text, message, hint)


@pytest.mark.parametrize(
    "text", [".(:goal)", ".(:goal ())", ".(:goal free)", ".(:goal (and) (and))"]
)
def test_the_goal_is_one_condition(text: str, assert_problem_says: Callable[..., None]) -> None:
    marked = f"(define (problem p) (:domain gripper) (:init) {text})"
    assert_problem_says(marked, "the goal is not one condition", "(:goal (and ...))")


def test_a_derived_predicate_may_not_stand_in_init(
    assert_problem_says: Callable[..., None],
) -> None:
    domain = """(define (domain d) (:requirements :derived-predicates) (:predicates (p) (q))
      (:derived (p) (q)) (:action a :effect (q)))"""
    text = "(define (problem x) (:domain d) (:init .(p)) (:goal (p)))"
    assert_problem_says(text, "'p' appears in :init", "line 2 of the domain", domain=domain)


def test_a_negative_value_is_an_error(assert_problem_says: Callable[..., None]) -> None:
    domain = "(define (domain d) (:predicates (p)) (:functions (c) - number))"
    text = "(define (problem x) (:domain d) (:init .(= (c) -1)) (:goal (p)))"
    assert_problem_says(text, "the value of (c) is negative", "", domain=domain)


def test_a_function_has_one_value(assert_problem_says: Callable[..., None]) -> None:
    domain = "(define (domain d) (:predicates (p)) (:functions (c) - number))"
    text = "(define (problem x) (:domain d)\n (:init (= (c) 1)\n .(= (c) 2)) (:goal (p)))"
    assert_problem_says(text, "(c) has two different values", "line 2", domain=domain)


def test_the_exception_speaks_of_the_first_error_and_carries_all(gripper: Domain) -> None:
    with pytest.raises(InvalidPddlError) as caught:
        parse_problem(init("(at x r) (at b y)"), gripper, "p.pddl")
    assert str(caught.value).startswith("p.pddl:2:13: unknown object 'x'; ")
    assert "1 more error" in caught.value.hint
    assert len(caught.value.diagnostics) == 2


def test_without_a_readable_domain_the_syntax_of_the_problem_is_checked() -> None:
    report = check_texts("(define (domain d)", init("(at x y) at"), "d.pddl", "p.pddl")
    assert [(e.location.file, e.message) for e in report.errors] == [
        ("d.pddl", "this parenthesis is never closed"),
        ("p.pddl", "expected a fact but found 'at'"),
    ]


def test_many_unknown_names_in_a_big_problem_are_reported_quickly(gripper: Domain) -> None:
    names = " ".join(f"object-{number}" for number in range(2000))
    facts = " ".join(f"(at-robot objct-{number})" for number in range(2000))
    text = f"(define (problem p) (:domain gripper) (:objects {names} - room) (:init {facts})"
    with pytest.raises(InvalidPddlError) as caught:
        parse_problem(f"{text} (:goal (at-robot object-1)))", gripper)
    assert len(caught.value.diagnostics) == 2000
