"""The workspace: idempotent, versioned, shared, and clear about what is wrong with a file."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.campaign.config_reader import CampaignConfig
from engine.campaign.inputs import policy_inputs, problem_inputs
from engine.campaign.unit import Unit, run_unit
from engine.errors import UsageError, WorkspaceError
from engine.records.events import BugFound, StateAdded, UnitEvent
from engine.workers.gate import Gate
from engine.workspace import lock as writer
from engine.workspace import schema
from engine.workspace.schema import APPLICATION_ID, MIGRATIONS, migrate, version_of
from engine.workspace.workspace import Workspace

Contents = Callable[[Workspace], dict[str, list[Any]]]
Configure = Callable[..., CampaignConfig]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "w.plumb"


@pytest.fixture
def started(path: Path, configure: Configure) -> tuple[Path, list[UnitEvent], Unit]:
    """A workspace with one unit that is about to run, and the events it will have."""
    config = configure(more='[testing]\noracles = ["ehc", "astar"]\nskip_known_bugs = false\n')
    with Workspace.create(path) as store:
        campaign = store.begin(config, problem_inputs(config), policy_inputs(config), False)
        (unit,) = store.pending(campaign)
    events: list[UnitEvent] = []
    run_unit(unit, events.append, Gate())
    assert sum(isinstance(event, BugFound) for event in events) > 5
    return path, events, unit


def many_bugs(events: list[UnitEvent], count: int) -> list[UnitEvent]:
    """Bugs in made-up states."""
    bug = next(event for event in events if isinstance(event, BugFound))
    return [
        replace(bug, state=(number % 256, number // 256, *bug.state[2:]), seconds=number)
        for number in range(count)
    ]


def test_events_may_come_again_in_any_portion(
    started: tuple[Path, list[UnitEvent], Unit], contents: Contents, tmp_path: Path
) -> None:
    path, events, _ = started
    fresh = tmp_path / "copy.plumb"
    shutil.copy(path, fresh)
    with Workspace.open(path) as store:
        store.apply(events)
        once = contents(store)
        ids = [bug.id for bug in store.bugs()]
    with Workspace.open(fresh) as store:
        for part in (len(events) // 3, len(events) // 2, len(events)):
            store.apply(events[:part])
        assert contents(store) == once
        assert [bug.id for bug in store.bugs()] == ids


def test_units_share_what_they_work_on(path: Path, configure: Configure) -> None:
    """Thousands of them may test one policy of many megabytes."""
    config = configure(more="seeds = [1, 2]\n")
    with Workspace.create(path) as store:
        campaign = store.begin(config, problem_inputs(config), policy_inputs(config), False)
        first, second = store.pending(campaign)
    assert first.problem is second.problem
    assert first.policy is second.policy


def test_what_the_user_decided_is_kept(started: tuple[Path, list[UnitEvent], Unit]) -> None:
    path, events, _ = started
    with Workspace.open(path) as store:
        store.apply(events)
        first, second = store.bugs()[:2]
        store.set_status([first.id, second.id], "confirmed", "seen by me")
        store.set_status([second.id], "ignored")
        store.apply(events)
        rows = {bug.id: (bug.status, bug.note) for bug in store.bugs()}
        assert rows[first.id] == ("confirmed", "seen by me")
        assert rows[second.id] == ("ignored", "seen by me")
        with pytest.raises(UsageError, match="no status"):
            store.set_status([first.id], "perhaps")


def test_a_duplicate_says_of_which_bug(started: tuple[Path, list[UnitEvent], Unit]) -> None:
    path, events, _ = started
    with Workspace.open(path) as store:
        store.apply(events)
        first, second, third = (bug.id for bug in store.bugs()[:3])

        def original(bug: int) -> int | None:
            return store.bug(bug).row.duplicate_of

        store.set_status([second, third], "duplicate", duplicate_of=first)
        assert (original(first), original(second), original(third)) == (None, first, first)
        assert store.bug(second).row.status_text == f"duplicate of {first}"
        store.apply(events)
        assert original(second) == first
        with pytest.raises(UsageError, match=f"bug {second} would be a duplicate of itself"):
            store.set_status([first, second], "duplicate", duplicate_of=second)
        with pytest.raises(UsageError, match=f"bug {first} would be a duplicate of itself"):
            store.set_status([first], "duplicate", duplicate_of=third)
        with pytest.raises(UsageError, match="there is no bug 4711"):
            store.set_status([third], "duplicate", duplicate_of=4711)
        with pytest.raises(UsageError, match="is no duplicate"):
            store.set_status([third], "confirmed", duplicate_of=first)
        assert original(third) == first
        store.set_status([second], "confirmed")
        store.set_status([third], "duplicate")
        assert (original(second), original(third)) == (None, None)


def test_a_finding_can_be_read_whole(started: tuple[Path, list[UnitEvent], Unit]) -> None:
    path, events, _ = started
    last = {event.state: event for event in events if isinstance(event, BugFound)}
    with Workspace.open(path) as store:
        store.apply(events)
        assert len(store.bugs()) == len(last)
        task = store.task(1)
        assert task.hash == store.task_hash(1)
        assert task.source is not None
        for row in store.bugs():
            bug = store.bug(row.id)
            event = last[bug.state]
            assert (row.bound, row.gap, row.kind) == (event.bound, event.gap, event.kind)
            assert bug.run == event.run
            bounds = [bound for bound, _, _ in store.history(row.id)]
            assert bounds == sorted(bounds, reverse=True)
            assert bounds[-1] == event.bound
        assert any(len(store.history(row.id)) > 1 for row in store.bugs())
        assert store.pending(1) == []
        added = [event for event in events if isinstance(event, StateAdded)]
        pool = store.pool(1)
        assert [(row.state, row.walk) for row in pool] == [(e.state, e.operators) for e in added]
        assert {row.outcome for row in pool} <= {"solved", "failed"}
        with pytest.raises(UsageError, match="no bug 999"):
            store.bug(999)


def test_the_same_campaign_is_not_begun_twice(path: Path, configure: Configure) -> None:
    config = configure()
    inputs = problem_inputs(config), policy_inputs(config)
    with Workspace.create(path) as store:
        number = store.begin(config, *inputs, False)
        with pytest.raises(WorkspaceError, match="this very campaign"):
            store.begin(config, *inputs, False)
        assert store.begin(config, *inputs, True) == number
        other = config.with_seeds(5)
        with pytest.raises(UsageError, match="no campaign with this configuration"):
            store.begin(other, *inputs, True)
        assert store.begin(other, *inputs, False) != number


def test_changed_inputs_make_another_campaign(
    path: Path, configure: Configure, folder: Path
) -> None:
    config = configure()
    with Workspace.create(path) as store:
        store.begin(config, problem_inputs(config), policy_inputs(config), False)
        text = (folder / "p2.pddl").read_text()
        (folder / "p2.pddl").write_text(text.replace("(at a) (free)", "(at b) (free)"))
        with pytest.raises(UsageError, match="these inputs"):
            store.begin(config, problem_inputs(config), policy_inputs(config), True)
        assert b"(at a) (free)" in store.problem(1).problem.content


def unusable(path: Path) -> dict[str, Callable[[], None]]:
    def newer() -> None:
        Workspace.create(path).close()
        with sqlite3.connect(path) as connection:
            connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
        connection.close()

    def corrupt() -> None:
        Workspace.create(path).close()
        data = bytearray(path.read_bytes())
        data[4096 : 4096 + 2000] = b"\xff" * 2000
        data[100:200] = b"\xee" * 100
        path.write_bytes(bytes(data))

    def foreign() -> None:
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE asnets_info (parameter TEXT)")
        connection.commit()
        connection.close()

    return {
        "newer Plumbline": newer,
        "damaged": corrupt,
        "not a Plumbline workspace": foreign,
        "is not a Plumbline": lambda: path.write_text("some text " * 500) and None,
        "it is empty": lambda: path.write_text("") and None,
        "no such file": lambda: None,
        "a folder": path.mkdir,
    }


@pytest.mark.parametrize("reason", list(unusable(Path())))
def test_other_files_are_refused_in_plain_words(path: Path, reason: str) -> None:
    unusable(path)[reason]()
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(WorkspaceError, match=reason):
        Workspace.open(path)
    assert (path.read_bytes() if path.is_file() else None) == before


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="folder does not exist"):
        Workspace.create(tmp_path / "none" / "w.plumb")


def test_a_file_whose_first_writer_was_killed_at_once_is_taken_over(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    with Workspace.create(path) as store:
        assert store.campaigns() == []


def test_a_full_disk_keeps_what_was_there(
    started: tuple[Path, list[UnitEvent], Unit], contents: Contents
) -> None:
    path, events, _ = started
    with Workspace.open(path) as store:
        half = len(events) // 2
        store.apply(events[:half])
        before = contents(store)
        (pages,) = store.connection.execute("PRAGMA page_count").fetchone()
        store.connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(WorkspaceError, match="disk is full"):
            store.apply([*events, *many_bugs(events, 300)])
        assert contents(store) == before
        store.connection.execute("PRAGMA max_page_count = 1000000")
        store.apply(events)
        assert store.damage() == ""


def test_only_one_campaign_writes(path: Path) -> None:
    """Another process holds the workspace; when it is killed, the workspace is free."""
    code = (
        "import sys, time; from engine.workspace.workspace import Workspace\n"
        f"store = Workspace.create({str(path)!r}); store.claim(); print('ready', flush=True)\n"
        "time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        with Workspace.open(path) as store:
            with pytest.raises(WorkspaceError, match=f"process {process.pid}"):
                store.claim()
            assert store.bugs() == []  # reading is free
            process.kill()
            process.wait()
            store.claim()
            store.claim()
            store.release()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_writer_elsewhere_counts_as_long_as_it_is_heard(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Workspace.create(path) as store:
        store.claim()
        store.connection.execute("UPDATE writer SET host = 'far-away'")
        with pytest.raises(WorkspaceError, match="far-away"):
            store.claim()
        monkeypatch.setattr(writer, "SILENCE_SECONDS", 0.0)
        store.claim()


def test_a_number_given_to_another_process_is_no_writer(path: Path) -> None:
    with Workspace.create(path) as store:
        store.claim()
        store.connection.execute("UPDATE writer SET pid = ?, process_start = 'long ago'", (1,))
        store.claim()


def test_migrations_run_once_and_in_order(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "m.db", isolation_level=None)
    steps = ["CREATE TABLE a (x); CREATE TABLE b (y);", "ALTER TABLE a ADD COLUMN z;"]
    migrate(connection, steps[:1])
    assert version_of(connection) == 1
    migrate(connection, steps)
    migrate(connection, steps)
    assert version_of(connection) == 2
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, [*steps, "CREATE TABLE c (x); CREATE TABLE a (x);"])
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    assert tables == {"a", "b"}
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    connection.close()


def test_the_first_schema_never_changes() -> None:
    """Files of this version exist: what is different later goes into a new migration."""
    import hashlib

    assert hashlib.sha256(schema.MIGRATIONS[0].encode()).hexdigest()[:16] == FIRST_SCHEMA


FIRST_SCHEMA = "72614db91fc44b53"


def test_a_read_only_workspace_can_be_read(
    started: tuple[Path, list[UnitEvent], Unit], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, events, _ = started
    with Workspace.open(path) as store:
        store.apply(events)
        count = len(store.bugs())
    monkeypatch.setattr(os, "access", lambda *arguments: False)
    with Workspace.open(path) as store:
        assert len(store.bugs()) == count
        with pytest.raises(WorkspaceError, match="cannot be written"):
            store.set_status([1], "confirmed")


def test_many_findings_are_listed_quickly(
    started: tuple[Path, list[UnitEvent], Unit],
) -> None:
    """The plan is 100,000: 5,000 take no full scan per row and little room."""
    path, events, _ = started
    with Workspace.open(path) as store:
        store.apply(events[:2])
        store.apply(many_bugs(events, 5000))
        assert len(store.bugs()) == 5000
        plan = store.connection.execute(
            "EXPLAIN QUERY PLAN SELECT * FROM findings WHERE unit = 1 AND state = 5"
        ).fetchall()
        assert "INDEX" in str(plan)
    assert path.stat().st_size < 5000 * 600
