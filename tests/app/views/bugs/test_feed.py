"""Reading bugs bit by bit gives what reading them at once gives."""

from __future__ import annotations

from engine.workspace.rows import BugRow
from engine.workspace.workspace import Workspace


def test_portions_make_the_whole(store: Workspace) -> None:
    rows: list[BugRow] = []
    while portion := store.bugs(after=rows[-1].id if rows else 0, limit=7):
        assert len(portion) <= 7
        rows += portion
    assert rows == store.bugs()


def test_some_bugs_by_their_numbers(store: Workspace) -> None:
    every = {row.id: row for row in store.bugs()}
    assert store.bug_rows([9, 3, 10**9, 3]) == [every[3], every[9]]
    assert store.bug_rows([]) == []
