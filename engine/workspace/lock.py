"""Locks of a workspace: our processes take turns, and one campaign writes at a time.

SQLite's own locks belong to the process and vanish when any part of it closes any descriptor of
the file, as a file dialog does. Ours belong to an open file (`F_OFD_SETLK`), and only closing that
one ends them; they are held for a transaction. SQLite's still keep other programs out.

A campaign leaves its name in the file. One that was killed is recognized by its process being
gone; one on another machine if its heartbeat has stopped.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import sqlite3
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.errors import Location, WorkspaceError

PATIENCE_SECONDS = 10.0
CAMPAIGN_PATIENCE_SECONDS = 600.0
"""A campaign that has run for hours does not give up because of a long backup."""
SILENCE_SECONDS = 30.0
HEARTBEAT_SECONDS = 2.0

_TURNSTILE, _CONTENT, _PRESENCE = range(2**62, 2**62 + 3)  # bytes that no file has
_LONGEST_NAP = 0.01


class FileLock:
    """Shared for reading, exclusive for writing; waiting writers come first."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path, self._descriptor = path, descriptor

    def acquire(self, *, exclusive: bool, patience: float, given_up: Callable[[], bool]) -> None:
        """Wait for our turn, for `patience` seconds at most."""
        kind = fcntl.F_WRLCK if exclusive else fcntl.F_RDLCK
        until = time.monotonic() + patience
        try:
            for byte in (_TURNSTILE, _CONTENT):
                self._wait(byte, kind, lambda: given_up() or time.monotonic() > until)
        except BaseException:
            self.release()
            raise
        if not exclusive:
            self._set(_TURNSTILE, fcntl.F_UNLCK)

    def release(self) -> None:
        self._set(_TURNSTILE, fcntl.F_UNLCK, length=2)

    def announce(self) -> None:
        """Let others know that the file is open here, until its descriptor is closed."""
        self._set(_PRESENCE, fcntl.F_RDLCK)

    def is_announced_elsewhere(self) -> bool:
        request = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, _PRESENCE, 1, 0)
        try:
            answer = fcntl.fcntl(self._descriptor, fcntl.F_OFD_GETLK, request)
        except OSError:
            return False  # a disk without locks, which writers report
        return bool(struct.unpack("hhqqi4x", answer)[0] != fcntl.F_UNLCK)

    def _wait(self, byte: int, kind: int, given_up: Callable[[], bool]) -> None:
        nap = _LONGEST_NAP / 16
        while not self._set(byte, kind):
            if given_up():
                raise WorkspaceError(
                    "another process has locked the file",
                    Location.of(self._path),
                    "wait for it or close it, then try again",
                )
            time.sleep(nap)
            nap = min(2 * nap, _LONGEST_NAP)

    def _set(self, byte: int, kind: int, length: int = 1) -> bool:
        request = struct.pack("hhqqi4x", kind, os.SEEK_SET, byte, length, 0)
        try:
            fcntl.fcntl(self._descriptor, fcntl.F_OFD_SETLK, request)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EACCES):
                return False
            raise WorkspaceError(
                f"the file cannot be locked: {error.strerror}",
                Location.of(self._path),
                "copy it to a disk of this machine",
            ) from error
        return True


@dataclass(frozen=True, slots=True)
class Writer:
    """The process of a campaign."""

    pid: int
    host: str


def current(connection: sqlite3.Connection) -> Writer | None:
    """The campaign that writes to the workspace now."""
    row = _stored(connection)
    return Writer(row[0], row[1]) if row is not None and _is_alive(*row) else None


def claim(connection: sqlite3.Connection, path: Path) -> None:
    """Become the writer, or report who is."""
    row = _stored(connection)
    if row is not None and not _is_me(row) and _is_alive(*row):
        pid, host, _, _ = row
        raise WorkspaceError(
            f"a campaign is writing to this workspace (process {pid} on {host})",
            Location.of(path),
            "wait for it, stop it, or choose another file",
        )
    connection.execute(
        "INSERT OR REPLACE INTO writer (id, pid, host, process_start, heartbeat) "
        "VALUES (1, ?, ?, ?, ?)",
        (*_me(), time.time()),
    )


def beat(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE writer SET heartbeat = ?", (time.time(),))


def release(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM writer WHERE pid = ? AND host = ? AND process_start = ?", _me())


def _stored(connection: sqlite3.Connection) -> tuple[int, str, str, float] | None:
    row: tuple[int, str, str, float] | None = connection.execute(
        "SELECT pid, host, process_start, heartbeat FROM writer"
    ).fetchone()
    return row


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
