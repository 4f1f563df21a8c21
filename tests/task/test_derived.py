"""Derived predicates by the rules of the domain, for validating plans."""

from __future__ import annotations

import pytest

from engine.errors import UnsupportedError
from engine.pddl import parse_domain, parse_problem
from engine.task.lifted import World
from engine.task.plans import parse_plan
from engine.task.validate import validate_plan

DOMAIN = """(define (domain d) (:requirements :adl :derived-predicates)
  (:types node)
  (:predicates (edge ?a ?b - node) (cut ?a - node) (wet ?a - node) (dry ?a - node) (all-dry)
               (spring ?a - node))
  (:derived (wet ?a - node) (or (spring ?a)
     (exists (?b - node) (and (edge ?b ?a) (wet ?b) (not (cut ?b))))))
  (:derived (dry ?a - node) (not (wet ?a)))
  (:derived (all-dry) (forall (?a - node) (or (spring ?a) (dry ?a))))
  (:action close :parameters (?a - node) :precondition (wet ?a) :effect (cut ?a)))"""
PROBLEM = """(define (problem p) (:domain d) (:objects a b c - node)
  (:init (edge a b) (edge b c) (edge c b) (spring a)) (:goal {}))"""


def world(goal: str = "(all-dry)") -> World:
    domain = parse_domain(DOMAIN)
    return World(domain, parse_problem(PROBLEM.format(goal), domain))


def test_rules_are_closed_stratum_by_stratum() -> None:
    init = world().init
    assert {("wet", "a"), ("wet", "b"), ("wet", "c")} <= init
    assert ("all-dry",) not in init


def test_a_step_can_make_derived_atoms_false_again() -> None:
    """b and c keep each other wet only as long as water comes from a."""
    domain = parse_domain(DOMAIN)
    problem = parse_problem(PROBLEM.format("(and (all-dry) (not (wet c)))"), domain)
    assert validate_plan(domain, problem, parse_plan("(close a)")).valid
    verdict = validate_plan(domain, problem, parse_plan("(close b)"))
    assert not verdict.valid


def test_preconditions_see_derived_atoms() -> None:
    domain = parse_domain(DOMAIN)
    problem = parse_problem(PROBLEM.format("(all-dry)"), domain)
    verdict = validate_plan(domain, problem, parse_plan("(close a)\n(close b)"))
    assert verdict.failed_step == 2
    assert "(wet b), which is false" in verdict.reason


def test_rules_that_need_their_own_negation_are_refused() -> None:
    text = DOMAIN.replace("(not (cut ?b))", "(not (dry ?b))")
    domain = parse_domain(text)
    with pytest.raises(UnsupportedError, match="depends on its own negation"):
        World(domain, parse_problem(PROBLEM.format("(all-dry)"), domain))
