"""A workspace with bugs that were thought out: only what lists, filters and tables show."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from engine.workspace.rows import BugRow
from engine.workspace.workspace import Workspace


def store_bugs(path: Path, rows: Iterable[BugRow]) -> None:
    """Put bugs into a workspace, in place of others with their numbers."""
    if not path.exists():
        Workspace.create(path).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        for row in rows:
            _store(connection, row)


def _store(connection: sqlite3.Connection, row: BugRow) -> None:
    execute = connection.execute
    execute(
        "INSERT OR IGNORE INTO campaigns VALUES (?, ?, '{}', 0, 0, 'finished')",
        (row.campaign, str(row.campaign)),
    )
    problem = _named(
        connection,
        "problems (name, path, problem_file, unit_costs)",
        row.problem,
        ("", row.problem, 0),
    )
    policy = _named(connection, "policies (name, spec)", row.policy, (row.policy,))
    place = row.campaign, problem, policy, row.seed
    execute(
        "INSERT OR IGNORE INTO units (campaign, problem, policy, seed) VALUES (?, ?, ?, ?)", place
    )
    ((unit,),) = execute(
        "SELECT id FROM units WHERE (campaign, problem, policy, seed) = (?, ?, ?, ?)", place
    ).fetchall()
    execute("INSERT OR IGNORE INTO states VALUES (?, ?, ?)", (row.id, problem, b"%d" % row.id))
    for table in ("localizations", "duplicates"):
        execute(f"DELETE FROM {table} WHERE finding = ?", (row.id,))
    execute("DELETE FROM findings WHERE id = ?", (row.id,))
    execute(
        "INSERT INTO findings (id, unit, state, kind, policy_cost, bound, gap, oracle, "
        "evidence_kind, retrospective, pool_number, region, seconds, status, note) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(row.id, unit, row.id, row.kind, row.policy_cost, row.bound, row.gap, row.found_by),
            *(row.evidence_kind, row.retrospective, row.pool_number, row.region, row.seconds),
            *(row.status, row.note),
        ),
    )
    if row.duplicate_of is not None:
        execute("INSERT INTO duplicates VALUES (?, ?)", (row.id, row.duplicate_of))
    if row.root_cause is not None or row.worst_step is not None:
        _localize(connection, row, policy)


def _localize(connection: sqlite3.Connection, row: BugRow, policy: int) -> None:
    execute = connection.execute
    if row.root_cause is not None:
        execute(
            "INSERT OR REPLACE INTO root_causes VALUES (?, ?, ?, ?, 'detour', ?)",
            (row.root_cause, policy, row.id, row.root_cause, row.bad_action),
        )
    execute(
        "INSERT INTO localizations (finding, root_cause, step, searches, naive_searches, "
        "expanded, seconds, limited, worst_step, worst_action, loss, loss_high) "
        "VALUES (?, ?, 0, 1, 1, 1, 0.1, 0, ?, ?, ?, ?)",
        (row.id, row.root_cause, row.worst_step, row.worst_action, row.loss, row.loss_high),
    )
    if row.pattern is not None and row.root_cause is not None:
        execute(
            "INSERT OR REPLACE INTO patterns VALUES (?, ?, '{}', ?)",
            (row.pattern, str(row.pattern), row.family),
        )
        execute(
            "INSERT INTO witnesses (bug, root_cause, same, pattern, document) "
            "VALUES (?, ?, 'action', ?, '{}')",
            (row.id, row.root_cause, row.pattern),
        )


def _named(
    connection: sqlite3.Connection, target: str, name: str, values: tuple[object, ...]
) -> int:
    table = target.partition(" ")[0]
    query = f"SELECT id FROM {table} WHERE name = ?"
    if not connection.execute(query, (name,)).fetchone():
        marks = ", ".join("?" * (1 + len(values)))
        connection.execute(f"INSERT INTO {target} VALUES ({marks})", (name, *values))
    ((number,),) = connection.execute(query, (name,)).fetchall()
    return int(number)
