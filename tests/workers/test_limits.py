"""Limits of a unit: kept in the worker's process, said in its result, and nothing found is lost."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from reference.recording_link import RecordingLink

from engine.campaign.unit import run_unit
from engine.cli import main
from engine.records.config import CampaignConfig, Unit
from engine.records.events import UnitFailed
from engine.usecases.campaign import run
from engine.workers.limits import SLACK_MEGABYTES, ProcessLimits, used_megabytes
from engine.workers.supervisor import make_executor
from engine.workers.warm import WARMTH
from engine.workspace.rows import UnitRow
from engine.workspace.workspace import Workspace

Configure = Callable[..., CampaignConfig]

MEGABYTES = 160
LIBRARIES_MEGABYTES = 128
"""The peak also counts what is shared with files, which no bound of the system does."""

GREEDY_PLUGIN = """
class Hoarder:
    def __init__(self, task):
        self.task, self.calls, self.hoard = task, 0, []

    def decide(self, states):
        self.calls += 1
        if self.calls > 30:
            self.hoard.append(bytearray(b"x" * 4_000_000))
        return [next(iter(self.task.applicable(state)), -1) for state in states]


def factory(task):
    return Hoarder(task)
"""

STUCK_PLUGIN = """
import time


class Stuck:
    def __init__(self, task):
        self.task, self.calls = task, 0

    def decide(self, states):
        self.calls += 1
        time.sleep(0 if self.calls < 30 else 3600)
        return [next(iter(self.task.applicable(state)), -1) for state in states]


def factory(task):
    return Stuck(task)
