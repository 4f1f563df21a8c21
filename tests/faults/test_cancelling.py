"""Ctrl-C and SIGTERM at any moment of any command, and Stop in the window.

Whatever the moment: the exit code says so, no traceback, no process and no half file is left, and
what was begun can be taken up again with the findings of an uninterrupted run. Moments are drawn
at random after the command has begun its work; which one it was does not matter.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from reference.faulty import Bench, Supervised, findings, many_loads, wait_for

from engine.campaign.config_reader import read_config
from engine.fuzzing.pool_file import read_pool
from engine.policies.consent import Consent
from engine.records.training import TrainingConfig
from engine.task.load import load_task
from engine.training.imitation import train
from engine.usecases.campaign import run_campaign
from engine.workers.channel import Command
from engine.workspace.workspace import Workspace

TERM_BIT = 1 << (signal.SIGTERM - 1)


def ended_late(number: int) -> int:
    """The code when all was done and Python itself was ending."""
    return 128 + number


def listens(process: subprocess.Popen[str]) -> bool:
    """Whether it has begun to take signals: before that Python itself starts."""
    if process.poll() is not None:
        return True
    status = Path(f"/proc/{process.pid}/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith("SigCgt")]
    return bool(int(line.split()[1], 16) & TERM_BIT)


def works(process: subprocess.Popen[str]) -> bool:
    """Whether its kernels are loaded, so that it is about to work."""
    if process.poll() is not None:
        return True
    try:
        return "libplumbline_native" in Path(f"/proc/{process.pid}/maps").read_text()
    except ProcessLookupError:  # it has just ended
        return True


def interrupt(process: subprocess.Popen[str], number: int, chance: Random) -> None:
    time.sleep(chance.random() * 0.4)
    if process.poll() is None:
        process.send_signal(number)


LONG = {
    "search": ["search", "domain.pddl", "many.pddl", "--heuristic", "blind"],
    "dominance": ["dominance", "domain.pddl", "more.pddl", "--factors", "merged:2000000"],
    "lama": ["search", "domain.pddl", "many.pddl", "--algorithm", "lama"],
    "run": ["run", "builtin:optimal", "domain.pddl", "many.pddl"],
    "aoc": [
        *("aoc", "domain.pddl", "many.pddl", "--action", "(drive a b)"),
        *("--algorithm", "sms", "--heuristic", "blind"),
    ],
}


@pytest.mark.parametrize("name", LONG)
def test_a_long_computation_stops(name: str, bench: Bench) -> None:
    bench.write("many.pddl", many_loads(11))
    bench.write("more.pddl", many_loads(150))  # variables are compared one by one: that is quick
    chance = Random(name)
    process = bench.start(*LONG[name])
    wait_for(lambda: works(process) or bench.processes("--internal-plan-file"))
    interrupt(process, chance.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP]), chance)
    said = bench.end_of(process)
    assert said.code == 130
    assert said.lines in (["stopped"], [])


def test_before_the_work_begins_it_stops_too(bench: Bench) -> None:
    process = bench.start("task", "domain.pddl", "p2.pddl")
    wait_for(lambda: listens(process))
    process.send_signal(signal.SIGTERM)
    said = bench.end_of(process)
    assert said.code in (0, 130, ended_late(signal.SIGTERM))


def test_fuzzing_keeps_the_states_so_far(bench: Bench) -> None:
    bench.write("many.pddl", many_loads(11))
    process = bench.start("fuzz", "domain.pddl", "many.pddl", "--size", 10**7, "--out", "pool")
    wait_for(lambda: works(process))
    interrupt(process, signal.SIGINT, Random(1))
    said = bench.end_of(process)
    assert said.code == 130
    if said.out:  # it had begun
        task = load_task(bench.folder / "domain.pddl", bench.folder / "many.pddl")
        states = int(said.out.split()[0])
        assert len(read_pool(bench.folder / "pool", task)) == states > 0
    else:
        assert not (bench.folder / "pool").exists()


def test_testing_tells_what_is_known(bench: Bench) -> None:
    bench.write("many.pddl", many_loads(11))
    fuzz = ("fuzz", "domain.pddl", "many.pddl", "--size", 5, "--out", "pool")
    assert bench.plumbline(*fuzz).code == 0
    process = bench.start(
        *("test", "domain.pddl", "many.pddl", "--policy", "builtin:hadd", "--pool", "pool"),
        *("--oracle", "lookahead:depth=1", "--oracle", "astar", "--json"),
    )
    wait_for(lambda: works(process))
    interrupt(process, signal.SIGINT, Random(2))
    said = bench.end_of(process)
    assert said.code == 130
    assert said.lines in (["stopped"], [])
    for state in json.loads(said.out)["pool"] if said.out else []:
        assert "astar" not in state["verdicts"] or state["verdicts"]["astar"]


def test_comparing_tells_it_is_undecided(bench: Bench) -> None:
    text = (bench.folder / "domain.pddl").read_text()
    bench.write("other.pddl", text.replace("drive", "go"))
    process = bench.start("compare", "domain.pddl", "other.pddl", "--json")
    wait_for(lambda: listens(process))
    interrupt(process, signal.SIGTERM, Random(3))
    said = bench.end_of(process)
    assert said.code in (0, 130, ended_late(signal.SIGTERM))
    verdicts = {reading["verdict"] for reading in _readings(said.out)}
    assert verdicts <= {"equivalent", "undecided"}


def _readings(text: str) -> list[dict[str, Any]]:
    if not text:
        return []
    return [part for part in json.loads(text).values() if isinstance(part, dict)]


@pytest.mark.parametrize("command", ["report", "export", "verify", "localize"])
def test_what_reads_a_workspace_leaves_it_whole(
    command: str, bench: Bench, workspace: Path
) -> None:
    options: dict[str, list[object]] = {
        "report": ["--out", "r.html"],
        "export": ["--bug", 1, 2, 3, 4, 5, "--out", "bundles"],
        "verify": [],
        "localize": ["--all"],
    }
    with Workspace.open(workspace) as store:
        before = store.bugs()
    process = bench.start(command, workspace.name, *options[command])
    wait_for(lambda: works(process))
    interrupt(process, signal.SIGINT, Random(command))
    said = bench.end_of(process)
    assert said.code in (0, 130)
    with Workspace.open(workspace) as store:
        assert store.damage() == ""
        assert [row.id for row in store.bugs()] == [row.id for row in before]
    report = bench.folder / "r.html"
    assert not report.exists() or report.read_text().rstrip().endswith("</html>")
    for file in bench.folder.glob("bundles/*/bug.json"):
        json.loads(file.read_text())
    assert not list(bench.folder.rglob(".*.part"))


def test_training_continues_where_it_was(bench: Bench) -> None:
    options = ("--steps", 2, "--hidden", 4, "--layers", 1, "--epochs", 500, "--patience", 500)
    process = bench.start("train", "domain.pddl", "p1.pddl", "--out", "training", *options)
    wait_for((bench.folder / "training" / "training.state").exists)
    interrupt(process, signal.SIGTERM, Random(4))
    said = bench.end_of(process)
    assert said.code == 130
    assert not list(bench.folder.rglob("*.part"))
    done = said.err.count("epoch ")
    config = TrainingConfig(hidden=4, layers=1, steps=2, epochs=done + 2, patience=500)
    task = load_task(bench.folder / "domain.pddl", bench.folder / "p1.pddl")
    resumed = train([task], [], bench.folder / "training", config, resume=True)
    assert [record.epoch for record in resumed.history] == list(range(1, done + 3))


# Campaigns.


def test_a_campaign_interrupted_again_and_again(bench: Bench, expected: set[Any]) -> None:
    chance = Random(5)
    path = bench.folder / "w.plumb"
    command = ("campaign", "campaign.toml", "--out", "w.plumb", "--resume")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process = bench.start(*command)
        begun = partial(bench.processes, "plumbline-work")
        wait_for(lambda process=process, begun=begun: process.poll() is not None or begun())
        interrupt(process, number, chance)
        said = bench.end_of(process)
        assert said.code in (0, 130, ended_late(number))
        assert findings(path) <= expected
    assert bench.plumbline(*command).code == 0
    assert findings(path) == expected


def test_a_second_interrupt_ends_it_at_once(bench: Bench, expected: set[Any]) -> None:
    """The second unit searches for minutes, so the interrupts surely come before the end."""
    path = bench.folder / "w.plumb"
    bench.write("many.pddl", many_loads(11))
    text = (bench.folder / "campaign.toml").read_text()
    text = text.replace('["p2.pddl"]', '["p2.pddl", "many.pddl"]')
    bench.write("long.toml", text.replace("astar:expansions=2000", "astar"))
    process = bench.start("campaign", "long.toml", "--out", "w.plumb", "--executor", "local:1")
    wait_for(lambda: process.poll() is not None or (path.exists() and findings(path)))
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        time.sleep(0.02)  # two signals of a kind at the same time are one
    assert bench.end_of(process).code == 130
    found = findings(path)
    assert {one for one in found if one[0] == "p2.pddl"} <= expected


# The window.


@pytest.mark.parametrize("way", ["stop", "kill"])
def test_a_campaign_of_the_window(way: str, bench: Bench, expected: set[Any]) -> None:
    path = bench.folder / "w.plumb"
    Workspace.create(path).close()
    arguments = path, read_config(bench.folder / "campaign.toml"), "local:1", Consent()
    window = Supervised(run_campaign, *arguments)
    wait_for(lambda: window.supervisor.pid)  # which it keeps when it has ended
    time.sleep(Random(way).random() * 0.4)
    if way == "stop":
        window.supervisor.order(Command.STOP)
        assert window.end().failure is None
    else:
        assert window.supervisor.pid is not None
        with suppress(ProcessLookupError):
            os.kill(window.supervisor.pid, signal.SIGKILL)
        failure = window.end().failure
        if failure is not None:
            assert failure.message.startswith("the worker was killed from outside")
            assert failure.hint == "everything saved so far is safe; start it again"
    assert findings(path) <= expected
    assert Supervised(run_campaign, *arguments).end().result is not None
    assert findings(path) == expected
