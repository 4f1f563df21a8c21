"""A whole copy of a workspace, page by page, of the moment at which it was begun."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from engine.errors import Location, WorkspaceError
from engine.workspace.guard import workspace_errors

PAGES_AT_ONCE = 256
"""About a megabyte: whoever waits hears of the progress often enough."""

Progress = Callable[[int, int], None]
"""Told how many bytes are copied, and how many there are; may raise to end the copy."""


def copy_workspace(
    connection: sqlite3.Connection, path: Path, progress: Progress | None = None
) -> None:
    """Copy to `path`, which holds either all of it in the end or what it held before.

    Nobody writes to the copy, whoever writes to the workspace meanwhile.
    """
    part = path.with_name(path.name + ".part")
    try:
        with workspace_errors(path):
            target = sqlite3.connect(part)
            try:
                tell = _in_bytes(progress, connection)
                with _one_moment(connection):
                    connection.backup(target, pages=PAGES_AT_ONCE, progress=tell)
                target.execute("DELETE FROM writer")
                target.commit()
            finally:
                target.close()
        os.replace(part, path)
    except OSError as error:
        message = f"the copy cannot be written: {error.strerror}"
        raise WorkspaceError(message, Location.of(path), "choose another place") from error
    finally:
        with suppress(OSError):  # it may not even be possible to have it there
            part.unlink()


@contextmanager
def _one_moment(connection: sqlite3.Connection) -> Iterator[None]:
    """Without it, SQLite begins the copy anew whenever another process has written something."""
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN")
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        yield
    finally:
        connection.execute("ROLLBACK")


def _in_bytes(
    progress: Progress | None, connection: sqlite3.Connection
) -> Callable[[int, int, int], None] | None:
    if progress is None:
        return None
    (page,) = connection.execute("PRAGMA page_size").fetchone()

    def tell(status: int, remaining: int, total: int) -> None:
        del status
        progress((total - remaining) * page, total * page)

    return tell
