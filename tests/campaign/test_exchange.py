"""Files of other tools: read, tested again, written and read back; damaged ones are refused."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.campaign.exchange import bugs_text, policy_cache_text, pool_text, unit_called
from engine.cli import main
from engine.errors import ConfigurationError, PolicyError, UnreadableFileError, WorkspaceError
from engine.fuzzing.bugs_file import FAILS, BugRecord, parse_bugs, write_bugs
from engine.fuzzing.imported_pool import contents, task_of
from engine.fuzzing.pool_file import parse_pool
from engine.policies.policy import open_policy
from engine.policies.runs import PolicyRuns
from engine.records.config import CampaignConfig
from engine.records.finding import RunOutcome
from engine.records.inputs import File
from engine.records.project import PoolContents
from engine.task.load import load_task
from engine.task.sas import write_sas
from engine.task.states import StateTable
from engine.task.task import Task
from engine.usecases.campaign import run
from engine.workspace.workspace import Workspace

Configure = Callable[..., CampaignConfig]
ASTAR = '[testing]\noracles = ["astar"]\n'


@pytest.fixture
def task(folder: Path) -> Task:
    return load_task(folder / "domain.pddl", folder / "p2.pddl")


@pytest.fixture
def finished(configure: Configure, tmp_path: Path, in_threads: Callable[[], object]) -> Workspace:
    with Workspace.create(tmp_path / "w.plumb") as store:
        run(configure(more=ASTAR), store, executor=in_threads())  # type: ignore[arg-type]
    return Workspace.open(tmp_path / "w.plumb")


@pytest.mark.parametrize("value", [b"\xff", b"\x7f"])
def test_a_pool_with_states_of_another_task_is_not_written(
    finished: Workspace, value: bytes
) -> None:
    path = finished.path
    finished.close()
    with sqlite3.connect(path) as raw:
        ((state, packed),) = raw.execute(
            "SELECT states.id, packed FROM pool JOIN states ON states.id = pool.state LIMIT 1"
        )
        raw.execute("UPDATE states SET packed = ? WHERE id = ?", (packed[:-1] + value, state))
    raw.close()
    with Workspace.open(path) as store, pytest.raises(WorkspaceError, match="damaged"):
        pool_text(store, unit_called(store, None))


def test_a_pool_and_its_bugs_are_tested_again_and_come_out_equal(
    finished: Workspace, configure: Configure, folder: Path, in_threads: Callable[[], object]
) -> None:
    with finished as store:
        unit = unit_called(store, None)
        (folder / "pool.txt").write_text(pool_text(store, unit))
        (folder / "found.bugs").write_text(bugs_text(store, unit))
        states = [row.state for row in store.pool(unit.id)]
        bugs = {store.bug(row.id).finding.state: (row.gap, row.bound) for row in store.bugs()}
    assert bugs
    for name, expected in (("pool.txt", states), ("found.bugs", list(bugs))):
        config = configure(more=f'pool = "{name}"\n{ASTAR}')
        with Workspace.create(folder / f"{name}.plumb") as store:
            assert run(config, store, executor=in_threads()).finished  # type: ignore[arg-type]
            (row,) = store.units()
            assert (row.status, row.statistics.size) == ("finished", len(expected))
            assert [entry.state for entry in store.pool(row.id)] == expected
            again = {store.bug(bug.id).finding.state: (bug.gap, bug.bound) for bug in store.bugs()}
            assert again == bugs
            assert run(config, store, executor=in_threads(), resume=True).finished  # type: ignore[arg-type]


def test_a_pool_begins_with_the_initial_state(
    configure: Configure, folder: Path, in_threads: Callable[[], object], task: Task
) -> None:
    """Also where the states came from a bugs file without it."""
    states = [tuple(len(v.values) - 1 for v in task.variables), (1, *task.init[1:])]
    (folder / "some.bugs").write_text(write_bugs(map(BugRecord, states)))
    with Workspace.create(folder / "w.plumb") as store:
        run(configure(more=f'pool = "some.bugs"\n{ASTAR}'), store, executor=in_threads())  # type: ignore[arg-type]
        entries = parse_pool(pool_text(store, unit_called(store, None)), task)
    assert [entry.state for entry in entries] == [task.init, *states]
    assert [entry.reference for entry in entries] == [-1, -1, -1]


def test_files_are_described_without_a_task(task: Task, finished: Workspace) -> None:
    with finished as store:
        pool = pool_text(store, unit_called(store, None))
    for text, expected in (
        (pool, PoolContents(24)),
        ("", PoolContents(0, 0)),
        ("0\nstate\n1 2 3\n", PoolContents(1, 0)),
        (
            write_bugs([BugRecord(task.init, 3), BugRecord((1,), FAILS), BugRecord((2,), 0)]),
            PoolContents(3, 2, 1),
        ),
    ):
        assert contents(File("x", text.encode(), "x")) == expected
    whole = f"begin_sas\n{write_sas(task)}end_sas\n0\nstate\n1 2 3\n".encode()
    assert contents(File("x", whole, "x")) == PoolContents(1, 0, has_task=True)
    assert task_of(File("x", whole, "x")).hash == task.hash
    with pytest.raises(UnreadableFileError, match="no task"):
        task_of(File("x", b"0\nstate\n1 2 3\n", "x"))
    for damaged in ("sas_variables\n1\n", "0\nstate\nx\n", "0\nstate\n1\n0\nresult\n-7\n3\n"):
        with pytest.raises(UnreadableFileError):
            contents(File("x", damaged.encode(), "x"))


def test_bugs_files_are_read_back(task: Task) -> None:
    other = tuple(len(variable.values) - 1 for variable in task.variables)
    records = [
        BugRecord(task.init, 3, 7, True),
        BugRecord(other, FAILS, None),
        BugRecord(task.init),
    ]
    assert parse_bugs(write_bugs(records), task) == records
    words = " ".join(map(str, task.init))
    text = f"begin_sas\n{write_sas(task)}end_sas\n7\nstate\n{words}\n"
    text += "7\nresult\n3\n-1\n7\nresult\n5\n9\n7\nresult\n4\n8\n7\npool\n"
    assert parse_bugs(text, task) == [BugRecord(task.init, 5, 8, True)]
    assert parse_bugs(text + "7\nresult\n-1\n2\n", task) == [BugRecord(task.init, FAILS, 2, True)]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("0\nresult\n1\n1\n", "bug 0 has no state yet"),
        ("0\nstate\n1 2\n", "numbers are expected here, not 2"),
        ("0\nstate\nx\n", "a state is expected here, not 'x'"),
        ("0\n", "the file ends where 'state', 'result' or 'pool' is expected"),
        ("0\nhello\n", "'hello' is not 'state'"),
    ],
)
def test_damaged_bugs_files_are_refused(text: str, complaint: str, task: Task) -> None:
    with pytest.raises(UnreadableFileError, match=complaint):
        parse_bugs(text, task, "x.bugs")


def test_a_policy_cache_is_a_policy(finished: Workspace, task: Task, tmp_path: Path) -> None:
    path = tmp_path / "policy.cache"
    with finished as store:
        path.write_text(policy_cache_text(store, unit_called(store, 1)))
        bugs = [store.bug(row.id) for row in store.bugs()]
    policy = open_policy(str(path))
    assert policy.describe().kind == "policy cache"
    runs = PolicyRuns(policy.bind(task), StateTable(task))
    for bug in bugs:
        (state,) = runs.table.add(bug.finding.state).tolist()
        runs.run([state])
        trace = runs.trace(state)
        assert (str(trace.outcome), trace.operators) == (
            bug.finding.run.outcome,
            bug.finding.run.operators,
        )
    unknown = tuple(len(variable.values) - 1 for variable in task.variables)
    (state,) = runs.table.add(unknown).tolist()
    runs.run([state])
    assert runs.trace(state).outcome is RunOutcome.ABORTED


def test_damaged_policy_caches_are_refused(task: Task, tmp_path: Path) -> None:
    path, values = tmp_path / "policy.cache", " ".join(map(str, task.init))
    for text, complaint in (
        (f"999 {values}\n", "no operator 999"),
        ("0 1\n", "not a state of the task"),
        (f"0 {values}\n1 {values}\n", "a different operator in an earlier line"),
        (f"0 {values}\nx {values}\n", "an operator and values"),
    ):
        path.write_text(text)
        with pytest.raises(PolicyError, match=complaint):
            open_policy(str(path)).bind(task)
    path.write_text("hello world\n")
    with pytest.raises(PolicyError, match="not a policy file"):
        open_policy(str(path))


def test_the_command(finished: Workspace, task: Task, tmp_path: Path, capsys) -> None:
    finished.close()
    workspace = str(tmp_path / "w.plumb")
    for name in ("pool", "bugs", "policy-cache", "sas"):
        out = tmp_path / name
        words = ["export", workspace, "--format", name, "--out", str(out), "--json"]
        assert main(words) == 0
        assert json.loads(capsys.readouterr().out)["unit"] == 1
        assert out.stat().st_size
    assert len(parse_pool((tmp_path / "pool").read_text(), task)) == 24
    assert main(["export", workspace, "--out", str(tmp_path)]) == 2
    assert "no bug to export" in capsys.readouterr().err
    assert main(["export", workspace, "--format", "pool", "--unit", "7", "--out", "x"]) == 2
    assert "unknown unit 7" in capsys.readouterr().err


def test_a_pool_belongs_to_one_problem(configure: Configure, folder: Path) -> None:
    (folder / "pool.txt").write_text("")
    with pytest.raises(ConfigurationError, match="a pool belongs to one problem"):
        configure(problems='"p1.pddl", "p2.pddl"', more='pool = "pool.txt"\n')
