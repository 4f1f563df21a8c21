"""Forked workers are as good as those that are started as programs, and need no warm process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from reference.faulty import Bench, Supervised, wait_for, workers_of
from reference.slow_policy import write_slow_policy

from engine.caches import DISK_CACHES
from engine.policies.consent import Consent
from engine.records.config import CampaignConfig
from engine.usecases.campaign import run_campaign
from engine.usecases.housekeeping import measure_caches
from engine.workers import launch
from engine.workers import warm as warm_workers
from engine.workers.channel import Call, unpack
from engine.workers.warm import Warmth
from engine.workspace.workspace import Workspace

CONFIG = """\
domain = "domain.pddl"
problems = ["p2.pddl"]
policies = ["builtin:hadd"]
fuzzing.size = 12
"""
ESCAPING = """
import os, time
from pathlib import Path


def factory(task):
    # A daemon that has left the process group, and a policy that never decides.
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            Path(__file__).with_name("escaped").write_text(str(os.getpid()))
            time.sleep(3600)
        os._exit(0)
    time.sleep(3600)
"""


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def parent_of_new_worker() -> int:
    worker = launch.start(Call.of(measure_caches))
    try:
        wait_for(lambda: worker.pid is not None)
        assert worker.pid is not None
        return parent_of(worker.pid)
    finally:
        worker.close()


@pytest.fixture(scope="module")
def warmth() -> Warmth:
    return Warmth()


def heat(warmth: Warmth, monkeypatch: pytest.MonkeyPatch) -> int:
    """The number of a warm process, once it is ready."""
    monkeypatch.setattr(launch, "WARMTH", warmth)
    launch.prepare()
    wait_for(lambda: parent_of_new_worker() != os.getpid())
    return parent_of_new_worker()


@pytest.fixture
def warm(warmth: Warmth, monkeypatch: pytest.MonkeyPatch) -> int:
    return heat(warmth, monkeypatch)


@pytest.fixture
def victim(monkeypatch: pytest.MonkeyPatch) -> int:
    """A warm process to kill."""
    return heat(Warmth(), monkeypatch)


@pytest.fixture
def endless(configure: Callable[..., CampaignConfig], tmp_path: Path) -> tuple[object, ...]:
    """Arguments for a campaign that does not end as long as there is a file `hold`."""
    (tmp_path / "hold").touch()
    write_slow_policy(tmp_path / "slow.py", tmp_path / "hold")
    Workspace.create(tmp_path / "w.plumb").close()
    config = configure(policies='"slow.py:factory"')
    return tmp_path / "w.plumb", config, "local:1", Consent(to_all=True)


def test_a_worker_waits_for_a_warm_process_that_is_not_ready(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(launch, "WARMTH", Warmth())
    monkeypatch.setattr(warm_workers, "READY_SECONDS", 300.0)
    launch.prepare()
    assert parent_of_new_worker() != os.getpid()


def test_the_warm_process_has_one_thread_and_nothing_slow(warm: int) -> None:
    assert len(os.listdir(f"/proc/{warm}/task")) == 1
    maps = Path(f"/proc/{warm}/maps").read_text()
    for library in ("torch", "grpc", "PySide6", "z3"):
        assert f"/{library}" not in maps


def test_a_process_with_threads_or_torch_is_not_forked() -> None:
    code = (
        "import sys, threading; from engine.workers.warm import is_safe_to_fork as safe\n"
        "import numpy as np; np.ones((99, 99)) @ np.ones((99, 99))  # in this thread\n"
        "print(safe()); sys.modules['torch'] = sys; print(safe()); del sys.modules['torch']\n"
        "end = threading.Event(); threading.Thread(target=end.wait).start()\n"
        "print(safe()); end.set()"
    )
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "False", "False"]


def test_a_forked_worker_has_the_environment_and_folder_of_its_client(
    warm: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLUMBLINE_CACHE_DIR", "here")
    kept = DISK_CACHES[0].folder
    kept.mkdir(parents=True)
    (kept / "a file").write_bytes(b"x" * 1234)
    assert parent_of_new_worker() == warm
    end = Supervised(measure_caches).end()
    assert end.result is not None
    assert unpack(end.result)[0] == 1234


def test_what_counts_at_the_start_of_a_program_starts_a_program(
    warm: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert parent_of_new_worker() == warm
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    assert parent_of_new_worker() == os.getpid()


def test_workers_go_on_without_the_warm_process(
    victim: int, endless: tuple[object, ...], tmp_path: Path
) -> None:
    """Their units, too; what is started later is a program."""
    work = Supervised(run_campaign, *endless)
    wait_for(lambda: len(workers_of(victim)) == 2, "a unit")
    os.kill(victim, signal.SIGKILL)
    wait_for(lambda: not is_alive(victim))
    assert parent_of_new_worker() == os.getpid()
    (tmp_path / "hold").unlink()
    end = work.end()
    assert end.result is not None, end
    assert unpack(end.result).finished


def test_a_killed_job_leaves_nothing_behind(
    warm: int, endless: tuple[object, ...], tmp_path: Path
) -> None:
    """Neither its unit nor what the plug-in of the unit has let loose."""
    (tmp_path / "slow.py").write_text(ESCAPING)
    work = Supervised(run_campaign, *endless)
    wait_for((tmp_path / "escaped").exists)
    wait_for((tmp_path / "escaped").read_text)
    job = work.supervisor.pid
    assert job in workers_of(warm)
    assert job is not None
    os.kill(job, signal.SIGKILL)
    failure = work.end().failure
    assert failure is not None
    assert failure.message.startswith("the worker was killed from outside")
    wait_for(lambda: not workers_of(warm))
    wait_for(lambda: not is_alive(int((tmp_path / "escaped").read_text())))
    assert is_alive(warm)


def test_how_a_forked_worker_died_is_reported(warm: int, endless: tuple[object, ...]) -> None:
    work = Supervised(run_campaign, *endless)
    wait_for(lambda: work.supervisor.pid)
    assert work.supervisor.pid in workers_of(warm)
    os.kill(work.supervisor.pid, signal.SIGSEGV)
    failure = work.end().failure
    assert failure is not None
    assert failure.message == "the worker was terminated by SIGSEGV"


def test_a_command_forks_its_workers(bench: Bench) -> None:
    """It has imported everything itself; its unit waits until it has been looked at."""
    hold = bench.folder / "hold"
    hold.touch()
    write_slow_policy(bench.folder / "slow.py", hold)
    bench.write("c.toml", CONFIG.replace("builtin:hadd", "slow.py:factory"))
    process = bench.start("campaign", "c.toml", "--out", "w.plumb")
    wait_for(lambda: workers_of(process.pid) or process.poll() is not None)
    (worker,) = workers_of(process.pid)
    assert Path(f"/proc/{parent_of(worker)}/comm").read_text() == "plumbline-warm\n"
    assert parent_of(parent_of(worker)) == process.pid
    hold.unlink()
    assert bench.end_of(process).code == 0


def test_a_killed_command_leaves_nothing_behind(bench: Bench) -> None:
    bench.write("slow.py", ESCAPING)
    bench.write("c.toml", CONFIG.replace("builtin:hadd", "slow.py:factory"))
    process = bench.start("campaign", "c.toml", "--out", "w.plumb")
    wait_for((bench.folder / "escaped").exists)
    process.kill()
    process.communicate()
    wait_for(lambda: not bench.processes("plumbline"))


LOOKING = """\
import os, pathlib

def make(task):
    names = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            names[name] = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            pass  # that of the folder itself
    pathlib.Path(__file__).with_name("descriptors").write_text("\\n".join(names.values()))
    return Policy(task)

class Policy:
    def __init__(self, task):
        self.task = task

    def decide(self, states):
        return [(self.task.applicable(state) or [-1])[0] for state in states]
"""


def test_a_plug_in_has_no_way_to_the_warm_process(bench: Bench) -> None:
    """A worker can ask it for others; what a worker starts gets only its own connection."""
    bench.write("looks.py", LOOKING)
    bench.write(
        "looks.toml",
        'domain = "domain.pddl"\nproblems = ["p1.pddl"]\npolicies = ["looks.py:make"]\n'
        'fuzzing.size = 2\ntesting.oracles = ["lookahead"]\n',
    )
    assert bench.plumbline("campaign", "looks.toml", "--out", "w.plumb").code == 0
    found = (bench.folder / "descriptors").read_text().splitlines()
    assert found
    assert len([name for name in found if name.startswith("socket:")]) <= 1
    assert not [name for name in found if name.endswith((".plumb", ".pddl"))]
