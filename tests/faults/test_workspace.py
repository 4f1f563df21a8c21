"""The file of a workspace is locked, deleted, moved, cut or broken while a campaign writes to it.

The campaign ends with a sentence, what was committed is safe or saved elsewhere, and taken up again
it comes to the findings of a campaign that was never disturbed. Full disks have a module of
their own.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reference.bug_workspace import InThreads
from reference.faulty import Bench, findings
from reference.recording_link import RecordingLink

from engine.campaign.config_reader import read_config
from engine.errors import PlumblineError, WorkspaceError
from engine.records.config import CampaignConfig
from engine.records.events import CampaignEvent, FindingReported
from engine.usecases.campaign import run
from engine.verify.stored import refuse_damaged
from engine.workspace import connection, lock
from engine.workspace.workspace import Workspace

LOCKER = """\
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read()
"""


class Locker:
    """Another program that has the file for itself."""

    def __init__(self, path: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", LOCKER, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"locked\n"

    def end(self) -> None:
        self._process.communicate()


class Disturbance:
    """Does something once, when a campaign has found its first bugs."""

    def __init__(self, fault: Callable[[], object], bugs: int = 3) -> None:
        self._fault, self._left = fault, bugs

    def hear(self, event: CampaignEvent) -> None:
        if isinstance(event, FindingReported):
            self._left -= 1
            if self._left == 0:
                self._fault()


@pytest.fixture
def config(bench: Bench) -> CampaignConfig:
    return read_config(bench.folder / "campaign.toml")


@pytest.fixture
def path(bench: Bench) -> Path:
    (bench.folder / "place").mkdir()
    return bench.folder / "place" / "w.plumb"


def disturbed(config: CampaignConfig, path: Path, fault: Callable[[], object]) -> None:
    with Workspace.create(path) as store:
        run(config, store, RecordingLink(hear=Disturbance(fault).hear), executor=InThreads(1))


def taken_up(config: CampaignConfig, path: Path) -> set[Any]:
    with Workspace.create(path) as store:
        assert run(config, store, executor=InThreads(1), resume=True).finished
        return findings(store.path)


def test_a_lock_that_lasts_is_named_and_costs_nothing(
    config: CampaignConfig, path: Path, expected: set[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "PATIENCE_SECONDS", 0.3)
    lockers: list[Locker] = []
    with pytest.raises(WorkspaceError, match="has locked the file; close it, then try again"):
        disturbed(config, path, lambda: lockers.append(Locker(path)))
    with (
        pytest.raises(WorkspaceError, match="another program has locked the file"),
        Workspace.create(path) as new,
    ):
        run(config, new, executor=InThreads(1), resume=True)
    lockers[0].end()
    assert taken_up(config, path) == expected


def test_a_short_lock_is_waited_for(config: CampaignConfig, path: Path, expected: set[Any]) -> None:
    lockers: list[Locker] = []

    def lock_for_a_moment() -> None:
        """The lock goes while the campaign waits for it."""
        lockers.append(Locker(path))
        threading.Timer(0.3, lockers[0].end).start()

    disturbed(config, path, lock_for_a_moment)
    assert lockers
    with Workspace.open(path) as store:
        assert findings(store.path) == expected


def other_file(path: Path) -> None:
    aside = path.with_name("other")
    aside.write_bytes(b"")
    aside.replace(path)


@pytest.mark.parametrize(
    "fault",
    [Path.unlink, lambda path: path.rename(path.with_name("moved.plumb")), other_file],
    ids=["deleted", "moved", "replaced"],
)
def test_a_file_that_is_gone_is_noticed_and_saved(
    fault: Callable[[Path], object],
    config: CampaignConfig,
    path: Path,
    expected: set[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(WorkspaceError, match=r"deleted, moved or replaced.*w-rescued.plumb"):
        disturbed(config, path, lambda: fault(path))
    rescued = path.with_name("w-rescued.plumb")
    with Workspace.open(rescued) as store:
        assert len(store.bugs()) >= 3
        assert findings(store.path) <= expected
    assert taken_up(config, rescued) == expected


def test_nothing_is_written_to_a_file_without_a_name(
    config: CampaignConfig, path: Path, expected: set[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However seldom it looks by itself, it looks before every write."""
    monkeypatch.setattr(lock, "HEARTBEAT_SECONDS", 1e6)
    with pytest.raises(WorkspaceError, match=r"deleted, moved or replaced"):
        disturbed(config, path, path.unlink)
    with Workspace.open(path.with_name("w-rescued.plumb")) as store:
        saved = findings(store.path)
    assert saved
    assert saved <= expected


