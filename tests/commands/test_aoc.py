"""`plumbline aoc`: verdicts, exit codes and errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reference.random_tasks import dials
from reference.small_tasks import Rule, one_key, task_of

from engine import cli
from engine.errors import ExitCode
from engine.localize.action_optimality import ALGORITHMS
from engine.task.sas import write_sas
from engine.task.task import Task

EXAMPLES = Path(__file__).resolve().parents[2] / "resources" / "examples"
REQUIRED = {"verdict", "decided_by", "expanded", "evaluated", "search_seconds"}

Aoc = Callable[..., tuple[int, dict[str, Any]]]


def corridor() -> Task:
    """Walk from 0 to 4 for 1 a step, or jump for 9."""
    steps: list[Rule] = [(f"walk p{p}", {0: p}, {0: p + 1}, 1) for p in range(4)]
    return task_of((5,), [("jump", {0: 0}, {0: 4}, 9), *steps], (0,), {0: 4})


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLUMBLINE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    for make in (corridor, one_key):
        Path(f"{make.__name__}.sas").write_text(write_sas(make()))


@pytest.fixture
def aoc(capsys: pytest.CaptureFixture[str]) -> Aoc:
    """`aoc("corridor.sas", "(jump)")` gives the exit code and the document."""

    def run(task: str, action: str, *options: str) -> tuple[int, dict[str, Any]]:
        code = cli.main(["aoc", task, "--action", action, *options, "--json"])
        document = json.loads(capsys.readouterr().out)
        assert document.keys() >= REQUIRED
        return code, document

    return run


@pytest.mark.parametrize("algorithm", [name for name in ALGORITHMS if name != "dominance"])
def test_verdicts_and_exit_codes(aoc: Aoc, algorithm: str) -> None:
    code, document = aoc("corridor.sas", "(walk p0)", "--algorithm", algorithm)
    assert (code, document["verdict"], document["reason"]) == (ExitCode.DONE, "optimal", None)
    code, document = aoc("corridor.sas", "(JUMP)", "--algorithm", algorithm)
    assert (code, document["verdict"]) == (ExitCode.ANSWER_IS_NO, "not-optimal")


def test_dominance_alone_may_not_know(aoc: Aoc) -> None:
    code, document = aoc("corridor.sas", "(walk p0)", "--algorithm", "dominance")
    assert (code, document["verdict"]) == (ExitCode.DONE, "optimal")
    assert document["decided_by"].startswith("dominance")
    _, before = aoc("corridor.sas", "(walk p0)", "--solvable", "--dominance", "merged:50")
    assert before["decided_by"].startswith("dominance")


def test_another_state(aoc: Aoc) -> None:
    code, document = aoc("corridor.sas", "(walk p2)", "--state", "2", "--plan-cost", "2")
    assert (code, document["verdict"]) == (ExitCode.DONE, "optimal")
    assert (document["cost"], document["cost_after_action"]) == (2, 2)
    assert document["plan"] == ["(walk p2)", "(walk p3)"]


def test_a_state_without_a_plan_is_undecided(aoc: Aoc) -> None:
    code, document = aoc("one_key.sas", "(open door1)")
    assert code == ExitCode.LIMIT_REACHED
    assert (document["verdict"], document["reason"]) == ("undecided", "unsolvable")


def test_a_limit_is_undecided(aoc: Aoc) -> None:
    Path("hard.sas").write_text(write_sas(dials(12, 8, solvable=False)))
    code, document = aoc("hard.sas", "(turn 0 0 1)", "--time-limit", "0.3", "--solvable")
    assert code == ExitCode.LIMIT_REACHED
    assert (document["verdict"], document["reason"]) == ("undecided", "time-limit")


def test_pddl(capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(EXAMPLES / "ferry" / name) for name in ("domain.pddl", "problems/p01.pddl")]
    command = ["aoc", *files, "--heuristic", "hmax", "--action"]
    assert cli.main([*command, "(sail island1 island3)"]) == ExitCode.ANSWER_IS_NO
    assert "(sail island1 island3) is not optimal" in capsys.readouterr().out
    assert cli.main([*command, "(embark robot1 island1 berth1)"]) == ExitCode.DONE
    assert "(embark robot1 island1 berth1) is optimal" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--action", "(fly)"], "unknown action 'fly'"),
        (["--action", "(walk p7)"], "no operator (walk p7)"),
        (["--action", "walk p0"], "an action must start with '('"),
        (["--action", ""], "is not one action"),
        (["--action", "(walk p1)"], "not applicable in the state: it needs (v0-1)"),
        (["--action", "(jump)", "--state", "0,0"], "state has 2 values, the task 1 variables"),
        (["--action", "(jump)", "--state", "x"], "is not a list of values"),
        (["--action", "(jump)", "--state", "9"], "the value 9 for variable 0"),
        (["--action", "(jump)", "--heuristic", "ff"], "invalid choice: 'ff'"),
        (["--action", "(jump)", "--plan-cost", "-1"], "is not a whole number, 0 or more"),
        (["--action", "(jump)", "--dominance", "best"], "'best' is not a factorization"),
        ([], "--action"),
    ],
)
def test_errors(capsys: pytest.CaptureFixture[str], options: list[str], complaint: str) -> None:
    assert cli.main(["aoc", "corridor.sas", *options]) == ExitCode.BAD_INPUT
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert complaint in captured.err


def test_goal_states_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("open.sas").write_text(write_sas(task_of((2,), [("wait", {}, {0: 1}, 1)], (1,), {0: 1})))
    assert cli.main(["aoc", "open.sas", "--action", "(wait)"]) == ExitCode.BAD_INPUT
    assert "the state is a goal state" in capsys.readouterr().err


def test_equally_named_operators_are_asked_about(
    aoc: Aoc, capsys: pytest.CaptureFixture[str]
) -> None:
    """As SAS files may have them."""
    jumps: list[Rule] = [("jump", {0: 0}, {0: 2}, 1), ("jump", {0: 0}, {0: 1}, 1)]
    task = task_of((3,), [*jumps, ("walk", {0: 1}, {0: 2}, 1)], (0,), {0: 2})
    Path("twice.sas").write_text(write_sas(task))
    assert cli.main(["aoc", "twice.sas", "--action", "(jump)"]) == ExitCode.BAD_INPUT
    assert "choose one: --action #0 or #1" in capsys.readouterr().err
    assert aoc("twice.sas", "#0")[1]["verdict"] == "optimal"
    assert aoc("twice.sas", "#1")[1]["verdict"] == "not-optimal"
    assert cli.main(["aoc", "twice.sas", "--action", "#2"]) == ExitCode.BAD_INPUT
    assert "is not applicable" in capsys.readouterr().err
