"""The workspace: idempotent, versioned, shared, and clear about what is wrong with a file."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from reference.faulty import writer_elsewhere
from reference.forging import forge
from reference.recording_link import RecordingLink

from engine.campaign.inputs import policy_inputs, problem_inputs
from engine.campaign.unit import run_unit
from engine.errors import UsageError, WorkspaceError
from engine.records.config import CampaignConfig, Unit
from engine.records.events import FindingReported, StateAdded, UnitEvent, Warned
from engine.records.finding import BugStatus
from engine.records.project import Project
from engine.workspace import guard, lock, schema
from engine.workspace.event_writer import NO_CHANGES, Changes
from engine.workspace.lock import Writer
from engine.workspace.rows import LogRow
from engine.workspace.schema import VERSION
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
    link = RecordingLink()
    run_unit(link, unit)
    events = link.events
    assert sum(isinstance(event, FindingReported) for event in events) > 5
    return path, events, unit


def many_bugs(events: list[UnitEvent], count: int) -> list[UnitEvent]:
    """Bugs in made-up states."""
    bug = next(event for event in events if isinstance(event, FindingReported))
    states = ((number % 256, number // 256, *bug.finding.state[2:]) for number in range(count))
    return [
        replace(bug, finding=replace(bug.finding, state=state), seconds=number)
        for number, state in enumerate(states)
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
        store.set_status([first.id, second.id], BugStatus.CONFIRMED, "seen by me")
        store.set_status([second.id], BugStatus.IGNORED)
        store.apply(events)
        rows = {bug.id: (bug.status, bug.note) for bug in store.bugs()}
        assert rows[first.id] == ("confirmed", "seen by me")
        assert rows[second.id] == ("ignored", "seen by me")


def test_every_decision_can_be_taken_back_and_made_again(
    started: tuple[Path, list[UnitEvent], Unit],
) -> None:
    path, events, _ = started
    with Workspace.open(path) as store:
        store.apply(events)
        first, second, third = numbers = [bug.id for bug in store.bugs()[:3]]

        def decisions() -> list[tuple[BugStatus, str, int | None]]:
            return [(row.status, row.note, row.duplicate_of) for row in store.bug_rows(numbers)]

        seen, undos = [decisions()], []
        for decide in (
            lambda: store.set_status([first, second], BugStatus.CONFIRMED, "seen by me"),
            lambda: store.set_status([second, third], BugStatus.DUPLICATE, duplicate_of=first),
            lambda: store.set_note([first, third], "the same"),
            lambda: store.set_status(numbers, BugStatus.IGNORED),
        ):
            undos.append(decide())
            seen.append(decisions())
        assert [[old.bug for old in undo] for undo in undos] == [
            [first, second],
            [second, third],
            [first, third],
            numbers,
        ]
        assert len({tuple(state) for state in seen}) == 5
        redos = []
        for undo, expected in zip(reversed(undos), reversed(seen[:-1]), strict=True):
            redos.append(store.undo(undo))
            assert decisions() == expected
        for redo, expected in zip(reversed(redos), seen[1:], strict=True):
            store.undo(redo)
            assert decisions() == expected


def test_a_duplicate_says_of_which_bug(started: tuple[Path, list[UnitEvent], Unit]) -> None:
    path, events, _ = started
    with Workspace.open(path) as store:
        store.apply(events)
        first, second, third = (bug.id for bug in store.bugs()[:3])

        def original(bug: int) -> int | None:
            return store.bug(bug).row.duplicate_of

        store.set_status([second, third], BugStatus.DUPLICATE, duplicate_of=first)
        assert (original(first), original(second), original(third)) == (None, first, first)
        assert store.bug(second).row.status_text == f"duplicate of {first}"
        store.apply(events)
        assert original(second) == first
        with pytest.raises(UsageError, match=f"bug {second} would be a duplicate of itself"):
            store.set_status([first, second], BugStatus.DUPLICATE, duplicate_of=second)
        with pytest.raises(UsageError, match=f"bug {first} would be a duplicate of itself"):
            store.set_status([first], BugStatus.DUPLICATE, duplicate_of=third)
        with pytest.raises(UsageError, match="unknown bug 4711"):
            store.set_status([third], BugStatus.DUPLICATE, duplicate_of=4711)
        with pytest.raises(UsageError, match="cannot be a duplicate"):
            store.set_status([third], BugStatus.CONFIRMED, duplicate_of=first)
        assert original(third) == first
        store.set_status([second], BugStatus.CONFIRMED)
        store.set_status([third], BugStatus.DUPLICATE)
        assert (original(second), original(third)) == (None, None)


def test_a_finding_can_be_read_whole(started: tuple[Path, list[UnitEvent], Unit]) -> None:
    path, events, _ = started
    reported = [event.finding for event in events if isinstance(event, FindingReported)]
    last = {finding.state: finding for finding in reported}
    with Workspace.open(path) as store:
        store.apply(events)
        assert len(store.bugs()) == len(last)
        task = store.task(1)
        assert task.hash == store.task_hash(1)
        assert task.source is not None
        for row in store.bugs():
            bug = store.bug(row.id)
            assert bug.finding == last[bug.finding.state]
            assert (row.bound, row.gap) == (bug.finding.bound, bug.finding.gap)
            bounds = [bound for bound, _, _ in store.history(row.id)]
            assert bounds == sorted(bounds, reverse=True)
            assert bounds[-1] == bug.finding.bound
        assert any(len(store.history(row.id)) > 1 for row in store.bugs())
        assert store.pending(1) == []
        added = [event for event in events if isinstance(event, StateAdded)]
        pool = store.pool(1)
        assert [(row.state, row.walk) for row in pool] == [(e.state, e.operators) for e in added]
        assert {row.outcome for row in pool} <= {"solved", "failed"}
        with pytest.raises(UsageError, match="unknown bug 999"):
            store.bug(999)


def test_the_same_campaign_is_not_begun_twice(path: Path, configure: Configure) -> None:
    config = configure()
    inputs = problem_inputs(config), policy_inputs(config)
    with Workspace.create(path) as store:
        number = store.begin(config, *inputs, False)
        with pytest.raises(WorkspaceError, match="this campaign already exists"):
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
        forge(path, f"PRAGMA user_version = {VERSION + 1}")

    def corrupt() -> None:
        Workspace.create(path).close()
        data = bytearray(path.read_bytes())
        data[4096 : 4096 + 2000] = b"\xff" * 2000
        data[100:200] = b"\xee" * 100
        path.write_bytes(bytes(data))

    def foreign() -> None:
        forge(path, "CREATE TABLE asnets_info (parameter TEXT)")

    return {
        "newer Plumbline": newer,
        "damaged": corrupt,
        "not a Plumbline workspace": foreign,
        "is not a Plumbline": lambda: path.write_text("some text " * 500) and None,
        "it is empty": lambda: path.write_text("") and None,
        "does not exist": lambda: None,
        "a folder": path.mkdir,
    }


@pytest.mark.parametrize("reason", list(unusable(Path())))
def test_other_files_are_refused_in_plain_words(path: Path, reason: str) -> None:
    unusable(path)[reason]()
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(WorkspaceError, match=reason):
        Workspace.open(path)
    assert (path.read_bytes() if path.is_file() else None) == before


OLD = """
PRAGMA journal_mode = WAL;
CREATE TABLE campaigns (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, config TEXT NOT NULL,
    created REAL NOT NULL, seconds REAL NOT NULL DEFAULT 0, status TEXT NOT NULL DEFAULT 'running');
