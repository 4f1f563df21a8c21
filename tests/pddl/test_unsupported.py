"""What can be read but not grounded is named with its place, and nothing else is."""

from __future__ import annotations

import pytest

from engine.pddl import InvalidPddlError, parse_domain, parse_problem, unsupported_for_task
from engine.pddl.unsupported import MAX_COST

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
    "condition",
    [
        "(forall (?y - a) (p ?y))",
        "(not (exists (?y - a) (p ?y)))",
        "(imply (exists (?y - a) (p ?y)) (q ?x))",
    ],
)
def test_conditions_that_become_axioms(condition: str) -> None:
    assert refused(f"(:action z :parameters (?x - a) :precondition {condition} :effect (r))") == []


def test_either_in_a_quantifier() -> None:
    condition = "(exists (?y - (either a b)) (r))"
    (message,) = refused(f"(:action z :parameters ()\n:precondition {condition} :effect (r))")
    assert message.startswith("d.pddl:7:")
    assert "'(either a b)'" in message


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


def test_conditional_effects_and_derived_predicates_become_part_of_the_task() -> None:
    body = "(:action z :parameters (?x - a) :effect (forall (?y - a) (when (p ?x) (r))))"
    assert refused(body) == []
    assert refused("(:derived (r) (exists (?x - a) (p ?x)))") == []


@pytest.mark.parametrize(
    "effect",
    [
        "(when (q ?x) (increase (total-cost) 2))",
        "(forall (?y - a) (increase (total-cost) 2))",
        "(forall (?y - a) (when (p ?y) (increase (total-cost) 2)))",
    ],
)
def test_p76_costs_that_depend_on_the_state(effect: str) -> None:
    """The translator breaks down over them; they are not even read."""
    with pytest.raises(InvalidPddlError, match="a cost inside 'when' or 'forall'") as caught:
        refused(f"(:action z :parameters (?x - a)\n:effect (and (r) {effect}))")
    assert caught.value.location.line == 7


def test_an_action_that_only_costs() -> None:
    (message,) = refused("(:action z :effect (increase (total-cost) 1))")
    assert message.startswith("d.pddl:6:22 the only effect of 'z' is a cost")


def test_fractions() -> None:
    (message,) = refused(init="(= (f) 0.5)")
    assert message.startswith("p.pddl:1:")
    assert "whole numbers" in message
    assert len(refused("(:action z :effect (and (r) (increase (total-cost) 1.5)))")) == 1


@pytest.mark.parametrize(
    ("number", "what"), [("2.0", "with a decimal point"), (str(MAX_COST + 1), f"above {MAX_COST}")]
)
def test_whole_numbers_that_the_translator_does_not_take(number: str, what: str) -> None:
    (message,) = refused(init=f"(= (f) {number})")
    assert what in message
    (message,) = refused(f"(:action z :effect (and (r) (increase (total-cost) {number})))")
    assert what in message


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
    "goal",
    [
        "(or (p o) (q o))",
        "(imply (p o) (q o))",
        "(exists (?x - a) (p ?x))",
        "(not (and (p o) (q o)))",
        "(not (forall (?x - a) (p ?x)))",
        "(forall (?x - a) (p ?x))",
        "(and)",
    ],
)
def test_goals_that_become_axioms(goal: str) -> None:
    assert refused(goal=goal) == []


def test_rules_that_need_their_own_negation() -> None:
    (message,) = refused(
        "(:derived (r) (exists (?x - a) (not (fixed ?x))))\n(:derived (fixed ?x - a) (r))"
    )
    assert "depends on its own negation" in message
    assert message.startswith(("d.pddl:6:", "d.pddl:7:"))


def test_names_that_the_translator_would_confuse() -> None:
    """It moves the condition inside 'forall', where the name means something else."""
    (message,) = refused(
        "(:action z :parameters (?x - a)\n:effect (when (p ?x) (forall (?x - a) (q ?x))))"
    )
    assert message.startswith("d.pddl:7:")
    assert "'?x' of a 'forall' inside 'when' hides another '?x'" in message
