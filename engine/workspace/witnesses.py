"""Smallest witnesses in a workspace, and the patterns they belong to.

A witness is a bug of its own: its problem is a row of `problems` with an origin, and its unit
belongs to the campaign of the bug it was made from, but lists, pools and statistics of campaigns
leave both out. Whatever is stored of a witness can be taken out again, and be put back.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from engine.errors import UsageError
from engine.records.codec import encode
from engine.records.events import FindingReported
from engine.records.finding import Finding
from engine.records.inputs import File, ProblemInput
from engine.records.pattern import Attempt, Certificate
from engine.workspace.event_writer import EventWriter, add_file, add_problem, one
from engine.workspace.taken_rows import TakenRow, put_back, take

WITNESS_ROWS = (
    "SELECT w.id, w.bug, w.root_cause, w.step, w.same, w.finding, w.pattern, "
    "ifnull(t.key, '') AS key, ifnull(t.family, '') AS family, w.document AS attempt "
    "FROM witnesses w LEFT JOIN patterns t ON t.id = w.pattern"
)
PATTERN_ROWS = "SELECT id, key, family, certificate FROM patterns ORDER BY id"


@dataclass(frozen=True, slots=True)
class StoredWitness:
    """A witness with all that makes it a bug."""

    problem: ProblemInput
    sas: str
    task_hash: str
    finding: Finding
    certificate: Certificate
    family: str


@dataclass(frozen=True, slots=True)
class DeletedWitnesses:
    """Rows that were taken out, as they were: what they refer to comes first."""

    rows: tuple[TakenRow, ...]
    witnesses: tuple[int, ...]


def save_attempt(
    connection: sqlite3.Connection,
    bug: int,
    root_cause: int | None,
    step: int | None,
    *,
    attempt: Attempt,
    stored: StoredWitness | None,
) -> int | None:
    """Replace the stored result of minimizing a root cause; return the number of the witness."""
    for (old,) in connection.execute(
        "SELECT id FROM witnesses WHERE same = ? AND step IS ? AND "
        "CASE WHEN ? IS NULL THEN root_cause = ? ELSE bug = ? END",
        (attempt.same, step, step, root_cause, bug),
    ).fetchall():
        delete_witnesses(connection, [old])
    finding = pattern = None
    if stored is not None:
        finding = _add_bug(connection, bug, stored)
        pattern = _add_pattern(connection, stored.certificate, stored.family)
    connection.execute(
        "INSERT INTO witnesses (bug, root_cause, step, same, finding, pattern, document) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (bug, root_cause, step, attempt.same, finding, pattern, encode(attempt).decode()),
    )
    return finding


def _add_bug(connection: sqlite3.Connection, bug: int, stored: StoredWitness) -> int:
    campaign, origin, policy, seed = connection.execute(
        "SELECT u.campaign, u.problem, u.policy, u.seed FROM findings f "
        "JOIN units u ON u.id = f.unit WHERE f.id = ?",
        (bug,),
    ).fetchone()
    problem = add_problem(connection, stored.problem)
    sas = add_file(connection, File("task.sas", stored.sas.encode(), ""))
    connection.execute(
        "UPDATE problems SET origin = ?, task_hash = ?, sas_file = ? WHERE id = ?",
        (origin, stored.task_hash, sas, problem),
    )
    cursor = connection.execute(
        "INSERT INTO units (campaign, problem, policy, seed, status) "
        "VALUES (?, ?, ?, ?, 'finished')",
        (campaign, problem, policy, seed),
    )
    unit = cursor.lastrowid
    assert unit is not None
    EventWriter(connection).write(FindingReported(unit, stored.finding, False, 0.0))
    return one(connection, "SELECT id FROM findings WHERE unit = ?", (unit,))


def _add_pattern(connection: sqlite3.Connection, certificate: Certificate, family: str) -> int:
    """The texts are compared, too: a key alone would be a promise."""
    connection.execute(
        "INSERT OR IGNORE INTO patterns (key, certificate, family) VALUES (?, ?, ?)",
        (certificate.key, certificate.text, family),
    )
    number, text = connection.execute(
        "SELECT id, certificate FROM patterns WHERE key = ?", (certificate.key,)
    ).fetchone()
    if text != certificate.text:
        raise UsageError(
            f"pattern {number} has the key of another certificate",
            hint="run 'plumbline verify' on the workspace",
        )
    return int(number)


def delete_witnesses(connection: sqlite3.Connection, witnesses: Sequence[int]) -> DeletedWitnesses:
    """Take witnesses out with their bugs, problems, and patterns that have no other one."""
    taken: list[TakenRow] = []
    take_out = partial(take, connection, taken)
    for witness in witnesses:
        row = connection.execute(
            "SELECT finding, pattern FROM witnesses WHERE id = ?", (witness,)
        ).fetchone()
        if row is None:
            continue
        finding, pattern = row
        take_out("witnesses", "id = ?1 OR (?2 IS NOT NULL AND bug = ?2)", witness, finding)
        if pattern is not None:
            take_out(
                "patterns",
                "id = ?1 AND NOT EXISTS (SELECT 1 FROM witnesses WHERE pattern = ?1)",
                pattern,
            )
        if finding is not None:
            _take_bug(connection, taken, finding)
    return DeletedWitnesses(tuple(reversed(taken)), tuple(witnesses))


def _take_bug(
    connection: sqlite3.Connection,
    taken: list[TakenRow],
    finding: int,
) -> None:
    unit, problem = connection.execute(
        "SELECT u.id, u.problem FROM findings f JOIN units u ON u.id = f.unit WHERE f.id = ?",
        (finding,),
    ).fetchone()
    take_out = partial(take, connection, taken)
    for table in ("history", "evidence", "runs", "localized_steps", "localizations"):
        take_out(table, "finding = ?", finding)
    take_out("duplicates", "finding = ?1 OR original = ?1", finding)
    take_out("findings", "id = ?", finding)
    take_out("root_causes", "state IN (SELECT id FROM states WHERE problem = ?)", problem)
    take_out("states", "problem = ?", problem)
    take_out("log", "unit = ?", unit)
    take_out("units", "id = ?", unit)
    files = connection.execute(
        "SELECT problem_file, sas_file FROM problems WHERE id = ?", (problem,)
    ).fetchone()
    take_out("problems", "id = ?", problem)
    for file in files:
        try:
            take_out("inputs", "sha256 = ?", file)
        except sqlite3.IntegrityError:
            taken.pop()  # another problem has the same file


def restore_witnesses(connection: sqlite3.Connection, deleted: DeletedWitnesses) -> None:
    """Put back what was taken out, under the same numbers.

    Patterns may have come back by another witness meanwhile.
    """
    put_back(connection, deleted.rows, shared=("inputs", "patterns"))