CREATE TABLE log (id INTEGER PRIMARY KEY, time REAL NOT NULL, level TEXT NOT NULL, unit INTEGER,
    text TEXT NOT NULL);
INSERT INTO campaigns (key, config, created) VALUES ('k', '{}', 0);
PRAGMA user_version = 8;
PRAGMA application_id = 1347177794;
"""
"""The way in which version 0.1 wrote, and some of its tables."""


@pytest.mark.parametrize("is_open", [False, True], ids=["closed", "with its log"])
def test_a_workspace_of_version_0_1_is_refused_and_not_touched(path: Path, is_open: bool) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(OLD)
        if is_open:
            connection.execute("PRAGMA wal_checkpoint")
            connection.execute("INSERT INTO log (time, level, text) VALUES (0, 'info', 'new')")
            connection.commit()
            for file in list(path.parent.iterdir()):  # as a killed process leaves them
                shutil.copy(file, file.with_name(file.name.replace("w.plumb", "old.plumb")))
    if is_open:
        path = path.with_name("old.plumb")
    before = {file: file.read_bytes() for file in path.parent.iterdir()}
    assert (path.with_name("old.plumb-wal") in before) is is_open
    for open_it in (Workspace.open, Workspace.create):
        with pytest.raises(WorkspaceError, match=r"made by Plumbline 0\.1; run the campaign again"):
            open_it(path)
    assert {file: file.read_bytes() for file in path.parent.iterdir()} == before


def test_what_was_committed_is_on_the_disk(path: Path) -> None:
    with Workspace.create(path) as store:
        assert path.read_bytes()[18:20] == b"\1\1"  # no write-ahead log
        assert store._rows("PRAGMA synchronous") == [(3,)]  # EXTRA: the folder, too


def test_a_defect_of_ours_is_not_called_damage(
    started: tuple[Path, list[UnitEvent], Unit],
) -> None:
    """Only the guard and the codec say that a file is damaged."""
    path, events, _ = started
    with Workspace.open(path) as store:
        store.apply(events)
        with pytest.raises(sqlite3.OperationalError, match="no such column"):
            store._read(LogRow, "SELECT nonsense FROM log")
        with pytest.raises(KeyError):
            store._read(LogRow, "SELECT id FROM units")
        forge(path, "UPDATE runs SET operators = x'09' WHERE finding = 1")
        with pytest.raises(WorkspaceError, match="damaged: bug 1: these bytes are not a sequence"):
            store.bug(1)
        assert store.bug(2)


def test_events_say_what_they_have_changed(started: tuple[Path, list[UnitEvent], Unit]) -> None:
    path, events, unit = started
    with Workspace.open(path) as store:
        assert store.apply([]) == NO_CHANGES
        assert store.apply([Warned(unit.number, "beware")]) == Changes.LOG
        first = next(event for event in events if isinstance(event, FindingReported))
        assert store.apply([first]) == Changes.BUGS
        changes = store.apply(events)
        assert changes == Changes.UNITS | Changes.POOL | Changes.BUGS


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="folder does not exist"):
        Workspace.create(tmp_path / "none" / "w.plumb")


def test_a_full_disk_keeps_what_was_there(
    started: tuple[Path, list[UnitEvent], Unit], contents: Contents
) -> None:
    path, events, _ = started
    with Workspace.open(path) as store:
        half = len(events) // 2
        store.apply(events[:half])
        before = contents(store)
        ((pages,),) = store._rows("PRAGMA page_count")
        store._rows(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(WorkspaceError, match="disk is full"):
            store.apply([*events, *many_bugs(events, 300)])
        assert contents(store) == before
        store._rows("PRAGMA max_page_count = 1000000")
        store.apply(events)
        assert store.damage() == ""


def test_only_one_campaign_writes(path: Path) -> None:
    """Another process holds the workspace; when it is killed, the workspace is free."""
    with writer_elsewhere(path) as process, Workspace.open(path) as store:
        with pytest.raises(WorkspaceError, match=f"process {process.pid}"), store.writing():
            raise AssertionError
        assert store.bugs() == []  # reading is free
        process.kill()
        process.wait()
        with store.writing():
            assert store.writer() == Writer(os.getpid(), socket.gethostname())
        assert store.writer() is None


def test_a_writer_elsewhere_counts_as_long_as_it_is_heard(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Workspace.create(path) as store, store.writing():
        forge(path, "UPDATE writer SET host = 'far-away'")
        with pytest.raises(WorkspaceError, match="far-away"), store.writing():
            raise AssertionError
        monkeypatch.setattr(lock, "SILENCE_SECONDS", 0.0)
        with store.writing():
            assert store.dump()["writer"][0]["host"] == socket.gethostname()


def test_a_number_given_to_another_process_is_no_writer(path: Path) -> None:
    with Workspace.create(path) as store, store.writing():
        forge(path, "UPDATE writer SET pid = ?, process_start = 'long ago'", (1,))
        with store.writing():
            assert store.writer() == Writer(os.getpid(), socket.gethostname())


def test_a_migration_runs_once_and_keeps_what_is_there(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None was needed yet; the way they will go is tested all the same."""
    with Workspace.create(path) as store:
        store.set_project(Project(domain="/mine"))
    steps = ("CREATE TABLE later (x INTEGER);\n", "ALTER TABLE later ADD COLUMN y TEXT;\n")
    for count in (1, 2, 2):
        for module in (schema, guard):
            monkeypatch.setattr(module, "VERSION", schema.FIRST_VERSION + count)
        monkeypatch.setattr(schema, "MIGRATIONS", steps[:count])
        monkeypatch.setattr(schema.migrate, "__defaults__", (schema.FIRST_VERSION + count,))
        schema.objects_of_version.cache_clear()
        with Workspace.open(path) as store:
            assert store.project().domain == "/mine"
            assert "later" in store.dump()
    monkeypatch.undo()
    schema.objects_of_version.cache_clear()
    with pytest.raises(WorkspaceError, match="newer Plumbline"):
        Workspace.open(path)


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
            store.set_status([1], BugStatus.CONFIRMED)


def test_many_findings_are_listed_quickly(
    started: tuple[Path, list[UnitEvent], Unit],
) -> None:
    """The plan is 100,000: 5,000 take no full scan per row and little room."""
    path, events, _ = started
    with Workspace.open(path) as store:
        store.apply(events[:2])
        store.apply(many_bugs(events, 5000))
        assert len(store.bugs()) == 5000
    query = "EXPLAIN QUERY PLAN SELECT * FROM findings WHERE unit = 1 AND state = 5"
    with closing(sqlite3.connect(path)) as connection:
        assert "INDEX" in str(connection.execute(query).fetchall())
    assert path.stat().st_size < 5000 * 600
