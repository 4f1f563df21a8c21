"""Locks that are lost and files that are exchanged: no workspace is destroyed by it.

Closing any descriptor of a file drops the POSIX locks of the whole process on it, and SQLite's
are such locks. A file dialog that tells the type of a file does it.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from reference.forging import forge

from engine.errors import WorkspaceError
from engine.records.events import Warned
from engine.records.project import Project
from engine.workspace.companions import Header
from engine.workspace.workspace import Workspace

WRITER = """
import sys
from engine.records.events import Warned
from engine.workspace.workspace import Workspace
sys.stdin.readline()
print("begun", flush=True)
with Workspace.open(sys.argv[1]) as store:
    store.apply([Warned(None, "other")])
print("done", flush=True)
"""
KILLED = """
import os, signal, sys
from engine.records.events import Warned
from engine.workspace.event_writer import EventWriter
from engine.workspace.workspace import Workspace
with Workspace.open(sys.argv[1]) as store, store._connection.writing() as connection:
    connection.execute("PRAGMA cache_size = 4")  # pages are written before the end
    writer = EventWriter(connection)
    for number in range(2000):
        writer.write(Warned(None, f"half done {number}"))
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "w.plumb"
    with Workspace.create(path) as store:
        store.apply([Warned(None, f"first {number}") for number in range(500)])
    return path


