"""Small domains for the tests of tasks, and a translation cache of their own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

COURIER_DOMAIN = """
; a courier walks between places and carries letters in its hands
(define (domain courier)
  (:requirements :strips :typing :negative-preconditions)
  (:types place letter hand - object  blue - letter)
  (:constants office - place)
  (:predicates (path ?from ?to - place) (here ?p - place) (lies ?l - letter ?p - place)
               (holds ?h - hand ?l - letter) (empty ?h - hand) (stamped ?l - letter)
               (rested))
  (:action walk
    :parameters (?from ?to - place)
    :precondition (and (here ?from) (path ?from ?to))
    :effect (and (not (here ?from)) (here ?to) (not (rested))))
  (:action grab
    :parameters (?l - letter ?p - place ?h - hand)
    :precondition (and (here ?p) (lies ?l ?p) (empty ?h))
    :effect (and (holds ?h ?l) (not (lies ?l ?p)) (not (empty ?h))))
  (:action put
    :parameters (?l - letter ?p - place ?h - hand)
    :precondition (and (here ?p) (holds ?h ?l))
    :effect (and (not (holds ?h ?l)) (lies ?l ?p) (empty ?h)))
  (:action stamp
    :parameters (?l - letter)
    :precondition (and (here office) (lies ?l office) (not (stamped ?l)))
    :effect (stamped ?l))
  (:action rest
    :parameters ()
    :precondition (not (rested))
    :effect (rested)))
"""

COURIER_PROBLEM = """
(define (problem morning)
  (:domain courier)
  (:objects home harbor - place  l1 - letter l2 - blue  left right - hand)
  (:init (path home office) (path office home) (path office harbor) (path harbor office)
         (here home) (lies l1 home) (lies L2 harbor) (empty left) (empty right))
  (:goal (and (lies l1 harbor) (stamped l2))))
"""

COURIER_PLAN = """\
(grab l1 home left)
(walk home office)
(walk office harbor)
(put l1 harbor left)
(grab l2 harbor right)
(walk harbor office)
(put l2 office right)
(stamp l2)
; cost = 8 (unit cost)
"""

TOLL_DOMAIN = """
(define (domain toll)
  (:requirements :strips :typing :action-costs)
  (:types town)
  (:predicates (road ?a ?b - town) (in ?a - town) (seen ?a - town))
  (:functions (total-cost) - number (fee ?a ?b - town) - number)
  (:action ride
    :parameters (?a ?b - town)
    :precondition (and (in ?a) (road ?a ?b))
    :effect (and (not (in ?a)) (in ?b) (increase (total-cost) (fee ?a ?b))))
  (:action look
    :parameters (?a - town)
    :precondition (in ?a)
    :effect (and (seen ?a) (increase (total-cost) 2)))
  (:action sing
    :parameters (?a - town)
    :precondition (and (in ?a) (seen ?a))
    :effect (not (seen ?a))))
"""

TOLL_PROBLEM = """
(define (problem tour)
  (:domain toll)
  (:objects a b c - town)
  (:init (in a) (road a b) (road b c) (road c a)
         (= (total-cost) 0) (= (fee a b) 3) (= (fee b c) 0) (= (fee c a) 7))
  (:goal (and (seen b) (seen c) (in a)))
  (:metric minimize (total-cost)))
"""

TOLL_PLAN = """\
(ride a b)
(look b)
(ride b c)
(look c)
(ride c a)
; cost = 14 (general cost)
"""

FARM_DOMAIN = """
(define (domain farm)
  (:requirements :adl)
  (:types animal pen)
  (:predicates (in ?a - animal ?p - pen) (hungry ?a - animal) (open ?p - pen)
               (calm ?a - animal) (night))
  (:action feed
    :parameters (?p - pen)
    :precondition (and (open ?p) (exists (?a - animal) (and (in ?a ?p) (hungry ?a))))
    :effect (forall (?a - animal) (when (in ?a ?p) (and (not (hungry ?a)) (calm ?a)))))
  (:action shut
    :parameters (?p - pen)
    :precondition (and (open ?p) (forall (?a - animal) (imply (in ?a ?p) (calm ?a))))
    :effect (not (open ?p)))
  (:action move
    :parameters (?a - animal ?from ?to - pen)
    :precondition (and (in ?a ?from) (not (= ?from ?to)) (or (calm ?a) (open ?to)))
    :effect (and (not (in ?a ?from)) (in ?a ?to) (when (night) (hungry ?a))))
  (:action dusk
    :parameters ()
    :precondition (not (night))
    :effect (night)))
"""

FARM_PROBLEM = """
(define (problem evening)
  (:domain farm)
  (:objects cow pig - animal p1 p2 - pen)
  (:init (in cow p1) (in pig p2) (hungry cow) (open p1) (open p2))
  (:goal (and (forall (?a - animal) (in ?a p1)) (not (open p1)) (night))))
"""

FARM_PLAN = """\
(move pig p2 p1)
(feed p1)
(dusk)
(shut p1)
; cost = 4 (unit cost)
"""


@dataclass(frozen=True)
class Example:
    """A domain and a problem on disk, with a plan that solves it."""

    domain: Path
    problem: Path
    plan: str


def write_example(folder: Path, domain: str, problem: str, plan: str = "") -> Example:
    example = Example(folder / "domain.pddl", folder / "problem.pddl", plan)
    example.domain.write_text(domain)
    example.problem.write_text(problem)
    return example


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """One for all tests, so that equal texts are translated once."""
    monkeypatch.setenv("PLUMBLINE_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture
def courier(tmp_path: Path) -> Example:
    return write_example(tmp_path, COURIER_DOMAIN, COURIER_PROBLEM, COURIER_PLAN)


@pytest.fixture
def toll(tmp_path: Path) -> Example:
    return write_example(tmp_path, TOLL_DOMAIN, TOLL_PROBLEM, TOLL_PLAN)


@pytest.fixture
def farm(tmp_path: Path) -> Example:
    """With quantifiers and conditional effects: for validation, not for translation."""
    return write_example(tmp_path, FARM_DOMAIN, FARM_PROBLEM, FARM_PLAN)


@pytest.fixture
def write(tmp_path: Path):
    """Write other texts: `write(domain, problem)`."""
    return lambda domain, problem, plan="": write_example(tmp_path, domain, problem, plan)
