"""How inputs are kept: every file once, by its content, and who it belongs to.

Rows that are there already stay as they are, so that writing twice is the same as writing once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from engine.campaign.inputs import File, PolicyInput, ProblemInput
from engine.campaign.packing import compress


def add_file(connection: sqlite3.Connection, file: File) -> str:
    content = compress(file.content)
    insert_new(connection, "inputs (sha256, name, content)", (file.sha256, file.name, content))
    return file.sha256


def add_problem(connection: sqlite3.Connection, problem: ProblemInput) -> int:
    domain = problem.domain
    domain_file = add_file(connection, domain) if domain else None
    problem_file = add_file(connection, problem.problem)
    insert_new(
        connection,
        "problems (name, path, domain_path, problem_file, domain_file, unit_costs)",
        (
            problem.name,
            problem.problem.path,
            domain.path if domain else None,
            problem_file,
            domain_file,
            problem.unit_costs,
        ),
    )
    return one(
        connection,
        "SELECT id FROM problems WHERE name = ? AND problem_file = ? AND domain_file IS ? "
        "AND unit_costs = ?",
        (problem.name, problem_file, domain_file, problem.unit_costs),
    )


def add_policy(connection: sqlite3.Connection, policy: PolicyInput) -> int:
    file = add_file(connection, policy.file) if policy.file else None
    path = policy.file.path if policy.file else None
    insert_new(
        connection, "policies (name, spec, path, file)", (policy.name, policy.spec, path, file)
    )
    return one(
        connection,
        "SELECT id FROM policies WHERE name = ? AND spec = ? AND file IS ?",
        (policy.name, policy.spec, file),
    )


def insert_new(connection: sqlite3.Connection, target: str, values: Sequence[object]) -> None:
    marks = ", ".join("?" * len(values))
    connection.execute(f"INSERT OR IGNORE INTO {target} VALUES ({marks})", values)


def one(connection: sqlite3.Connection, query: str, parameters: Sequence[object]) -> int:
    (value,) = connection.execute(query, parameters).fetchone()
    return int(value)
