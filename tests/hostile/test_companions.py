"""Untrusted files beside a workspace: SQLite would obey them, so they are refused."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from engine.cli import main
from engine.errors import WorkspaceError
from engine.workspace.workspace import Workspace

JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
SECTOR, PAGE = 512, 4096


def journal_naming(victim: Path, workspace: Path, *, fits: bool) -> bytes:
    """A journal that changes nothing and names a journal of several databases.

    If it `fits` it begins as that of a transaction in this workspace: with its first page.
    """
    content = workspace.read_bytes()
    numbers = (int(fits), 0, len(content) // PAGE, SECTOR, PAGE)
    start = JOURNAL_MAGIC + b"".join(map(_bytes, numbers))
    page = content[:PAGE]
    first = _bytes(1) + page + _bytes(sum(page[PAGE - 200 : 0 : -200]))
    name = os.fsencode(victim)
    checksum = sum(byte if byte < 128 else byte - 256 for byte in name) % 2**32
    return (
        start.ljust(SECTOR, b"\0")
        + (first if fits else b"")
        + _bytes(0x40000000 // PAGE + 1)
        + name
        + _bytes(len(name))
        + _bytes(checksum)
        + JOURNAL_MAGIC
    )


def _bytes(number: int) -> bytes:
    return number.to_bytes(4, "big")


@pytest.fixture
def workspace(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(sound, tmp_path / "w.plumb"))


@pytest.mark.parametrize("fits", [False, True])
def test_sqlite_itself_deletes_what_such_a_journal_names(
    workspace: Path, victim: Path, fits: bool
) -> None:
    """Or else the next test would test nothing."""
    Path(f"{workspace}-journal").write_bytes(journal_naming(victim, workspace, fits=fits))
    with closing(sqlite3.connect(workspace)) as connection:
        connection.execute("SELECT count(*) FROM findings").fetchone()
    assert not victim.exists()


@pytest.mark.parametrize("fits", [False, True])
@pytest.mark.parametrize("command", ["bugs", "verify", "report", "export", "localize"])
def test_no_command_deletes_what_a_journal_names(
    workspace: Path, victim: Path, tmp_path: Path, command: str, fits: bool
) -> None:
    journal = Path(f"{workspace}-journal")
    journal.write_bytes(journal_naming(victim, workspace, fits=fits))
    before = workspace.read_bytes(), journal.read_bytes()
    options = {"report": ["--out", str(tmp_path / "r.html")], "localize": ["--all"]}
    options["export"] = ["--bug", "1", "--out", str(tmp_path / "out")]
    with suppress(SystemExit):
        assert main([command, str(workspace), *options.get(command, [])]) == 2
    assert victim.read_text() == "mine"
    assert (workspace.read_bytes(), journal.read_bytes()) == before


def test_a_journal_that_would_empty_the_file_is_refused(workspace: Path) -> None:
    numbers = (0xFFFFFFFF, 0, 0, 512, 4096)
    start = JOURNAL_MAGIC + b"".join(number.to_bytes(4, "big") for number in numbers)
    Path(f"{workspace}-journal").write_bytes(start.ljust(512, b"\0"))
    with pytest.raises(WorkspaceError, match="does not belong"):
        Workspace.open(workspace)
    assert workspace.stat().st_size > 0


@pytest.mark.parametrize("ending", ["-journal", "-wal"])
@pytest.mark.parametrize("kind", ["noise", "link", "pipe", "folder"])
def test_whatever_lies_beside_it_is_neither_used_nor_deleted(
    workspace: Path, victim: Path, ending: str, kind: str
) -> None:
    companion = Path(f"{workspace}{ending}")
    match kind:
        case "noise":
            companion.write_bytes(os.urandom(5000))
        case "link":
            companion.symlink_to(victim)
        case "pipe":
            os.mkfifo(companion)
        case "folder":
            companion.mkdir()
    with pytest.raises(WorkspaceError, match=f"w.plumb{ending} does not belong"):
        Workspace.open(workspace)
    assert os.path.lexists(companion)
    assert victim.read_text() == "mine"


def test_a_foreign_log_is_not_played_into_the_workspace(
    workspace: Path, sound: Path, tmp_path: Path
) -> None:
    """As it happens when a backup replaces a file that another program had open."""
    other = Path(shutil.copy(sound, tmp_path / "other.plumb"))
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("DELETE FROM history")
        connection.commit()
        for ending in ("-wal", "-shm"):
            shutil.copy(f"{other}{ending}", f"{workspace}{ending}")
    before = workspace.read_bytes(), Path(f"{workspace}-wal").read_bytes()
    with pytest.raises(WorkspaceError, match=r"w\.plumb-wal does not belong"):
        Workspace.open(workspace)
    assert (workspace.read_bytes(), Path(f"{workspace}-wal").read_bytes()) == before


def test_a_file_that_was_changed_to_another_mode_is_refused(workspace: Path) -> None:
    with closing(sqlite3.connect(workspace)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    with pytest.raises(WorkspaceError, match="write-ahead log"):
        Workspace.open(workspace)
    with closing(sqlite3.connect(workspace)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    Workspace.open(workspace).close()
