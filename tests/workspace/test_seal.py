"""Large workspaces: checked once, or in the background; any other change breaks the seal."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from reference.forging import forge
from reference.listed_bugs import store_bugs

from engine.errors import WorkspaceError
from engine.records.finding import BugKind, BugStatus
from engine.workspace import guard, seal
from engine.workspace.rows import BugRow
from engine.workspace.workspace import Workspace

BUGS = [
    BugRow(
        *(number, 1, 1, BugKind.TOO_EXPENSIVE, "p1", "policy", 0, 20, 10, 10, "bmo", "plan"),
        *(None, None, BugStatus.NEW, "", 0.5, None, False),
    )
    for number in range(1, 4)
]


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace that counts as a large one, and has no seal."""
    monkeypatch.setenv("PLUMBLINE_CACHE_DIR", str(tmp_path / "caches"))
    monkeypatch.setattr(seal, "LARGE_BYTES", 1000)
    path = tmp_path / "bugs.plumb"
    store_bugs(path, BUGS)
    return path


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that were checked."""
    found: list[Path] = []
    check = guard.refuse_damage

    def noted(connection: guard.Connection) -> None:
        found.append(connection.path)
        check(connection)

    monkeypatch.setattr(guard, "refuse_damage", noted)
    monkeypatch.setattr("engine.workspace.reader.refuse_damage", noted)
    return found


def look(path: Path) -> None:
    with Workspace.open(path) as store:
        assert len(store.bugs()) == len(BUGS)


def test_a_large_file_is_checked_once(large: Path, checks: list[Path]) -> None:
    for _ in range(3):
        look(large)
    assert checks == [large]


def test_our_own_changes_keep_the_seal(large: Path, checks: list[Path]) -> None:
    for status in (BugStatus.CONFIRMED, BugStatus.IGNORED):
        with Workspace.open(large) as store:
            store.set_status([1], status)
    look(large)
    assert len(checks) == 1


def test_two_processes_that_take_turns_keep_the_seal(large: Path, checks: list[Path]) -> None:
    with Workspace.open(large) as first:
        first.bugs()
        with Workspace.open(large) as second:
            second.set_note([1], "a")
        first.set_note([2], "b")
    look(large)
    assert len(checks) == 2, "the second came before the first had closed the file"


def test_a_small_file_is_always_checked(
    large: Path, checks: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seal, "LARGE_BYTES", 10**9)
    for _ in range(2):
        look(large)
    assert len(checks) == 2


def stamp_back(path: Path, change: Callable[[], object]) -> None:
    """Change a file and set its time of change back, as a careful forger does."""
    before = path.stat()
    change()
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(
    "change",
    [
        lambda path: forge(path, "UPDATE findings SET gap = 'much' WHERE id = 2"),
        lambda path: path.write_bytes(
            path.read_bytes()[:-4096] + bytes(4096)  # of the same size
        ),
    ],
)
def test_changes_by_others_break_the_seal(large: Path, change: Callable[[Path], object]) -> None:
    look(large)
    stamp_back(large, lambda: change(large))
    with pytest.raises(WorkspaceError, match="damaged"):
        Workspace.open(large)


def test_a_change_while_it_is_open_is_not_sealed(large: Path, checks: list[Path]) -> None:
    with Workspace.open(large) as store:
        store.bugs()
        forge(large, "UPDATE findings SET gap = 'much' WHERE id = 2")
        store.data_version()
    with pytest.raises(WorkspaceError, match=r"findings\.gap"):
        Workspace.open(large)
    assert len(checks) == 2


def test_a_copy_has_no_seal(large: Path, checks: list[Path], tmp_path: Path) -> None:
    look(large)
    copy = Path(shutil.copy2(large, tmp_path / "copy.plumb"))
    look(copy)
    shutil.move(copy, large)
    look(large)
    assert checks == [large, copy, large]


def test_a_seal_that_cannot_be_kept_does_not_prevent_work(
    large: Path, checks: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    (large.parent / "file").touch()
    monkeypatch.setenv("PLUMBLINE_CACHE_DIR", str(large.parent / "file" / "caches"))
    for _ in range(2):
        look(large)
    assert len(checks) == 2


def test_nothing_is_written_before_the_check(large: Path) -> None:
    with Workspace.open(large, may_wait=True) as store:
        assert store.awaits_check
        assert len(store.bugs()) == len(BUGS)
        with pytest.raises(WorkspaceError, match="still being checked"):
            store.set_note([1], "too early")
        with Workspace(large, guard.second_connection(large)) as other:
            other.check_all()
        store.end_check()
        store.set_note([1], "now")
    with Workspace.open(large, may_wait=True) as store:
        assert not store.awaits_check, "it was sealed"
