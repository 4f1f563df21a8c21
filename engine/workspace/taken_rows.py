"""Rows that were taken out of a workspace, and how they come back."""

from __future__ import annotations

import sqlite3
from collections.abc import Container, Iterable

TakenRow = tuple[str, tuple[str, ...], tuple[object, ...]]
"""The table of a row, the names of its columns, and their values."""


def take(
    connection: sqlite3.Connection,
    taken: list[TakenRow],
    table: str,
    where: str,
    *parameters: object,
) -> None:
    """Delete rows and write down what they were."""
    cursor = connection.execute(f"SELECT * FROM {table} WHERE {where}", parameters)
    names = tuple(column[0] for column in cursor.description)
    taken += [(table, names, row) for row in cursor.fetchall()]
    connection.execute(f"DELETE FROM {table} WHERE {where}", parameters)


def put_back(
    connection: sqlite3.Connection, rows: Iterable[TakenRow], shared: Container[str] = ()
) -> None:
    """Insert rows as they were; those of `shared` tables may have come back meanwhile."""
    for table, names, values in rows:
        marks = ", ".join("?" * len(values))
        columns = ", ".join(names)
        ignore = "OR IGNORE " if table in shared else ""
        connection.execute(f"INSERT {ignore}INTO {table} ({columns}) VALUES ({marks})", values)
