"""Copies of workspaces: whole, of one moment, and all or nothing."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from engine.errors import CancelledError, WorkspaceError
from engine.workspace.backup import copy_workspace
from engine.workspace.workspace import Workspace

LINES = 20_000


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Of some megabytes."""
    path = tmp_path / "w.plumb"
    with Workspace.create(path) as store, store.transaction() as connection:
        connection.executemany(
            "INSERT INTO log (time, level, text) VALUES (0, 'info', ?)",
            ((f"line {number} " + "x" * 200,) for number in range(LINES)),
        )
    return path


def test_the_copy_is_of_the_moment_at_which_it_began(workspace: Path, tmp_path: Path) -> None:
    """Whoever writes meanwhile does not make it begin anew."""
    told: list[tuple[int, int]] = []
    other = sqlite3.connect(workspace)

    def write(done: int, total: int) -> None:
        told.append((done, total))
        with other:
            other.execute("INSERT INTO log (time, level, text) VALUES (1, 'info', 'later')")

    with Workspace.open(workspace) as store:
        copy_workspace(store.connection, tmp_path / "copy.plumb", write)
    other.close()
    assert len(told) > 3
    assert told == sorted(set(told))
    assert told[-1][0] == told[-1][1] > LINES * 200
    with Workspace.open(tmp_path / "copy.plumb") as copy:
        assert copy.rows("SELECT count(*) FROM log") == [(LINES,)]


def test_a_copy_that_is_stopped_leaves_what_was_there(workspace: Path, tmp_path: Path) -> None:
    target = tmp_path / "there.plumb"
    target.write_text("something else")

    def stop(done: int, total: int) -> None:
        if done > total / 2:
            raise CancelledError

    with Workspace.open(workspace) as store:
        with pytest.raises(CancelledError):
            copy_workspace(store.connection, target, stop)
        assert target.read_text() == "something else"
        assert not list(tmp_path.glob("*.part"))
        with pytest.raises(WorkspaceError):
            copy_workspace(store.connection, tmp_path / "no such folder" / "copy.plumb")
        copy_workspace(store.connection, target)
    with Workspace.open(target) as copy:
        assert copy.rows("SELECT count(*) FROM log") == [(LINES,)]


def test_a_place_where_nothing_can_be_is_an_error_of_ours(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with Workspace.open(workspace) as store, pytest.raises(WorkspaceError, match=r"copy\.plumb"):
        copy_workspace(store.connection, tmp_path / "file" / "copy.plumb")
