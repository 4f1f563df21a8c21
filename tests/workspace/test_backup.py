"""Copies of workspaces: whole, of one moment, and all or nothing."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from engine.errors import CancelledError, WorkspaceError
from engine.records.events import Warned
from engine.workspace.workspace import Workspace

LINES = 20_000


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Of some megabytes."""
    path = tmp_path / "w.plumb"
    with Workspace.create(path) as store:
        store.apply([Warned(None, f"line {number} " + "x" * 200) for number in range(LINES)])
    return path


def test_the_copy_is_of_the_moment_at_which_it_began(workspace: Path, tmp_path: Path) -> None:
    """A process that writes meanwhile waits for the end."""
    told: list[tuple[int, int]] = []
    with Workspace.open(workspace) as store, Workspace.open(workspace) as other:

        def write() -> None:
            with Workspace.open(workspace) as other:
                other.apply([Warned(None, "later")])

        def progress(done: int, total: int) -> None:
            if not told:
                writing.start()
            told.append((done, total))

        writing = threading.Thread(target=write)
        store.save_copy(tmp_path / "copy.plumb", progress)
        writing.join()
        assert len(other.log()) == LINES + 1
    assert len(told) > 3
    assert told == sorted(set(told))
    assert told[-1][0] == told[-1][1] > LINES * 200
    with Workspace.open(tmp_path / "copy.plumb") as copy:
        assert len(copy.log()) == LINES


def test_a_copy_that_is_stopped_leaves_what_was_there(workspace: Path, tmp_path: Path) -> None:
    target = tmp_path / "there.plumb"
    target.write_text("something else")

    def stop(done: int, total: int) -> None:
        if done > total / 2:
            raise CancelledError

    with Workspace.open(workspace) as store:
        with pytest.raises(CancelledError):
            store.save_copy(target, stop)
        assert target.read_text() == "something else"
        assert not list(tmp_path.glob("*.part"))
        with pytest.raises(WorkspaceError):
            store.save_copy(tmp_path / "no such folder" / "copy.plumb")
        store.save_copy(target)
    with Workspace.open(target) as copy:
        assert len(copy.log()) == LINES


def test_a_place_where_nothing_can_be_is_an_error_of_ours(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with Workspace.open(workspace) as store, pytest.raises(WorkspaceError, match=r"copy\.plumb"):
        store.save_copy(tmp_path / "file" / "copy.plumb")
