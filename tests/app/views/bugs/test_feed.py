"""Reading bugs bit by bit gives what reading them at once gives."""

from __future__ import annotations

import pytest

from engine.workspace import bug_reader
from engine.workspace.workspace import Workspace


def test_portions_make_the_whole(store: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = store.bugs()
    monkeypatch.setattr(bug_reader, "PORTION", 7)
    assert len(rows) > 7
    assert list(store.each_bug()) == rows


def test_some_bugs_by_their_numbers(store: Workspace) -> None:
    every = {row.id: row for row in store.bugs()}
    assert store.bug_rows([9, 3, 10**9, 3]) == [every[3], every[9]]
    assert store.bug_rows([]) == []
