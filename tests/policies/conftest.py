"""A small domain, its tasks, and policy files with random weights for it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from engine.pddl import parse_domain, parse_problem
from engine.pddl.model import Domain, Problem
from engine.policies.asnets.relatedness import relate
from engine.task.load import load_task
from engine.task.task import Task
from tests.reference.policy_files import Rows, cpddl_rows, write_cpddl

torch.set_num_threads(1)

COURIERS = """\
(define (domain couriers)
  (:requirements :strips :typing :equality)
  (:types place parcel courier - object
          rider walker - courier)
  (:constants hub - place)
  (:predicates
    (link ?from ?to - place) (at ?c - courier ?p - place) (lies ?x - parcel ?p - place)
    (holds ?c - courier ?x - parcel) (idle ?c - courier) (noted ?p - place))
  (:action go
    :parameters (?c - courier ?from ?to - place)
    :precondition (and (at ?c ?from) (link ?from ?to) (not (= ?from ?to)))
    :effect (and (not (at ?c ?from)) (at ?c ?to)))
  (:action take
    :parameters (?c - courier ?x - parcel ?p - place)
    :precondition (and (at ?c ?p) (lies ?x ?p) (idle ?c))
    :effect (and (holds ?c ?x) (not (lies ?x ?p)) (not (idle ?c))))
  (:action leave
    :parameters (?c - courier ?x - parcel ?p - place)
    :precondition (and (at ?c ?p) (holds ?c ?x))
    :effect (and (lies ?x ?p) (idle ?c) (not (holds ?c ?x))))
  (:action hand-over
    :parameters (?c - rider ?d - walker ?x - parcel)
    :precondition (and (at ?c hub) (at ?d hub) (holds ?c ?x) (idle ?d))
    :effect (and (holds ?d ?x) (idle ?c) (not (holds ?c ?x)) (not (idle ?d)))))
"""

PROBLEM = """\
(define (problem three-places)
  (:domain couriers)
  (:objects north south - place  ada - rider  bob - walker  box tin - parcel)
  (:init (link north hub) (link hub north) (link hub south) (link south hub) (link hub hub)
         (at ada north) (at bob hub) (idle ada) (idle bob) (lies box north) (lies tin south))
  (:goal (and (lies box south) (lies tin north))))
"""


@pytest.fixture
def domain_path(tmp_path: Path) -> Path:
    path = tmp_path / "domain.pddl"
    path.write_text(COURIERS)
    return path


@pytest.fixture
def problem_path(tmp_path: Path) -> Path:
    path = tmp_path / "problem.pddl"
    path.write_text(PROBLEM)
    return path


@pytest.fixture
def domain() -> Domain:
    return parse_domain(COURIERS)


@pytest.fixture
def problem(domain: Domain) -> Problem:
    return parse_problem(PROBLEM, domain)


@pytest.fixture
def task(domain_path: Path, problem_path: Path) -> Task:
    return load_task(domain_path, problem_path)


Change = Callable[[Rows], None]


@pytest.fixture
def write_policy(tmp_path: Path) -> Callable[..., Path]:
    """Writes a cpddl policy for a domain; `change` may spoil its rows before they are written."""

    def write(
        domain: Domain,
        *,
        hidden: int = 4,
        layers: int = 2,
        seed: int = 1,
        change: Change | None = None,
        name: str = "random.policy",
    ) -> Path:
        rows = cpddl_rows(relate(domain), hidden, layers, seed)
        if change is not None:
            change(rows)
        path = tmp_path / name
        database = sqlite3.connect(path)
        write_cpddl(database, domain, hidden, layers, rows)
        database.close()
        return path

    return write
