"""What the user decides about bugs, as commands that can be undone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtGui import QUndoCommand

from engine.campaign.rows import BugRow
from engine.campaign.store import Store
from engine.errors import PlumblineError

Told = Callable[[list[int]], None]
"""Hears of bugs whose status or note is different now."""
Failed = Callable[[str], object]
"""Hears why a decision could not be kept."""


class Decision(QUndoCommand):
    """A status, a note, or both, for some bugs."""

    def __init__(
        self,
        store: Store,
        rows: Sequence[BugRow],
        told: Told,
        failed: Failed,
        *,
        status: str | None = None,
        note: str | None = None,
        duplicate_of: int | None = None,
    ) -> None:
        super().__init__(_words(rows, status))
        self._store, self._told, self._failed = store, told, failed
        self._before = [(row.id, row.status, row.note, row.duplicate_of) for row in rows]
        self._after = [
            (
                row.id,
                status or row.status,
                row.note if note is None else note,
                row.duplicate_of if status is None else duplicate_of,
            )
            for row in rows
        ]

    def redo(self) -> None:
        self._write(self._after)

    def undo(self) -> None:
        self._write(self._before)

    def _write(self, decisions: list[tuple[int, str, str, int | None]]) -> None:
        alike: dict[tuple[str, str, int | None], list[int]] = {}
        for bug, status, note, original in decisions:
            alike.setdefault((status, note, original), []).append(bug)
        try:
            for (status, note, original), bugs in alike.items():
                self._store.set_status(bugs, status, note, original)
        except PlumblineError as error:
            self.setObsolete(True)  # nothing happened, so there is nothing to undo
            self._failed(f"The decision cannot be kept: {error}")
        self._told([bug for bug, *_ in decisions])


def _words(rows: Sequence[BugRow], status: str | None) -> str:
    which = f"bug {rows[0].id}" if len(rows) == 1 else f"{len(rows)} bugs"
    verbs = {"confirmed": "confirm", "ignored": "ignore", "duplicate": "mark as duplicate"}
    if status is None:
        return f"note on {which}"
    return f"{verbs[status]} {which}" if status in verbs else f"mark {which} as {status}"