def test_its_whole_folder_is_removed(
    config: CampaignConfig, path: Path, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(bench.folder / "home"))
    (bench.folder / "home").mkdir(exist_ok=True)
    with pytest.raises(WorkspaceError, match=r"home.w-rescued.plumb"):
        disturbed(config, path, lambda: shutil.rmtree(path.parent))
    with Workspace.open(bench.folder / "home" / "w-rescued.plumb") as store:
        assert store.bugs()


def test_without_permissions_it_continues_to_write(
    config: CampaignConfig, path: Path, expected: set[Any]
) -> None:
    """An open file needs none."""

    def forbid() -> None:
        path.chmod(0o444)
        path.parent.chmod(0o555)

    try:
        disturbed(config, path, forbid)
    finally:
        path.parent.chmod(0o755)
    with Workspace.open(path) as store:
        assert findings(store.path) == expected


def test_a_file_that_is_cut_is_noticed(config: CampaignConfig, path: Path) -> None:
    """Without a check it would be noticed only when the file is read, long after."""
    shutil.copy(_enlarged(config, path), path)
    with pytest.raises(WorkspaceError, match=r"cut the file|damaged|cannot be written or read"):
        disturbed(config, path, lambda: os.truncate(path, 512))


def _enlarged(config: CampaignConfig, path: Path) -> Path:
    """A workspace that another campaign has filled before."""
    other = path.with_name("other.plumb")
    with Workspace.create(other) as store:
        run(config.with_seeds(9), store, executor=InThreads(1))
    return other


def test_a_disk_that_fails_is_reported(config: CampaignConfig, path: Path) -> None:
    """Writing gives an error of the system, as on a disk that was pulled out."""

    def fail() -> None:
        """The first descriptor is ours, for the lock; the second is SQLite's."""
        entries = Path("/proc/self/fd").iterdir()
        of_file = [int(entry.name) for entry in entries if Path(entry).resolve() == path.resolve()]
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, max(of_file))
        os.close(nothing)

    with pytest.raises(WorkspaceError, match=r"disk cannot be read or written.*check that"):
        disturbed(config, path, fail)


def test_any_damage_ends_in_a_sentence(workspace: Path, bench: Bench) -> None:
    """Whatever is overwritten, nothing but our own errors come out, and `verify` notices."""
    whole = workspace.read_bytes()
    said = []
    for seed in range(25):
        chance = random.Random(seed)
        data = bytearray(whole)
        for _ in range(chance.randrange(1, 4)):
            start = chance.randrange(len(data))
            data[start : start + 512] = chance.randbytes(len(data[start : start + 512]))
        broken = bench.folder / f"broken-{seed}.plumb"
        broken.write_bytes(data)
        try:
            read_everything(broken)
        except PlumblineError as error:
            said.append(str(error))
    assert len(said) > 5
    assert [text for text in said if "; " not in text] == []  # each says what to do


def read_everything(path: Path) -> None:
    with Workspace.open(path) as store:
        refuse_damaged(store)
        for row in store.bugs():
            store.bug(row.id)
            store.localization(row.id)
        for campaign in store.campaigns():
            store.pending(campaign.id)


def test_commands_on_a_broken_file_say_it_in_one_line(workspace: Path, bench: Bench) -> None:
    with workspace.open("r+b") as file:
        file.seek(100)
        file.write(os.urandom(4000))
    for command in (("bugs",), ("report", "--out", "r.html")):
        name, *options = command
        said = bench.plumbline(name, workspace.name, *options)
        assert said.code == 2
        (line,) = said.lines
        assert line.startswith("error: carter.plumb: ")
        assert "; " in line  # what to do
    assert not (bench.folder / "r.html").exists()


def test_a_writer_is_heard_of_although_nothing_happens(
    config: CampaignConfig, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a pause, or while a task is translated for minutes, the file stays locked."""
    from engine.workspace import lock as writer

    monkeypatch.setattr(writer, "HEARTBEAT_SECONDS", 0.0)
    heard: set[float] = set()

    def beats() -> bool:
        """Asked ten times a second, also in the pause."""
        if path.exists():
            with Workspace.open(path) as other:
                heard.update(row["heartbeat"] for row in other.dump()["writer"])
        return len(heard) > 5

    with Workspace.create(path) as store:
        run(
            config,
            store,
            RecordingLink(cancelled=beats, paused=lambda: True),
            executor=InThreads(1),
        )
    assert len(heard) > 5