"""


def many_loads(folder: Path, loads: int) -> None:
    """A problem whose states do not fit into any memory."""
    names = [f"load{number}" for number in range(loads)]
    places = "abcdefgh"
    roads = " ".join(f"(road {a} {b}) (= (length {a} {b}) 1)" for a in places for b in places)
    lies = " ".join(f"(lies {name} {places[n % 8]})" for n, name in enumerate(names))
    goals = " ".join(f"(lies {name} {places[(n + 3) % 8]})" for n, name in enumerate(names))
    (folder / "large.pddl").write_text(
        f"""(define (problem large) (:domain carter)
      (:objects {" ".join(places)} - place {" ".join(names)} - load)
      (:init (at a) (free) (= (total-cost) 0) {roads} {lies})
      (:goal (and (at a) {goals})) (:metric minimize (total-cost)))"""
    )


def only_unit(config: CampaignConfig, path: Path) -> UnitRow:
    with Workspace.create(path) as store:
        end = run(config, store, executor=make_executor("local:1"))
        (unit,) = store.units()
        assert end.finished == (unit.status == "finished")
        assert store.damage() == ""
        return unit


def words_of(unit: UnitRow) -> str:
    """What a unit says that has reached a limit, whether it could end by itself or not."""
    assert unit.status == ("failed" if unit.error else "finished")
    return unit.error or str(unit.statistics.limit)


def test_a_kernel_that_fills_the_memory_is_stopped(configure: Configure, tmp_path: Path) -> None:
    many_loads(tmp_path, loads=12)
    unit = only_unit(
        configure(
            problems='"large.pddl"',
            policies='"builtin:gc"',
            more='[testing]\noracles = ["lookahead:depth=40"]\n'
            f"[fuzzing]\nsize = 3\n[limits]\nunit_megabytes = {MEGABYTES}\n",
        ),
        tmp_path / "w.plumb",
    )
    assert words_of(unit).startswith(f"stopped at its limit of {MEGABYTES} MB")
    bound = MEGABYTES + SLACK_MEGABYTES + LIBRARIES_MEGABYTES
    assert unit.statistics.peak_megabytes < bound


def test_a_policy_in_a_process_of_its_own_counts(configure: Configure, tmp_path: Path) -> None:
    (tmp_path / "hoarder.py").write_text(GREEDY_PLUGIN)
    more = "[testing]\noracles = ['lookahead:depth=1']\n[fuzzing]\nsize = 100000\n"
    more += f"[limits]\nunit_megabytes = {MEGABYTES}\n"
    path = tmp_path / "w.plumb"
    config = configure(problems='"p3.pddl"', policies='"hoarder.py:factory"', more=more)
    unit = only_unit(config, path)
    assert unit.status == "finished"
    assert unit.statistics.limit == f"stopped at its limit of {MEGABYTES} MB"
    with Workspace.open(path) as store:
        assert store.pool_states(1) == unit.statistics.states > 0
        assert len(store.bugs()) == unit.statistics.bugs
        (text,) = (row.text for row in store.log() if row.level == "warning")
    assert text.startswith(unit.statistics.limit)


def test_a_step_that_does_not_end_is_ended_at_the_limit(
    configure: Configure, tmp_path: Path
) -> None:
    (tmp_path / "stuck.py").write_text(STUCK_PLUGIN)
    more = "[fuzzing]\nsize = 100000\n[limits]\nunit_seconds = 1\n"
    config = configure(problems='"p3.pddl"', policies='"stuck.py:factory"', more=more)
    unit = only_unit(config, tmp_path / "w.plumb")
    assert words_of(unit).startswith("stopped at its limit of 1 s")


def test_a_limit_before_the_first_state_is_a_failure_with_words(
    make_unit: Callable[..., Unit], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLUMBLINE_CACHE_DIR", str(tmp_path / "empty"))
    link = RecordingLink(limits=ProcessLimits(megabytes=64))
    link.memory_is_over()
    run_unit(link, make_unit())
    link.close()
    (failure,) = link.heard(UnitFailed)
    assert failure.error == "stopped at its limit of 64 MB, before it could test a state"


def test_memory_of_processes_that_were_started_counts() -> None:
    before = used_megabytes()
    code = "hoard = bytearray(b'x' * 60_000_000); print('ready', flush=True); input()"
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout is not None
        child.stdout.readline()
        assert used_megabytes() > before + 50
    finally:
        child.communicate("\n")
    assert used_megabytes() < before + 50


def test_the_system_refuses_what_comes_between_two_looks() -> None:
    code = (
        "import numpy as np\nfrom engine.workers.limits import bound_process\n"
        "bound_process(100)\n"
        "try:\n    np.ones(500_000_000)\nexcept MemoryError:\n    print('refused')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "refused\n"


def test_junit_calls_a_limited_unit_skipped(configure: Configure, tmp_path: Path) -> None:
    for seconds in ("1.5", "6", "24", "96"):
        path = tmp_path / f"{seconds}.plumb"
        more = f"[fuzzing]\nsize = 1000000\n[limits]\nunit_seconds = {seconds}\n"
        unit = only_unit(configure(problems='"many-states.pddl"', more=more), path)
        if unit.status == "finished":  # a busy machine may not even come to the first state
            break
    assert unit.statistics.limit
    assert main(["report", str(path), "--out", str(tmp_path / "junit.xml")]) == 0
    text = (tmp_path / "junit.xml").read_text()
    assert f'<skipped message="the unit is stopped at its limit of {seconds} s"' in text
    assert main(["report", str(path), "--out", str(tmp_path / "report.html")]) == 0
    page = (tmp_path / "report.html").read_text()
    assert f"finished: stopped at its limit of {seconds} s" in page


def test_the_command_line_may_limit_the_memory_of_units(
    configure: Configure, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del configure  # has written the files
    config = tmp_path / "c.toml"
    config.write_text(
        'domain = "domain.pddl"\nproblems = ["p1.pddl"]\npolicies = ["builtin:gc"]\n'
        "fuzzing.size = 2\nlimits.unit_megabytes = 100\n"
    )
    command = ["campaign", str(config), "--out", str(tmp_path / "w.plumb"), "--memory-limit"]
    assert main([*command, "3"]) == 2
    assert "a unit needs at least 64 MB" in capsys.readouterr().err
    assert main([*command, "2000"]) == 0
    with Workspace.open(tmp_path / "w.plumb") as store:
        (campaign,) = store.campaigns()
    assert campaign.config.limits.unit_megabytes == 2000


def test_a_limit_that_leaves_no_result_has_its_exit_code(
    configure: Configure, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del configure  # has written the files
    (tmp_path / "stuck.py").write_text(
        STUCK_PLUGIN.replace("return Stuck(task)", "time.sleep(3600)")
    )
    config = tmp_path / "c.toml"
    config.write_text(
        'domain = "domain.pddl"\nproblems = ["p1.pddl"]\npolicies = ["stuck.py:factory"]\n'
        "limits.unit_seconds = 0.2\n"
    )
    code = main(["campaign", str(config), "--out", str(tmp_path / "w.plumb"), "--json"])
    said = capsys.readouterr()
    assert code == 3
    assert "stopped at its limit of 0.2 s" in said.err


def test_the_peak_is_of_this_program_and_not_of_its_parent() -> None:
    ballast = b"\1" * (400 * 2**20)
    program = "from engine.workers.limits import peak_megabytes as peak; print(peak()); "
    program += "bytes(b'\\1' * (200 * 2**20)); print(peak())"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    before, after = map(float, done.stdout.split())
    assert before < len(ballast) / 2**20
    assert after - before > 150


ESCAPING_PLUGIN = """
import os, time
from pathlib import Path


