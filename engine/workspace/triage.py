"""What the user decides about findings: a status, a note, and which bug a duplicate repeats."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from engine.errors import UsageError

DUPLICATE = "duplicate"
STATUSES = ("new", "confirmed", "ignored", DUPLICATE)


def decide(
    connection: sqlite3.Connection,
    findings: Sequence[int],
    status: str,
    note: str | None,
    duplicate_of: int | None,
) -> None:
    """Write a decision down; without a note the old one stays."""
    if status not in STATUSES:
        raise UsageError(
            f"there is no status '{status}'", hint=f"choose one of {', '.join(STATUSES)}"
        )
    if duplicate_of is not None:
        _refuse_nonsense(connection, findings, status, duplicate_of)
    connection.executemany(
        "UPDATE findings SET status = ?, note = ifnull(?, note) WHERE id = ?",
        [(status, note, finding) for finding in findings],
    )
    connection.executemany(
        "DELETE FROM duplicates WHERE finding = ?", [(finding,) for finding in findings]
    )
    if duplicate_of is not None:
        connection.executemany(
            "INSERT INTO duplicates (finding, original) VALUES (?, ?)",
            [(finding, duplicate_of) for finding in findings],
        )


def _refuse_nonsense(
    connection: sqlite3.Connection, findings: Sequence[int], status: str, original: int
) -> None:
    """A duplicate repeats a bug that is there, and not, by way of others, itself."""
    if status != DUPLICATE:
        raise UsageError(f"what is {status} is no duplicate of bug {original}")
    if not connection.execute("SELECT 1 FROM findings WHERE id = ?", (original,)).fetchone():
        raise UsageError(
            f"there is no bug {original}", hint="'plumbline bugs' lists those there are"
        )
    chain = connection.execute(
        "WITH RECURSIVE chain (bug) AS (VALUES (?) UNION SELECT original FROM duplicates "
        "JOIN chain ON finding = bug) SELECT bug FROM chain",
        (original,),
    )
    for (bug,) in chain:
        if bug in findings:
            raise UsageError(
                f"bug {bug} would be a duplicate of itself",
                hint="name the bug that is to be looked at instead",
            )
