"""Untrusted folders: links, pipes, companions and strange names beside and instead of files.

Every command that opens a workspace, and the window, refuses what is not one, waits for nothing,
follows nothing out of the folder, and leaves everything in it as it was.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from app.services.document import Document
from engine.campaign.recognize import Role, recognize_file
from engine.cli import main
from engine.errors import WorkspaceError

PATIENCE = 120.0
COMMANDS = ("bugs", "changes", "verify", "report", "export", "localize", "campaign")


def words(command: str, workspace: Path, out: Path) -> list[str]:
    if command == "campaign":
        return ["campaign", str(out / "none.toml"), "--out", str(workspace), "--resume"]
    options = {
        "report": ["--out", str(out / "r.html")],
        "export": ["--bug", "1", "--out", str(out)],
        "localize": ["--bug", "1"],
    }
    return [command, str(workspace), *options.get(command, [])]


def contents(folder: Path) -> dict[str, str]:
    """What lies in a folder, and what is in it."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = os.fsencode(path.relative_to(folder)).hex()
        if path.is_symlink():
            found[name] = f"link to {os.readlink(path)}"
        elif path.is_file():
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        else:
            found[name] = oct(path.lstat().st_mode)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "stranger"
    folder.mkdir()
    return folder


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def pipe(folder: Path, sound: Path) -> None:
    os.mkfifo(folder / "w.plumb")


def empty(folder: Path, sound: Path) -> None:
    (folder / "w.plumb").touch()


def inner_folder(folder: Path, sound: Path) -> None:
    (folder / "w.plumb").mkdir()


def listening_socket(folder: Path, sound: Path) -> None:
    """Its name may not be long, so it is made from within."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("w.plumb")
    finally:
        os.chdir(before)


def device(folder: Path, sound: Path) -> None:
    (folder / "w.plumb").symlink_to("/dev/zero")


def link_to_itself(folder: Path, sound: Path) -> None:
    (folder / "w.plumb").symlink_to("w.plumb")


def dangling_link(folder: Path, sound: Path) -> None:
    (folder / "w.plumb").symlink_to("nowhere")


def link_to_a_secret(folder: Path, sound: Path) -> None:
    (folder / "w.plumb").symlink_to("/etc/passwd")


def link_to_memory(folder: Path, sound: Path) -> None:
    (folder / "w.plumb").symlink_to("/proc/self/mem")


def foreign_journal(folder: Path, sound: Path) -> None:
    shutil.copy(sound, folder / "w.plumb")
    (folder / "w.plumb-journal").write_bytes(os.urandom(5000))


def linked_journal(folder: Path, sound: Path) -> None:
    shutil.copy(sound, folder / "w.plumb")
    (folder / "thesis.tex").write_text("mine")
    (folder / "w.plumb-journal").symlink_to("thesis.tex")


def foreign_log(folder: Path, sound: Path) -> None:
    shutil.copy(sound, folder / "w.plumb")
    (folder / "w.plumb-wal").write_bytes(os.urandom(5000))
    (folder / "w.plumb-shm").write_bytes(bytes(32768))


def piped_log(folder: Path, sound: Path) -> None:
    shutil.copy(sound, folder / "w.plumb")
    os.mkfifo(folder / "w.plumb-wal")


FOLDERS: dict[str, Callable[[Path, Path], None]] = {
    make.__name__: make
    for make in (
        *(pipe, empty, inner_folder, listening_socket, device, link_to_itself, dangling_link),
        *(link_to_a_secret, link_to_memory),
        *(foreign_journal, linked_journal, foreign_log, piped_log),
    )
}


@pytest.mark.parametrize("kind", FOLDERS)
def test_every_command_refuses_it_and_changes_nothing(
    folder: Path, sound: Path, out: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    FOLDERS[kind](folder, sound)
    before = contents(folder)
    for command in COMMANDS:
        assert main(words(command, folder / "w.plumb", out)) == 2, command
        error = capsys.readouterr().err
        assert error.startswith("error: "), command
        assert "Traceback" not in error
    assert contents(folder) == before
    assert contents(out) == {}


@pytest.mark.parametrize("kind", FOLDERS)
def test_the_window_refuses_it_and_changes_nothing(folder: Path, sound: Path, kind: str) -> None:
    FOLDERS[kind](folder, sound)
    before = contents(folder)
    with pytest.raises(WorkspaceError):
        Document.open(folder / "w.plumb")
    assert contents(folder) == before


@pytest.mark.parametrize("kind", ["pipe", "listening_socket", "device", "piped_log"])
def test_no_process_waits_for_it(folder: Path, sound: Path, kind: str) -> None:
    FOLDERS[kind](folder, sound)
    command = [sys.executable, "-P", "-m", "engine.cli", "bugs", str(folder / "w.plumb")]
    done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == 2


NAMES = (
    "x" * 255,
    "-rf",
    "--help",
    "a\nb",
    " ",
    "~",
    "$(touch owned)",
    "%s%n",
    "\udcff\udcfe",
    "…",
)


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_strange_names_are_names(folder: Path, sound: Path, out: Path, name: str) -> None:
    path = folder / name
    shutil.copy(sound, path)
    assert main(["bugs", str(path)]) == 0
    assert main(words("report", path, out)) == 0
    assert sorted(os.listdir(folder)) == [name]


def test_names_that_no_file_can_have(folder: Path) -> None:
    for name in ("x" * 5000, "a\0b", "/".join("x" * 200 for _ in range(30))):
        assert main(["bugs", str(folder / name)]) == 2


def test_what_is_dropped_on_the_window_is_recognized_without_waiting(
    folder: Path, sound: Path
) -> None:
    for kind in ("pipe", "device", "link_to_itself"):
        inner = folder / kind
        inner.mkdir()
        FOLDERS[kind](inner, sound)
        for suffix in ("plumb", "pddl", "pt", "toml"):
            path = inner / f"f.{suffix}"
            (inner / "w.plumb").rename(path)
            assert recognize_file(path).role is Role.UNKNOWN, path
            path.rename(inner / "w.plumb")
