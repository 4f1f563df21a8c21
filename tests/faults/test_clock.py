"""The wall clock jumps while we work: nothing that matters looks at it.

A wrapper that every process of ours loads makes `time.time` and dates jump to and fro by years.
Limits, elapsed times and findings do not change, and the workspace can be read and taken up again.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from reference.faulty import Bench, findings
from reference.forging import forge

from app.services.jobs import Eta
from engine.caches import keep, read_kept
from engine.workspace import lock as writer
from engine.workspace.workspace import Workspace

JUMPING = """\
import itertools, time
years = itertools.cycle([3e8, -3e8, 7e8, -9e8])
real = time.time
time.time = lambda: real() + next(years)
"""


@pytest.fixture
def jumping(bench: Bench) -> dict[str, str]:
    """The environment of commands whose clock jumps at every look."""
    bench.write("modules/sitecustomize.py", JUMPING)
    return {"PYTHONPATH": str(bench.folder / "modules")}


def test_a_campaign_finds_the_same(
    bench: Bench, jumping: dict[str, str], expected: set[Any]
) -> None:
    said = bench.plumbline("campaign", "campaign.toml", "--out", "w.plumb", "--json", **jumping)
    assert said.code == 0
    assert 0 <= json.loads(said.out)["seconds"] < 1000
    assert findings(bench.folder / "w.plumb") == expected
    with Workspace.open(bench.folder / "w.plumb") as store:
        seconds = [row.seconds for row in store.bugs()]
        times = [row.time for row in store.log()]
    assert all(0 <= value < 1000 for value in seconds)
    assert all(abs(when - time.time()) > 1e8 for when in times)  # the clock did jump
    for command in (("verify",), ("report", "--out", "r.html")):
        assert bench.plumbline(command[0], "w.plumb", *command[1:], **jumping).code == 0


def test_limits_are_kept(bench: Bench, jumping: dict[str, str]) -> None:
    limited = bench.plumbline(
        *("search", "domain.pddl", "p3.pddl", "--time-limit", "60"), **jumping
    )
    assert limited.code == 0
    bench.write("slow.py", SLOW)
    said = bench.plumbline(
        *("run", "slow.py:make", "domain.pddl", "p3.pddl", "--time-limit", "2"), **jumping
    )
    assert said.code == 3


SLOW = """\
import time
class Slow:
    def __init__(self, task):
        self.task = task
    def decide(self, states):
        time.sleep(3)
        return [self.task.applicable(state)[0] for state in states]
def make(task):
    return Slow(task)
"""


@pytest.mark.parametrize("jump", [1e9, -1e9, 3600.0, -3600.0])
def test_who_writes_to_a_workspace(
    jump: float, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On this machine the process tells, whatever the clock; of another one silence is an end."""
    now = writer.time.time()
    with Workspace.open(workspace) as store, store.writing():
        monkeypatch.setattr(writer.time, "time", lambda: now + jump)
        assert store.writer() is not None
        forge(workspace, "UPDATE writer SET host = 'elsewhere'")
        assert store.writer() is None
        forge(workspace, "UPDATE writer SET heartbeat = ?", (now + jump,))
        assert store.writer() is not None


def test_files_from_the_future(bench: Bench) -> None:
    """Kept files, a workspace and inputs of next year are as good as others."""
    future = 4e9
    kept = bench.folder / "kept" / "a"
    keep(kept, b"first", 100)
    os.utime(kept, (future, future))
    keep(kept.with_name("b"), b"second", 100)
    assert read_kept(kept) == b"first"
    for name in ("domain.pddl", "p2.pddl", "campaign.toml"):
        os.utime(bench.folder / name, (future, future))
    said = bench.plumbline("task", "domain.pddl", "p2.pddl")
    assert said.code == 0
    again = bench.plumbline("task", "domain.pddl", "p2.pddl", "--json")
    assert json.loads(again.out)["translate_seconds"] >= 0


def test_estimates_follow_the_clock_that_cannot_be_set() -> None:
    """What is left is told from the steady clock that a job is asked by; it never goes negative."""
    eta = Eta()
    for second in range(10):
        eta.update(100.0 + second, float(second), 20.0)
    left = eta.seconds(109.0)
    assert left is None or left >= 0
    later = eta.seconds(1e6)
    assert later is None or later >= 0


def test_nothing_but_time_stamps_uses_the_wall_clock() -> None:
    """Measurements and limits use the monotonic clock; these only record times."""
    root = Path(__file__).resolve().parents[2]
    users = {
        str(path.relative_to(root))
        for folder in ("engine", "app")
        for path in (root / folder).rglob("*.py")
        if "time.time()" in path.read_text(encoding="utf-8")
    }
    allowed = {"workspace", "lock", "event_writer", "experiments", "backup"}
    assert {Path(name).stem for name in users} <= allowed
