"""A whole copy of a workspace, page by page, of the moment at which it was begun."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from engine.errors import Location, WorkspaceError
from engine.files import replacing
from engine.workspace.connection import Connection, workspace_errors
from engine.workspace.schema import set_identity

PAGES_AT_ONCE = 256
"""About a megabyte, to tell the progress often."""

Progress = Callable[[int, int], None]
"""Told how many bytes are copied, and how many there are; may raise to end the copy."""


def copy_workspace(connection: Connection, path: Path, progress: Progress | None = None) -> None:
    """Copy to `path`, which holds either all of it in the end or what it held before.

    The copy has no writer, and an identity of its own.
    """
    try:
        with (
            replacing(path) as part,
            workspace_errors(path),
            closing(sqlite3.connect(part.path)) as target,
        ):
            target.execute("PRAGMA synchronous = OFF")  # campaigns wait until all is read
            with connection.reading() as source:
                tell = _in_bytes(progress, source)
                source.backup(target, pages=PAGES_AT_ONCE, progress=tell)
            target.execute("PRAGMA synchronous = EXTRA")
            target.execute("DELETE FROM writer")
            set_identity(target)
            target.commit()
    except OSError as error:
        message = f"the copy cannot be written: {error.strerror}"
        raise WorkspaceError(message, Location.of(path), "choose another location") from error


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
