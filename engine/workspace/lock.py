"""Only one campaign writes to a workspace at a time.

The writer leaves its name in the file. A writer that was killed is recognized by its process
being gone; one on another machine by not having been heard of for a while.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path

from engine.errors import Location, WorkspaceError

SILENCE_SECONDS = 30.0
HEARTBEAT_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Writer:
    pid: int
    host: str


def current(connection: sqlite3.Connection) -> Writer | None:
    """Who writes to the workspace now, if anybody does."""
    row = connection.execute("SELECT pid, host, process_start, heartbeat FROM writer").fetchone()
    return Writer(row[0], row[1]) if row is not None and _is_alive(*row) else None


def claim(connection: sqlite3.Connection, path: Path) -> None:
    """Become the writer, or say who is."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        row = connection.execute(
            "SELECT pid, host, process_start, heartbeat FROM writer"
        ).fetchone()
        if row is not None and not _is_me(row) and _is_alive(*row):
            pid, host, _, _ = row
            raise WorkspaceError(
                f"a campaign is writing to this workspace (process {pid} on {host})",
                Location.of(path),
                "wait for it, stop it, or choose another file",
            )
        connection.execute(
            "INSERT OR REPLACE INTO writer VALUES (1, ?, ?, ?, ?)", (*_me(), time.time())
        )
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk has undone it already
            connection.execute("ROLLBACK")
        raise


def beat(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE writer SET heartbeat = ?", (time.time(),))


def release(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM writer WHERE pid = ? AND host = ? AND process_start = ?", _me())


def _me() -> tuple[int, str, str]:
    return os.getpid(), socket.gethostname(), _process_start(os.getpid())


def _is_me(row: tuple[int, str, str, float]) -> bool:
    return row[:3] == _me()


def _is_alive(pid: int, host: str, process_start: str, heartbeat: float) -> bool:
    # Either way: its clock, or ours, may have been set back since.
    recent = abs(time.time() - heartbeat) < SILENCE_SECONDS
    if host != socket.gethostname():
        return recent
    if not Path("/proc/self").exists():
        return recent and _exists(pid)
    return process_start != "" and _process_start(pid) == process_start


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _process_start(pid: int) -> str:
    """When a process began, by the system's clock ticks; empty if it is gone or a zombie.

    A number is given to another process some day, so the number alone proves nothing.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] == "Z" else fields[19]
