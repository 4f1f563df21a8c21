"""What can be read but not grounded is named with its place, and nothing else is."""

from __future__ import annotations

import pytest

from engine.pddl import parse_domain, parse_problem, unsupported_for_task

DOMAIN = """(define (domain d) (:requirements :adl :action-costs :derived-predicates)
  (:types a b - object)
  (:predicates (p ?x - a) (q ?x - a) (fixed ?x - a) (r))
  (:functions (total-cost) - number (f) - number)
  (:action change :parameters (?x - a) :effect (and (p ?x) (q ?x)))
  {})"""
PROBLEM = """(define (problem x) (:domain d) (:objects {objects}) (:init {init})
  (:goal {goal}))"""


def refused(
    body: str = "", goal: str = "(p o)", objects: str = "o u - a", init: str = ""
) -> list[str]:
    domain = parse_domain(DOMAIN.format(body), "d.pddl")
    text = PROBLEM.format(objects=objects, init=init, goal=goal)
    problem = parse_problem(text, domain, "p.pddl")
    return [f"{item.location} {item.message}" for item in unsupported_for_task(domain, problem)]


@pytest.mark.parametrize(
    "condition",
    [
        "(or (p ?x) (q ?x))",
        "(exists (?y - a) (p ?y))",
        "(imply (p ?x) (q ?x))",
        "(not (forall (?y - a) (p ?y)))",
        "(imply (forall (?y - a) (p ?y)) (q ?x))",
        "(not (and (p ?x) (not (= ?x ?x))))",
    ],
)
def test_conditions_that_the_translator_splits(condition: str) -> None:
    assert refused(f"(:action z :parameters (?x - a) :precondition {condition} :effect (r))") == []


@pytest.mark.parametrize(
    ("condition", "what"),
    [
        ("(forall (?y - a) (p ?y))", "'forall' in a condition"),
        ("(not (exists (?y - a) (p ?y)))", "a negated 'exists' in a condition"),
        ("(imply (exists (?y - a) (p ?y)) (q ?x))", "a negated 'exists' in a condition"),
        ("(exists (?y - (either a b)) (r))", "'(either a b)'"),
    ],
)
def test_conditions_that_need_axioms(condition: str, what: str) -> None:
    body = f"(:action z :parameters (?x - a)\n:precondition {condition} :effect (r))"
    (message,) = refused(body)
    assert message.startswith("d.pddl:7:")
    assert what in message


@pytest.mark.parametrize(
    "effect",
    [
        "(forall (?y - a) (and (p ?y) (not (q ?y))))",
        "(when (and) (r))",
        "(when (and (fixed ?x) (not (= ?x ?x))) (r))",
    ],
)
def test_effects_without_conditions_that_change(effect: str) -> None:
    assert refused(f"(:action z :parameters (?x - a) :effect {effect})") == []


def test_conditional_effects() -> None:
    body = "(:action z :parameters (?x - a) :effect (forall (?y - a)\n (when (p ?x) (r))))"
    (message,) = refused(body)
    assert message.startswith("d.pddl:7:2 the conditional effect 'when' in the action 'z'")


def test_derived_predicates() -> None:
    (message,) = refused("(:derived (r) (exists (?x - a) (p ?x)))")
    assert message.startswith("d.pddl:6:3 the derived predicate 'r'")


def test_an_action_that_only_costs() -> None:
    (message,) = refused("(:action z :effect (increase (total-cost) 1))")
    assert message.startswith("d.pddl:6:22 the only effect of 'z' is a cost")


def test_fractions() -> None:
    (message,) = refused(init="(= (f) 0.5)")
    assert message.startswith("p.pddl:1:")
    assert "whole numbers" in message
    assert len(refused("(:action z :effect (and (r) (increase (total-cost) 1.5)))")) == 1


def test_either_for_parameters_and_objects_but_not_for_predicates() -> None:
    assert "'(either a b)'" in refused("(:action z :parameters (?x - (either a b)) :effect (r))")[0]
    assert "'(either a b)'" in refused(objects="o u - a w - (either a b)")[0]
    domain = parse_domain("(define (domain d) (:types a b) (:predicates (p ?x - (either a b))))")
    assert unsupported_for_task(domain) == []


@pytest.mark.parametrize(
    "goal",
    [
        "(and (p o) (and (not (q o))))",
        "(not (or (p o) (q o)))",
        "(or (p o))",
        "(not (p o))",
        "(not (not (p o)))",
    ],
)
def test_goals_that_are_lists_of_facts(goal: str) -> None:
    assert refused(goal=goal) == []


@pytest.mark.parametrize(
    ("goal", "what"),
    [
        ("(or (p o) (q o))", "'or' or 'imply' in a goal"),
        ("(imply (p o) (q o))", "'or' or 'imply' in a goal"),
        ("(exists (?x - a) (p ?x))", "'exists' in a goal"),
        ("(not (and (p o) (q o)))", "a negated 'and' in a goal"),
        ("(not (forall (?x - a) (p ?x)))", "a negated 'forall' in a goal"),
        ("(forall (?x - a) (p ?x))", "'forall' in a condition"),
        ("(and)", "the goal names no fact"),
    ],
)
def test_goals_that_need_axioms(goal: str, what: str) -> None:
    (message,) = refused(goal=goal)
    assert message.startswith("p.pddl:2:")
    assert what in message
