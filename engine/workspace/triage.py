"""What the user decides about bugs: a status, a note, and which bug a duplicate repeats."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from engine.errors import UsageError
from engine.records.finding import BugStatus
from engine.workspace.connection import Version


@dataclass(frozen=True, slots=True)
class Triage:
    """What the user has decided about one bug."""

    bug: int
    status: BugStatus
    note: str
    duplicate_of: int | None


Undo = tuple[Triage, ...]
"""The decisions that were there before a change."""


class Decisions:
    """Which changes of a file were decisions: after these, little has to be read again.

    The connections of a window to the same file share it.
    """

    def __init__(self) -> None:
        self._next: dict[Version, Version] = {}

    def add(self, before: Version, after: Version) -> None:
        if after.follows(before):  # else another program has come between
            self._next[before] = after

    def lead(self, before: Version, after: Version) -> bool:
        """Whether nothing but decisions was changed from one version to another."""
        while before != after and before in self._next:
            before = self._next[before]
        return before == after


def set_status(
    connection: sqlite3.Connection,
    bugs: Sequence[int],
    status: BugStatus,
    note: str | None,
    duplicate_of: int | None,
) -> Undo:
    """Store a decision; without a note the old one stays."""
    before = _read(connection, bugs)
    _write(
        connection,
        [
            Triage(old.bug, status, old.note if note is None else note, duplicate_of)
            for old in before
        ],
    )
    return before


def set_note(connection: sqlite3.Connection, bugs: Sequence[int], note: str) -> Undo:
    """Store a note; the status stays."""
    before = _read(connection, bugs)
    _write(connection, [replace(old, note=note) for old in before])
    return before


def restore(connection: sqlite3.Connection, undo: Undo) -> Undo:
    """Store former decisions; return those that they replace."""
    before = _read(connection, [old.bug for old in undo])
    _write(connection, undo)
    return before


def _read(connection: sqlite3.Connection, bugs: Sequence[int]) -> Undo:
    rows = connection.execute(
        "SELECT f.id, f.status, f.note, d.original FROM findings f LEFT JOIN duplicates d "
        "ON d.finding = f.id WHERE f.id IN (SELECT value FROM json_each(?)) ORDER BY f.id",
        (json.dumps(list(bugs)),),
    )
    return tuple(
        Triage(bug, BugStatus(status), note, original) for bug, status, note, original in rows
    )


def _write(connection: sqlite3.Connection, decisions: Iterable[Triage]) -> None:
    copies: dict[int, list[Triage]] = {}
    for decision in decisions:
        connection.execute(
            "UPDATE findings SET status = ?, note = ? WHERE id = ?",
            (decision.status, decision.note, decision.bug),
        )
        connection.execute("DELETE FROM duplicates WHERE finding = ?", (decision.bug,))
        if decision.duplicate_of is not None:
            copies.setdefault(decision.duplicate_of, []).append(decision)
    for original, duplicates in copies.items():
        _refuse_nonsense(connection, duplicates, original)
        connection.executemany(
            "INSERT INTO duplicates (finding, original) VALUES (?, ?)",
            [(duplicate.bug, original) for duplicate in duplicates],
        )


def _refuse_nonsense(
    connection: sqlite3.Connection, duplicates: Sequence[Triage], original: int
) -> None:
    """Refuse a duplicate of a missing bug, or of itself through others."""
    for duplicate in duplicates:
        if duplicate.status is not BugStatus.DUPLICATE:
            raise UsageError(
                f"a bug with status {duplicate.status} cannot be a duplicate of bug {original}",
                hint=f"mark it as {BugStatus.DUPLICATE}",
            )
    if not connection.execute("SELECT 1 FROM findings WHERE id = ?", (original,)).fetchone():
        raise UsageError(f"unknown bug {original}", hint="'plumbline bugs' lists all bugs")
    chain = connection.execute(
        "WITH RECURSIVE chain (bug) AS (VALUES (?) UNION SELECT original FROM duplicates "
        "JOIN chain ON finding = bug) SELECT bug FROM chain",
        (original,),
    )
    numbers = {duplicate.bug for duplicate in duplicates}
    for (bug,) in chain:
        if bug in numbers:
            raise UsageError(
                f"bug {bug} would be a duplicate of itself",
                hint="name the bug to look at instead",
            )
