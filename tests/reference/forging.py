"""Changes workspaces without Plumbline, as attackers and accidents do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def forging(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that knows nothing of our locks, nor of what belongs into a workspace."""
    connection = sqlite3.connect(path)
    try:
        yield connection
        connection.commit()
    finally:
        connection.close()


def forge(path: Path, statement: str, parameters: Sequence[object] = ()) -> None:
    with forging(path) as connection:
        connection.execute(statement, parameters)