class OtherProcess:
    """Writes to a workspace when it is told to, and says when it is done."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def write(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "begun\n"

    def is_done(self, seconds: float) -> bool:
        assert self._process.stdout is not None
        return bool(select.select([self._process.stdout], [], [], seconds)[0])


@pytest.fixture
def other(path: Path) -> Iterator[OtherProcess]:
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield OtherProcess(process)
        process.kill()


def locks(path: Path) -> set[str]:
    """The kinds of locks that there are on a file."""
    return {line.split()[1] for line in _locks(path)}


def is_being_written(path: Path) -> bool:
    return any("WRITE" in line for line in _locks(path))


def _locks(path: Path) -> list[str]:
    number = f":{path.stat().st_ino} "
    return [line for line in Path("/proc/locks").read_text().splitlines() if number in line]


def open_and_close(path: Path) -> None:
    os.close(os.open(path, os.O_RDONLY))


def is_whole(path: Path, *texts: str) -> bool:
    with Workspace.open(path) as store:
        found = {row.text for row in store.log()}
        return not store.damage() and found >= {"first 0", "first 499", *texts}


def test_a_writer_that_loses_its_locks_is_not_disturbed(path: Path, other: OtherProcess) -> None:
    with Workspace.open(path) as store:
        with store._connection.writing() as connection:
            connection.execute("UPDATE log SET text = 'changed' WHERE text = 'first 1'")
            assert locks(path) == {"POSIX", "OFDLCK"}
            open_and_close(path)
            assert locks(path) == {"OFDLCK"}
            other.write()
            assert not other.is_done(0.3)  # it waits for us
            connection.execute("UPDATE log SET text = 'again' WHERE text = 'first 2'")
        assert other.is_done(60)
    assert locks(path) == set()
    assert is_whole(path, "changed", "again", "other")


def test_a_reader_that_loses_its_locks_sees_one_moment(path: Path, other: OtherProcess) -> None:
    with Workspace.open(path) as store:
        with store._connection.reading():
            before = store.log()
            open_and_close(path)
            other.write()
            assert not other.is_done(0.3)
            assert store.log() == before
        assert other.is_done(60)
        assert len(store.log()) == len(before) + 1


def test_what_is_written_after_another_process_was_the_last_is_kept(path: Path) -> None:
    """The cancelled dialog: files are read beside the open workspace, then others write to it."""
    with Workspace.open(path) as window:
        for number in range(3):
            for file in path.parent.iterdir():
                open_and_close(file)
            subprocess.run([sys.executable, "-c", WRITER, str(path)], input=b"\n", check=True)
            window.apply([Warned(None, f"decision {number}")])
            assert len(window.log()) == 500 + 2 * (number + 1)
        assert os.listdir(path.parent) == [path.name]  # nothing that could be taken away
    assert is_whole(path, "other", "decision 0", "decision 1", "decision 2")


def test_writers_come_before_readers_that_keep_reading(path: Path, other: OtherProcess) -> None:
    with Workspace.open(path) as store, Workspace.open(path) as late:
        with store._connection.reading():
            other.write()
            while not is_being_written(path):
                time.sleep(0.01)
            late.interrupt()  # it would wait for the writer
            with pytest.raises(WorkspaceError, match="has locked the file"):
                late.log()
            assert len(store.log()) == 500
        assert other.is_done(60)
        assert len(store.log()) == 501


# a backup in place of an open workspace


def header(path: Path) -> Header:
    found = Header.of(path.read_bytes()[:100])
    assert found is not None
    return found


def test_a_backup_that_is_copied_over_an_open_workspace_replaces_it(path: Path) -> None:
    backup = path.with_name("backup.plumb")
    with Workspace.open(path) as store:
        store.save_copy(backup)
        while header(path).counter < header(backup).counter:
            store.set_project(Project(domain="/newer"))
        while header(path).counter > header(backup).counter:
            forge(backup, "UPDATE log SET level = 'info' WHERE text = 'first 0'")
        store.apply([])
        forge(backup, "UPDATE log SET text = 'of the backup' WHERE text = 'first 3'")
        assert header(path).counter == header(backup).counter  # nothing else tells them apart
        assert store.log()
        shutil.copyfile(backup, path)
        store.apply([Warned(None, "later")])
        texts = {row.text for row in store.log()}
        assert {"of the backup", "later"} <= texts
        assert "first 3" not in texts
        assert store.project() == Project()
    assert is_whole(path, "of the backup", "later")


def test_a_backup_that_is_moved_over_an_open_workspace_is_not_touched(path: Path) -> None:
    backup = path.with_name("backup.plumb")
    with Workspace.open(path) as store:
        store.save_copy(backup)
        content = backup.read_bytes()
        backup.replace(path)
        with pytest.raises(WorkspaceError, match="deleted, moved or replaced"):
            store.apply([Warned(None, "into the void")])
        assert len(store.log()) == 500
        store.save_copy(path.with_name("before.plumb"))
    assert path.read_bytes() == content
    assert is_whole(path.with_name("before.plumb"))


@pytest.fixture
def journal(path: Path) -> Path:
    """Left by a process that was killed in the middle of a transaction."""
    process = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert process.returncode == -signal.SIGKILL
    journal = path.with_name(f"{path.name}-journal")
    assert journal.read_bytes()[:8].hex() == "d9d505f920a163d7"
    return journal


def test_a_killed_writer_leaves_no_trace(path: Path, journal: Path) -> None:
    with Workspace.open(path) as store:
        assert [row.text for row in store.log()] == [f"first {number}" for number in range(500)]
        assert not store.damage()
    assert not journal.exists()


def test_an_open_window_continues_after_a_writer_was_killed(path: Path) -> None:
    with Workspace.open(path) as window, closing(window.for_another_thread()) as reader:
        subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
        assert len(reader.log()) == 500
        window.apply([Warned(None, "decision")])
    assert is_whole(path, "decision")


@pytest.mark.parametrize("origin", ["a backup", "an older copy", "another workspace"])
def test_the_journal_of_another_file_is_kept_apart(path: Path, tmp_path: Path, origin: str) -> None:
    restored = tmp_path / "restored.plumb"
    with Workspace.open(path) as store:
        if origin == "a backup":
            store.save_copy(restored)
        elif origin == "an older copy":
            shutil.copyfile(path, restored)
        for number in range(3):
            store.apply([Warned(None, f"more {number}")])
    if origin == "another workspace":
        with Workspace.create(restored) as store:
            while header(restored).counter < header(path).counter:
                store.apply([Warned(None, "first 0"), Warned(None, "first 499")])
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    left = path.with_name(f"{path.name}-journal")
    content, journal = restored.read_bytes(), left.read_bytes()
    shutil.copyfile(restored, path)
    with pytest.raises(WorkspaceError, match=r"w\.plumb-journal does not belong"):
        Workspace.open(path)
    assert (path.read_bytes(), left.read_bytes()) == (content, journal)
    left.rename(tmp_path / "aside")
    assert is_whole(path)
