"""Whether every value in a workspace is of the kind its column is made for.

SQLite keeps whatever it is given in any column, and a file may come from a stranger. Looked at
once when the file is opened, so that nobody who reads has to expect text among the numbers.
"""

from __future__ import annotations

import sqlite3

from engine.oracles.objective import BugKind
from engine.policies.run_graph import Outcome, Reason

_CLASSES = {
    "INTEGER": "typeof({0}) = 'integer'",
    "TEXT": "typeof({0}) = 'text'",
    "BLOB": "typeof({0}) = 'blob'",
    "REAL": "typeof({0}) IN ('real', 'integer') AND abs({0}) < 1e15",  # infinity is no time
}
_OUTCOMES = tuple(map(str, Outcome))
_REASONS = tuple(map(str, Reason))
_WORDS: dict[tuple[str, str], tuple[str, ...]] = {
    ("campaigns", "status"): ("running", "stopped", "finished"),
    ("units", "status"): ("waiting", "running", "stopped", "lost", "failed", "finished"),
    ("findings", "kind"): tuple(kind.value for kind in BugKind),
    ("findings", "status"): ("new", "confirmed", "ignored", "duplicate"),
    ("runs", "outcome"): _OUTCOMES,
    ("runs", "reason"): _REASONS,
    ("pool", "outcome"): _OUTCOMES,
    ("pool", "reason"): _REASONS,
}


def misplaced_value(connection: sqlite3.Connection) -> str:
    """The table and column of a value that does not belong there; empty if there is none."""
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    for (table,) in tables:
        if table.startswith("sqlite_"):
            continue
        columns = connection.execute(f'PRAGMA table_info("{table}")').fetchall()
        right = {
            name: _condition(table, name, declared, bool(required or key))
            for _, name, declared, required, _, key in columns
        }
        cases = " ".join(f"WHEN NOT ({test}) THEN '{name}'" for name, test in right.items())
        found = connection.execute(
            f'SELECT CASE {cases} END FROM "{table}" WHERE NOT ({" AND ".join(right.values())})'
            " LIMIT 1"
        ).fetchone()
        if found is not None:
            return f"{table}.{found[0]}"
    return ""


def _condition(table: str, name: str, declared: str, required: bool) -> str:
    column = f'"{name}"'
    test = _CLASSES[declared].format(column)
    if (table, name) in _WORDS:
        words = ", ".join(f"'{word}'" for word in _WORDS[table, name])
        test = f"{column} IN ({words})"
    return f"({test})" if required else f"({column} IS NULL OR {test})"
