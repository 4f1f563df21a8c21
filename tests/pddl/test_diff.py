"""Differences between two domains."""

from __future__ import annotations

from engine.pddl import Domain, parse_domain
from engine.pddl.diff import diff_domains

BEFORE = """(define (domain d) (:requirements :strips :typing)
  (:types ball room box - object)
  (:constants home - room)
  (:predicates (at ?b - ball ?r - room) (free) (old))
  (:functions (total-cost) - number)
  (:action move :parameters (?b - ball ?a ?z - room)
    :precondition (and (at ?b ?a) (free))
    :effect (and (not (at ?b ?a)) (at ?b ?z)))
  (:action same :parameters (?b - ball) :precondition (at ?b home) :effect (free))
  (:action gone :effect (free)))"""
AFTER = """(define (domain d2) (:requirements :strips :typing :equality)
  (:types ball - box room crate box - object)
  (:constants home - box)
  (:predicates (at ?item - ball ?r - room) (free ?x - room) (new))
  (:functions (total-cost) - number)
  (:action move :parameters (?b - ball ?a ?z - room)
    :precondition (and (at ?b ?a) (not (= ?a ?z)))
    :effect (and (not (at ?b ?a)) (at ?b ?z) (new)))
  (:action same :parameters (?x - ball) :precondition (at ?x home) :effect (free home))
  (:action added :effect (new)))"""


def read(text: str) -> Domain:
    """Without type errors: `home` is no room in the second domain, which does not matter here."""
    return parse_domain(text.replace("home - box", "home - room"))


def test_every_part_is_compared() -> None:
    diff = diff_domains(read(BEFORE), read(AFTER))
    assert diff.as_text().splitlines() == [
        "domain: d -> d2",
        "+ requirement :equality",
        "+ type crate",
        "~ type ball -> ball - box",
        "- predicate (old)",
        "+ predicate (new)",
        "~ predicate (free) -> (free ?x - room)",
        "- action gone",
        "+ action added",
        "~ action move",
        "    - precondition (free)",
        "    + precondition (not (= ?a ?z))",
        "    + effect (new)",
        "~ action same",
        "    ~ parameters (?b - ball) -> (?x - ball)",
        "    - effect (free)",
        "    + effect (free home)",
    ]
    assert not diff.is_empty


def test_the_same_domain_has_no_differences() -> None:
    diff = diff_domains(read(BEFORE), read(BEFORE.upper()))
    assert diff.is_empty
    assert diff.as_text() == ""


def test_constants_functions_and_rules() -> None:
    before = parse_domain(
        "(define (domain d) (:types t) (:constants a b) (:predicates (p ?x)) (:functions (f))"
        " (:derived (p ?x) (= ?x a)))"
    )
    after = parse_domain(
        "(define (domain d) (:types t) (:constants a - t c) (:predicates (p ?x))"
        " (:functions (f ?x)) (:derived (p ?x) (= ?x c)))"
    )
    assert diff_domains(before, after).as_text().splitlines() == [
        "- constant b",
        "+ constant c",
        "~ constant a -> a - t",
        "~ function (f) -> (f ?x)",
        "~ derived predicate (p ?x) (= ?x a) -> (p ?x) (= ?x c)",
    ]


def test_renamed_parameters_do_not_hide_behind_quantifiers() -> None:
    text = """(define (domain d) (:predicates (p ?x ?y))
      (:action a :parameters ({0}) :precondition (exists (?y) (p {0} ?y)) :effect (p {0} {0})))"""
    diff = diff_domains(parse_domain(text.format("?x")), parse_domain(text.format("?y")))
    (change,) = diff.actions_changed
    assert change.preconditions_added == ("(exists (?y) (p ?y ?y))",)