def escape(place):
    \"\"\"Fork twice and leave the session, as a daemon does.\"\"\"
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            place.write_text(str(os.getpid()))
            time.sleep(3600)
        os._exit(0)


class First:
    def __init__(self, task):
        self.task = task
        escape(Path(__file__).with_name("escaped"))
        while not Path(__file__).with_name("escaped").exists():
            time.sleep(0.01)

    def decide(self, states):
        return [next(iter(self.task.applicable(state)), -1) for state in states]


def factory(task):
    return First(task)
"""


@pytest.fixture(params=[True, False])
def is_warm(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a warm process, which adopts what dead workers leave behind, and without one."""
    if not request.param:
        monkeypatch.setattr(WARMTH, "fork_worker", lambda *_: None)


@pytest.mark.usefixtures("is_warm")
@pytest.mark.parametrize("environment", ["os.environ", "{}"])
def test_a_plugin_leaves_no_process_behind(
    configure: Configure, tmp_path: Path, environment: str
) -> None:
    """Also if that has another environment, which otherwise tells where it came from."""
    sleep = f'os.execve("/bin/sleep", ["sleep", "3600"], {environment})'
    (tmp_path / "escaping.py").write_text(ESCAPING_PLUGIN.replace("time.sleep(3600)", sleep))
    config = configure(policies='"escaping.py:factory"', more="[fuzzing]\nsize = 3\n")
    assert only_unit(config, tmp_path / "w.plumb").status == "finished"
    assert is_gone(int((tmp_path / "escaped").read_text()))


@pytest.mark.usefixtures("is_warm")
def test_nor_when_the_process_that_asks_it_is_killed(configure: Configure, tmp_path: Path) -> None:
    """The warm process adopts it; without one, only what it inherited tells where it came from."""
    killing = ESCAPING_PLUGIN.replace(
        "return [next(", "os.kill(os.getppid(), 9); time.sleep(3600); return [next("
    )
    (tmp_path / "escaping.py").write_text(killing)
    config = configure(policies='"escaping.py:factory"', more="[fuzzing]\nsize = 3\n")
    with Workspace.create(tmp_path / "w.plumb") as store:
        run(config, store)
        (unit,) = store.units()
    assert unit.status == "lost"
    assert is_gone(int((tmp_path / "escaped").read_text()))


def is_gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"  # dead, and not yet reaped by the process that adopted it
