"""`plumbline search`: outcomes, exit codes and files, on tasks small enough to know the answer."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reference.small_tasks import one_key, puzzle, task_of

from engine import cli
from engine.errors import ExitCode
from engine.task.sas import write_sas
from engine.task.task import Task

EXAMPLES = Path(__file__).resolve().parents[2] / "resources" / "examples"
REQUIRED = {
    *("outcome", "cost", "plan", "expanded", "evaluated", "generated"),
    *("search_seconds", "peak_bytes"),
}


def corridor() -> Task:
    """Walk from 0 to 4 for 1 a step, or jump for 9."""
    steps = [(f"walk p{place}", {0: place}, {0: place + 1}, 1) for place in range(4)]
    return task_of((5,), [("jump", {0: 0}, {0: 4}, 9), *steps], (0,), {0: 4})


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLUMBLINE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    for make in (corridor, one_key, puzzle):
        Path(f"{make.__name__}.sas").write_text(write_sas(make()))


@pytest.fixture
def search(capsys: pytest.CaptureFixture[str]):
    """`search("corridor.sas", "--bound", "3")` gives the exit code and the document."""

    def call(*arguments: str) -> tuple[int, dict[str, Any]]:
        code = cli.main(["search", *arguments, "--json"])
        document = json.loads(capsys.readouterr().out)
        assert set(document) >= REQUIRED
        return code, document

    return call


OPTIMAL = [
    ["--algorithm", "uniform"],
    ["--algorithm", "astar"],
    *(
        ["--algorithm", "astar", "--heuristic", name]
        for name in ("blind", "hmax", "lmcut", "cartesian", "ms")
    ),
    ["--algorithm", "lama"],
]
OTHERS = [
    ["--algorithm", "gbfs"],
    *(["--algorithm", "gbfs", "--heuristic", name] for name in ("goalcount", "hadd", "ff")),
    ["--algorithm", "ehc"],
]


@pytest.mark.parametrize("options", OPTIMAL, ids=" ".join)
def test_the_cheapest_plan(search, options: list[str]) -> None:
    code, answer = search("corridor.sas", *options)
    assert code == ExitCode.DONE
    assert answer["outcome"] == "solved"
    assert answer["cost"] == 4
    assert answer["plan"] == [f"(walk p{place})" for place in range(4)]
    assert answer["evaluated"] > 0


@pytest.mark.parametrize("options", OTHERS, ids=" ".join)
def test_some_plan(search, options: list[str]) -> None:
    code, answer = search("corridor.sas", *options)
    assert code == ExitCode.DONE
    assert answer["cost"] in (4, 9)
    assert answer["cost"] == (9 if answer["plan"] == ["(jump)"] else len(answer["plan"]))
    assert answer["lower_bound"] is None


@pytest.mark.parametrize("options", [*OPTIMAL, ["--algorithm", "gbfs"]], ids=" ".join)
def test_no_plan(search, options: list[str]) -> None:
    code, answer = search("one_key.sas", *options)
    assert (code, answer["outcome"]) == (ExitCode.ANSWER_IS_NO, "unsolvable")
    assert answer["plan"] is None
    assert answer["cost"] is None


def test_giving_up_is_not_a_proof(search) -> None:
    code, answer = search("one_key.sas", "--algorithm", "ehc")
    assert code == ExitCode.LIMIT_REACHED
    assert (answer["outcome"], answer["reason"]) == ("limit", "gave-up")


@pytest.mark.parametrize("options", OPTIMAL, ids=" ".join)
def test_the_bound_is_exclusive(search, options: list[str]) -> None:
    code, answer = search("corridor.sas", *options, "--bound", "5")
    assert (code, answer["cost"]) == (ExitCode.DONE, 4)
    code, answer = search("corridor.sas", *options, "--bound", "4")
    if "lama" in options:  # it might have overlooked one
        assert (code, answer["reason"]) == (ExitCode.LIMIT_REACHED, "gave-up")
    else:
        assert (code, answer["outcome"]) == (ExitCode.ANSWER_IS_NO, "no-cheaper-plan")


def test_an_overestimating_heuristic_proves_nothing(search, capsys) -> None:
    example = [
        str(EXAMPLES / "parcel-delivery" / "domain.pddl"),
        str(EXAMPLES / "parcel-delivery" / "problems" / "p05.pddl"),
    ]
    assert search(*example)[1]["cost"] == 104
    code, answer = search(*example, "--heuristic", "hadd", "--bound", "105")
    assert (code, answer["cost"], answer["lower_bound"]) == (ExitCode.DONE, 104, None)
    code, answer = search(*example, "--heuristic", "hadd")
    assert (code, answer["lower_bound"]) == (ExitCode.DONE, None)
    assert answer["cost"] >= 104
    capsys.readouterr()
    cli.main(["search", *example, "--heuristic", "hadd"])
    assert "warning: hadd may overestimate" in capsys.readouterr().err


def test_unit_costs(search) -> None:
    _, answer = search("corridor.sas", "--unit-costs")
    assert (answer["cost"], answer["plan"]) == (1, ["(jump)"])


@pytest.mark.parametrize("heuristic", ["blind", "lmcut"])
def test_the_time_limit(search, heuristic: str) -> None:
    for seconds in ("0.5", "2", "8", "32"):
        code, answer = search("puzzle.sas", "--time-limit", seconds, "--heuristic", heuristic)
        assert code == ExitCode.LIMIT_REACHED
        assert (answer["outcome"], answer["reason"]) == ("limit", "time-limit")
        if answer["expanded"]:  # a busy machine may not even come to the first one
            break
    assert answer["expanded"] > 0


def test_the_memory_limit(search) -> None:
    code, answer = search("puzzle.sas", "--memory-limit", "4", "--algorithm", "uniform")
    assert code == ExitCode.LIMIT_REACHED
    assert answer["reason"] == "memory-limit"
    assert 2**20 < answer["peak_bytes"] <= 4 * 2**20


def test_lama_keeps_its_best_plan_at_the_limit(search) -> None:
    for seconds in (2, 8, 32):
        code, answer = search("puzzle.sas", "--algorithm", "lama", "--time-limit", str(seconds))
        if code == ExitCode.DONE:  # a busy machine may not even come to the first plan
            break
    assert (code, answer["outcome"]) == (ExitCode.DONE, "solved")
    assert len(answer["plan"]) >= 66  # as many swaps as there are pairs in the wrong order


@pytest.mark.parametrize("algorithm", ["astar", "lama"])
def test_the_plan_file_is_a_plan(search, algorithm: str, capsys) -> None:
    domain, problem = (
        str(EXAMPLES / "ferry" / name) for name in ("domain.pddl", "problems/p02.pddl")
    )
    _, answer = search(domain, problem, "--algorithm", algorithm, "--out", "my.plan")
    assert Path("my.plan").read_text().splitlines()[:-1] == answer["plan"]
    assert cli.main(["validate", domain, problem, "my.plan"]) == ExitCode.DONE
    assert f"cost {answer['cost']}" in capsys.readouterr().out


def test_people_see_the_plan_and_the_cost(capsys) -> None:
    assert cli.main(["search", "corridor.sas"]) == ExitCode.DONE
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "(walk p0)"
    assert lines[4] == "4 steps, cost 4"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["one_key.sas"], "No plan exists."),
        (["one_key.sas", "--algorithm", "ehc"], "gave up"),
        (["corridor.sas", "--bound", "2"], "No plan costs less than the bound."),
        (["puzzle.sas", "--time-limit", "0.2"], "No plan found within the time limit."),
    ],
)
def test_the_text_says_why_there_is_no_plan(arguments: list[str], text: str, capsys) -> None:
    cli.main(["search", *arguments])
    assert text in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["corridor.sas", "--heuristic", "pdb"], "unknown heuristic 'pdb'; choose one"),
        (["corridor.sas", "--algorithm", "idastar"], "idastar"),
        (["corridor.sas", "--algorithm", "lama", "--heuristic", "ff"], "omit --heuristic"),
        (["corridor.sas", "--algorithm", "uniform", "--heuristic", "ff"], "omit --heuristic"),
        (["corridor.sas", "--bound", "-3"], "'-3' is not a whole number, 0 or more"),
        (["corridor.sas", "--bound", "1e3"], "'1e3' is not a whole number, 0 or more"),
        (["corridor.sas", "--time-limit", "soon"], "soon"),
        (["corridor.sas", "--out", "missing/my.plan"], "missing/my.plan: the plan cannot be"),
        (["corridor.sas", "--out", "."], "the plan cannot be written: it is a folder"),
        (["nowhere.sas"], "nowhere.sas: the file does not exist"),
    ],
)
def test_wrong_input_is_named(arguments: list[str], text: str, capsys) -> None:
    assert cli.main(["search", *arguments]) == ExitCode.BAD_INPUT
    captured = capsys.readouterr()
    assert captured.err.startswith("error: ")
    assert text in captured.err
    assert captured.out == ""


PATIENCE = 300.0
"""Seconds until something is surely broken: machines are slow at times."""


def interrupted(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What a search printed that got Ctrl-C."""
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == ExitCode.INTERRUPTED, err
    return out, err


