"""Copies and backups of workspaces: whole, of one moment, bounded, and restored without loss."""

from __future__ import annotations

import shutil
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from engine.caches import BACKUP_VARIABLE, BACKUPS, FOLDER_VARIABLE
from engine.cli import main
from engine.errors import CancelledError, UsageError, WorkspaceError
from engine.records.events import Warned
from engine.usecases.housekeeping import restore_backup
from engine.workers.link import Link
from engine.workspace import backup as module
from engine.workspace.backup import Backup, backups, free_place
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


DAY = 86400.0


class Clock:
    """The system's clocks, which the tests turn."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def pass_by(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "time", lambda: clock.now)
    monkeypatch.setattr(time, "monotonic", lambda: clock.now)
    return clock


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(BACKUP_VARIABLE, str(tmp_path / "backups"))
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "caches"))
    return tmp_path / "backups"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "work" / "w.plumb"
    path.parent.mkdir()
    with Workspace.create(path) as store:
        store.apply([Warned(None, "first")])
    assert not backups()  # there was nothing to lose
    return path


def write(path: Path, text: str) -> None:
    with Workspace.open(path) as store:
        store.apply([Warned(None, text)])


def texts(path: Path) -> list[str]:
    with Workspace.open(path) as store:
        assert not store.damage()
        return [row.text for row in store.log()]


def test_a_workspace_is_copied_before_it_is_first_changed(path: Path) -> None:
    with Workspace.open(path) as store:
        store.log()
        assert not backups()  # reading is no change
        store.apply([Warned(None, "second")])
    (backup,) = backups()
    assert backup.workspace == path
    assert backup.size == backup.file.stat().st_size
    assert abs(backup.seconds - time.time()) < 60
    assert texts(backup.file) == ["first"]
    assert texts(path) == ["first", "second"]


def test_another_comes_ten_minutes_later(path: Path, clock: Clock) -> None:
    with Workspace.open(path) as store:
        for number in range(3):
            store.apply([Warned(None, f"change {number}")])
        assert len(backups()) == 1
        clock.pass_by(module.BACKUP_SECONDS + 1)
        store.apply([Warned(None, "later")])
    newest, oldest = backups()
    assert texts(oldest.file) == ["first"]
    assert texts(newest.file) == ["first", "change 0", "change 1", "change 2"]
    clock.pass_by(60)
    write(path, "by another process")  # so young a backup is enough
    assert len(backups()) == 2


def test_their_number_is_bounded_and_they_reach_back_for_days(path: Path, clock: Clock) -> None:
    for day in range(10):
        for hour in range(8):
            write(path, f"day {day} hour {hour}")
            clock.pass_by(3600)
        clock.pass_by(DAY - 8 * 3600)
    found = backups()
    assert len(found) == module.RECENT + module.DAYS
    assert found[0].seconds - found[-1].seconds >= 5 * DAY


def test_their_size_is_bounded(path: Path, tmp_path: Path, clock: Clock) -> None:
    BACKUPS.set_limit(1)
    other = tmp_path / "other.plumb"
    with Workspace.create(other) as store:
        store.apply([Warned(None, "x" * 300_000)])
    for number in range(6):
        write(other, f"change {number}")
        write(path, f"change {number}")
        clock.pass_by(3600)
    assert 0 < BACKUPS.size() <= 1_000_000
    with Workspace.create(tmp_path / "large.plumb") as store:
        store.apply([Warned(None, "x" * 2_000_000)])
    before = backups()
    write(tmp_path / "large.plumb", "more")  # larger than all backups may be: there is none
    assert backups() == before
    BACKUPS.clear()
    assert not backups()


def test_another_file_of_the_same_name_has_backups_of_its_own(path: Path, clock: Clock) -> None:
    write(path, "second")
    path.unlink()
    with Workspace.create(path) as store:
        store.apply([Warned(None, "another")])
    write(path, "more")
    assert sorted(texts(item.file)[0] for item in backups()) == ["another", "first"]


def test_a_failing_backup_does_not_prevent_work(path: Path, folder: Path) -> None:
    folder.write_text("no folder")
    write(path, "second")
    assert texts(path) == ["first", "second"]


def test_restoring_replaces_nothing(path: Path) -> None:
    write(path, "second")
    (backup,) = backups()
    present = path.read_bytes()
    restored = restore_backup(Link(), backup)
    assert restored.parent == path.parent
    assert restored != path
    assert texts(restored) == ["first"]
    assert path.read_bytes() == present
    again = restore_backup(Link(), backup)
    assert again not in (path, restored)
    with pytest.raises(UsageError, match="already exists"):
        restore_backup(Link(), backup, path)


def test_a_lost_workspace_comes_back_under_its_name(path: Path) -> None:
    write(path, "second")
    path.unlink()
    (backup,) = backups()
    assert free_place(backup) == path
    assert restore_backup(Link(), backup) == path
    assert texts(path) == ["first"]


def test_a_damaged_workspace_is_restored_beside_it(path: Path) -> None:
    write(path, "second")
    damaged = path.read_bytes()[:5000]
    path.write_bytes(damaged)
    assert main(["bugs", str(path)]) == 2
    assert main(["restore", str(path), "--backup", "1"]) == 0
    assert path.read_bytes() == damaged
    (restored,) = set(path.parent.iterdir()) - {path}
    assert texts(restored) == ["first"]


def test_the_command_lists_and_restores(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["restore", str(path)]) == 0
    assert capsys.readouterr().out == "No backups.\n"
    write(path, "second")
    assert main(["restore", str(path), "--json"]) == 0
    assert f'"workspace": "{path}"' in capsys.readouterr().out
    assert main(["restore", str(tmp_path / "other.plumb")]) == 0
    assert capsys.readouterr().out == "No backups.\n"
    out = tmp_path / "restored.plumb"
    assert main(["restore", "--backup", "1", "--out", str(out)]) == 0
    assert texts(out) == ["first"]
    assert main(["restore", "--backup", "2"]) == 2
    assert "unknown backup 2" in capsys.readouterr().err


def test_strange_files_among_them_are_left_alone(path: Path, folder: Path) -> None:
    write(path, "second")
    (backup,) = backups()
    shutil.copy(backup.file, folder / "0123456789abcdef-20260101T000000.plumb")  # of no workspace
    shutil.copy(backup.file, folder / f"{backup.file.name[:16]}-99999999T999999.plumb")
    (folder / "notes.txt").write_text("mine")
    assert {item.workspace for item in backups()} == {path}


def test_a_backup_of_a_campaign_has_no_writer(path: Path) -> None:
    with Workspace.open(path) as store, store.writing():
        pass
    (backup,) = backups()
    with closing(sqlite3.connect(backup.file)) as connection:
        assert connection.execute("SELECT count(*) FROM writer").fetchone() == (0,)
    assert isinstance(backup, Backup)
