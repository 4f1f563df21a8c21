from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine import cli
from engine.errors import ExitCode

DOMAIN = """(define (domain lift)
  (:requirements :strips :typing :action-costs)
  (:types floor)
  (:predicates (above ?a ?b - floor) (on ?a - floor) (lit ?a - floor))
  (:functions (total-cost) - number (height ?a ?b - floor) - number)
  (:action up
    :parameters (?a ?b - floor)
    :precondition (and (on ?a) (above ?b ?a))
    :effect (and (not (on ?a)) (on ?b) (increase (total-cost) (height ?a ?b))))
  (:action light
    :parameters (?a - floor)
    :precondition (on ?a)
    :effect (and (lit ?a) (increase (total-cost) 1))))
"""
PROBLEM = """(define (problem one)
  (:domain lift)
  (:objects f1 f2 - floor)
  (:init (on f1) (above f2 f1) (= (total-cost) 0) (= (height f1 f2) 4))
  (:goal (lit f2))
  (:metric minimize (total-cost)))
"""


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLUMBLINE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    Path("domain.pddl").write_text(DOMAIN)
    Path("problem.pddl").write_text(PROBLEM)


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert cli.main(["task", *words, "--json"]) == ExitCode.DONE
    return json.loads(capsys.readouterr().out)


def test_describes_the_task(capsys) -> None:
    found = answer(capsys, "domain.pddl", "problem.pddl")
    assert found["variables"] == 3  # where it is, and which of the two floors are lit
    assert found["facts"] == 6
    assert found["operators"] == 3
    assert found["goals"] == 1
    assert len(found["initial_state"]) == 3
    assert found["translate_seconds"] > 0
    assert found["has_costs"] is True
    assert found["atoms"] == ["(above f2 f1)", "(on f1)"]
    assert found["warnings"] == []


def test_what_declines_a_task_with_axioms_is_named(capsys) -> None:
    assert answer(capsys, "domain.pddl", "problem.pddl")["declined"] == []
    rule = "(:derived (bright) (exists (?a - floor) (and (on ?a) (lit ?a))))"
    domain = DOMAIN.replace("(lit ?a - floor))", "(lit ?a - floor) (bright))")
    Path("domain.pddl").write_text(domain.replace("(:action up", f"{rule} (:action up"))
    Path("problem.pddl").write_text(PROBLEM.replace("(:goal (lit f2))", "(:goal (bright))"))
    found = answer(capsys, "domain.pddl", "problem.pddl")
    assert found["axioms"] > 0
    reasons = {item["technique"]: item["reason"] for item in found["declined"]}
    assert set(reasons) == {"dominance", "cartesian", "ms"}
    assert "merge-and-shrink (ms) needs a task without axioms" in reasons["ms"]


def test_for_people(capsys) -> None:
    assert cli.main(["task", "domain.pddl", "problem.pddl"]) == ExitCode.DONE
    text = capsys.readouterr().out
    assert "operators     3, costs from 1 to 4" in text
    assert "goal          (lit f2)" in text


def test_missing_values_are_reported_and_unit_costs_help(capsys) -> None:
    Path("problem.pddl").write_text(PROBLEM.replace("(= (height f1 f2) 4)", ""))
    assert cli.main(["task", "domain.pddl", "problem.pddl", "--json"]) == ExitCode.DONE
    output = capsys.readouterr()
    assert "height" in output.err
    assert "--unit-costs" in output.err
    assert any("height" in warning for warning in json.loads(output.out)["warnings"])
    found = answer(capsys, "domain.pddl", "problem.pddl", "--unit-costs")
    assert found["operators"] == 3
    assert found["has_costs"] is False
    assert found["warnings"] == []


def test_wrong_input(capsys) -> None:
    Path("problem.pddl").write_text(PROBLEM.replace("(on f1)", "(on f9)"))
    assert cli.main(["task", "domain.pddl", "problem.pddl"]) == ExitCode.BAD_INPUT
    assert "error: problem.pddl:4:14: " in capsys.readouterr().err
    assert cli.main(["task", "domain.pddl"]) == ExitCode.BAD_INPUT
    assert "FILE.sas" in capsys.readouterr().err
    Path("broken.sas").write_text("begin_version\n2\n")
    assert cli.main(["task", "broken.sas"]) == ExitCode.BAD_INPUT
    assert "error: broken.sas:2: version 2" in capsys.readouterr().err


def test_limits(capsys) -> None:
    words = ["task", "domain.pddl", "problem.pddl"]
    assert cli.main([*words, "--time-limit", "0.001"]) == ExitCode.LIMIT_REACHED
    assert cli.main([*words, "--memory-limit", "5"]) == ExitCode.LIMIT_REACHED
    capsys.readouterr()
    for option, value in [
        ("--time-limit", "-1"),
        ("--time-limit", "nan"),
        ("--time-limit", "soon"),
        ("--memory-limit", "0"),
        ("--memory-limit", "1.5"),
    ]:
        assert cli.main([*words, option, value]) == ExitCode.BAD_INPUT
        assert "is not a positive number" in capsys.readouterr().err
