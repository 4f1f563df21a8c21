from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from reference.bug_workspace import DOMAIN, problem_text

from engine import cli
from engine.errors import ExitCode
from engine.files import resource

FERRY = resource("examples", "ferry")


def draw(*words: str) -> int:
    domain, problem = FERRY / "domain.pddl", FERRY / "problems" / "p01.pddl"
    return cli.main(["picture", str(domain), str(problem), *words])


@pytest.fixture
def plan(tmp_path: Path, capsys) -> Path:
    path = tmp_path / "found.plan"
    words = [str(FERRY / "domain.pddl"), str(FERRY / "problems" / "p01.pddl"), "--json"]
    assert cli.main(["search", *words]) == ExitCode.DONE
    steps = json.loads(capsys.readouterr().out)["plan"]
    path.write_text("\n".join(steps) + "\n")
    return path


def test_the_initial_state_as_svg(tmp_path: Path, capsys) -> None:
    out = tmp_path / "state.svg"
    assert draw("--out", str(out)) == ExitCode.DONE
    assert capsys.readouterr().out == f"Wrote {out}.\n"
    assert out.read_text().startswith("<svg ")


def test_a_step_of_a_plan_as_json(plan: Path, capsys) -> None:
    assert draw("--plan", str(plan), "--step", "1", "--json") == ExitCode.DONE
    found = json.loads(capsys.readouterr().out)
    assert found["step"] == 1
    assert f"({found['action']})" == plan.read_text().splitlines()[1]
    assert set(found["facts_absent"]) <= set(found["facts_shown"])
    assert found["roles"]["tokens"] == {"ferry-at": "ferry"}
    assert found["objects"]["@ferry-at"]["inside"].startswith("island")
    assert found["seconds"].keys() == {"roles", "layout", "draw"}


def test_the_end_of_a_plan_has_no_action(plan: Path, capsys) -> None:
    steps = len(plan.read_text().splitlines())
    assert draw("--plan", str(plan), "--step", str(steps), "--json") == ExitCode.DONE
    assert json.loads(capsys.readouterr().out)["action"] is None
    assert draw("--plan", str(plan), "--step", str(steps + 1), "--json") == ExitCode.BAD_INPUT
    assert f"the plan has {steps} steps" in capsys.readouterr().err


def test_a_png_is_painted(tmp_path: Path) -> None:
    out = tmp_path / "state.png"
    assert draw("--out", str(out)) == ExitCode.DONE
    assert out.read_bytes().startswith(b"\x89PNG")


def test_nothing_in_the_current_folder_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "it-has-run"
    (tmp_path / "PySide6.py").write_text(f"open({str(mark)!r}, 'w').close()")
    monkeypatch.chdir(tmp_path)
    assert draw("--out", "state.png") == ExitCode.DONE
    assert not mark.exists()


def test_what_is_wrong_is_reported(tmp_path: Path, plan: Path, capsys) -> None:
    assert draw() == ExitCode.BAD_INPUT
    assert "--out" in capsys.readouterr().err
    assert draw("--out", str(tmp_path / "state.gif")) == ExitCode.BAD_INPUT
    assert ".svg or .png" in capsys.readouterr().err
    wrong = tmp_path / "wrong.plan"
    wrong.write_text("\n".join(reversed(plan.read_text().splitlines())) + "\n")
    assert draw("--plan", str(wrong), "--json") == ExitCode.BAD_INPUT
    assert "wrong.plan:1: " in capsys.readouterr().err


def test_unit_costs_keep_actions_whose_costs_are_missing(tmp_path: Path, capsys) -> None:
    domain, problem, plan = (tmp_path / name for name in ("domain.pddl", "p.pddl", "drive.plan"))
    domain.write_text(DOMAIN)
    problem.write_text(re.sub(r"\(= \(length .*?\) \d+\)", "", problem_text(1)))
    plan.write_text("(drive a b)\n")
    words = ["picture", str(domain), str(problem), "--plan", str(plan), "--json"]
    assert cli.main(words) == ExitCode.BAD_INPUT
    capsys.readouterr()
    assert cli.main([*words, "--unit-costs"]) == ExitCode.DONE
    assert json.loads(capsys.readouterr().out)["action"] == "drive a b"
