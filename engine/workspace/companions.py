"""The files that SQLite looks for beside a database, and whether they belong to it.

A transaction that was cut short leaves a journal, from which SQLite restores the pages that were
being changed. It asks for nothing but the name: after a backup was put in place of the file, or
beside a file of a stranger, the same would destroy the contents, or delete any other file that the
journal names. A workspace is never in WAL mode, so a write-ahead log never belongs to it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from engine.errors import Location, WorkspaceError

ENDINGS = ("-journal", "-wal", "-shm")

HEADER_BYTES = 100
_MAGIC = b"SQLite format 3\0"
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")


@dataclass(frozen=True, slots=True)
class Header:
    """What the first bytes of a database say, read without SQLite."""

    uses_wal: bool
    counter: int  # one more after every transaction
    identity: int  # a random number, see `schema.create`
    version: int
    application: int

    @classmethod
    def of(cls, data: bytes) -> Header | None:
        """Return None if this is not a database."""
        if len(data) < HEADER_BYTES or not data.startswith(_MAGIC):
            return None
        return cls(
            uses_wal=data[18] != 1 or data[19] != 1,
            counter=_number(data[24:28]),
            identity=_number(data[40:44]),
            version=_number(data[60:64]),
            application=_number(data[68:72]),
        )


def has_any(path: str) -> bool:
    """Whether there is one that SQLite would read; asked before every transaction."""
    return os.path.lexists(f"{path}-journal") or os.path.lexists(f"{path}-wal")


def refuse_foreign(path: Path, place: Path, header: Header | None) -> None:
    """Refuse to continue beside a companion that does not belong to the workspace."""
    journal, log = (place.with_name(place.name + ending) for ending in ("-journal", "-wal"))
    if os.path.lexists(log):
        raise _refusal(path, log)
    if os.path.lexists(journal) and not _belongs(journal, header):
        raise _refusal(path, journal)


def _refusal(path: Path, companion: Path) -> WorkspaceError:
    return WorkspaceError(
        f"{companion.name} does not belong to this workspace: it was left by another file of this "
        "name",
        Location.of(path),
        f"move {companion.name} to another folder; nothing was changed",
    )


def _belongs(journal: Path, header: Header | None) -> bool:
    """Whether a journal was written by the transaction that the file is in the middle of.

    Each of our transactions changes the first page first, so a journal begins with that page as it
    was before.
    """
    try:
        start, record, end = _parts(journal)
    except OSError:
        return False
    if end == _JOURNAL_MAGIC:
        return False  # it names another journal, which SQLite would delete
    if not any(start[:12]):
        return True  # nothing was changed yet, so SQLite leaves it alone
    if start[:8] != _JOURNAL_MAGIC or header is None or _number(start[16:20]) == 0:
        return False  # the last one would cut the file to no pages at all
    before = Header.of(record[4:])
    return _number(record[:4]) == 1 and before is not None and _precedes(before, header)


def _parts(journal: Path) -> tuple[bytes, bytes, bytes]:
    """The beginning of a journal, of the first page in it, and its end."""
    descriptor = os.open(journal, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        start = os.pread(descriptor, 28, 0)
        record = os.pread(descriptor, 4 + HEADER_BYTES, _number(start[20:24]))
        end = os.pread(descriptor, 8, max(0, os.fstat(descriptor).st_size - 8))
    finally:
        os.close(descriptor)
    return start, record, end


def _precedes(before: Header, now: Header) -> bool:
    return now.counter - before.counter in (0, 1) and (
        before.identity == now.identity or before.version < now.version
    )


def _number(data: bytes) -> int:
    return int.from_bytes(data, "big")
