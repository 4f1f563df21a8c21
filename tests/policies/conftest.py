"""A small domain, its tasks, and policy files with random weights for it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from engine.pddl import parse_domain, parse_problem
from engine.pddl.model import Domain, Problem
from engine.policies.asnets.network import action_inputs, proposition_inputs
from engine.policies.asnets.relatedness import Relatedness, domain_hash, relate
from engine.task.load import load_task
from engine.task.task import Task

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


Rows = dict[tuple[int, int, int], tuple[str, bytes | None]]
Change = Callable[[Rows], None]


def policy_rows(relatedness: Relatedness, hidden: int, layers: int, seed: int) -> Rows:
    """Random weights by (layer, signature, index), as names and little-endian floats."""
    generator = np.random.default_rng(seed)

    def blob(size: int) -> bytes | None:
        values = generator.normal(scale=0.5, size=size).astype("<f4")
        return values.tobytes() if size else None

    rows: Rows = {}
    for layer in range(layers + 1):
        outputs = 1 if layer == layers else hidden
        for index, schema in enumerate(relatedness.schemas):
            inputs = action_inputs(len(schema.related), layer, hidden)
            rows[layer, 0, index] = (schema.name, blob(inputs * outputs))
            rows[layer, 1, index] = (schema.name, blob(outputs))
        for index, slots in enumerate(relatedness.slots if layer < layers else ()):
            inputs = proposition_inputs(len(slots), layer, hidden)
            rows[layer, 2, index] = (relatedness.predicates[index], blob(inputs * hidden))
            rows[layer, 3, index] = (relatedness.predicates[index], blob(hidden))
    return rows


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
        rows = policy_rows(relate(domain), hidden, layers, seed)
        if change is not None:
            change(rows)
        path = tmp_path / name
        with sqlite3.connect(path) as database:
            database.execute(
                "CREATE TABLE asnets_info (parameter TEXT, int_value INT DEFAULT -1,"
                " flt_value REAL DEFAULT -1., str_value TEXT DEFAULT NULL)"
            )
            database.execute(
                "CREATE TABLE asnets_weights (id INT PRIMARY KEY, layer INT, sig INT, name TEXT,"
                " idx INT, weights BLOB)"
            )
            database.executemany(
                "INSERT INTO asnets_info (parameter, int_value) VALUES (?, ?)",
                [("cfg_hidden_dimension", hidden), ("cfg_num_layers", layers), ("epoch", 3)],
            )
            database.executemany(
                "INSERT INTO asnets_info (parameter, str_value) VALUES (?, ?)",
                [("domain_name", domain.name), ("domain_hash", domain_hash(domain))],
            )
            database.execute(
                "INSERT INTO asnets_info (parameter, flt_value) VALUES ('success_rate', 0.5)"
            )
            database.executemany(
                "INSERT INTO asnets_weights VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (number, layer, signature, name, index, blob)
                    for number, ((layer, signature, index), (name, blob)) in enumerate(rows.items())
                ],
            )
        database.close()
        return path

    return write