@pytest.fixture
def start(tmp_path: Path):
    """A search of the puzzle in a process of its own, with its own place for files."""
    command = [sys.executable, "-m", "engine.cli", "search", "puzzle.sas", "--json"]
    processes = []

    def popen(*options: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*command, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": str(tmp_path)},
        )
        processes.append(process)
        return process

    yield popen
    for process in processes:
        process.kill()
        process.communicate()


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_ctrl_c_keeps_the_best_plan(start, tmp_path: Path) -> None:
    process = start("--algorithm", "lama", "--out", "best.plan")
    complete = re.compile(r"; cost = .*\n")
    wait_until(lambda: any(complete.search(p.read_text()) for p in tmp_path.glob("*/plan.1")))
    out, _ = interrupted(process)
    answer = json.loads(out)
    assert answer["outcome"] == "solved"
    assert Path("best.plan").read_text().count("(swap") == len(answer["plan"])
    assert not list(tmp_path.glob("plumbline-planner-*"))


def kernel_seconds(process: subprocess.Popen[str]) -> float:
    """How long the threads beside the main one have computed, which is where kernels run."""
    own = str(process.pid)
    stats = [path / "stat" for path in Path(f"/proc/{own}/task").iterdir() if path.name != own]
    ticks = sum(int(stat.read_text().rpartition(")")[2].split()[11]) for stat in stats)
    return ticks / os.sysconf("SC_CLK_TCK")


def test_ctrl_c_stops_a_kernel(start) -> None:
    process = start("--algorithm", "uniform", "--out", "best.plan")
    wait_until(lambda: kernel_seconds(process) > 0.5)
    assert interrupted(process) == ("", "stopped\n")
    assert not Path("best.plan").exists()
