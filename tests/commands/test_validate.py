from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine import cli
from engine.errors import ExitCode

DOMAIN = """(define (domain bath)
  (:requirements :strips :action-costs)
  (:predicates (full) (hot))
  (:functions (total-cost) - number)
  (:action fill :parameters () :precondition () :effect (and (full) (increase (total-cost) 3)))
  (:action heat :parameters () :precondition (full) :effect (and (hot) (increase (total-cost) 2))))
"""
PROBLEM = """(define (problem warm) (:domain bath) (:init (= (total-cost) 0)) (:goal (hot))
  (:metric minimize (total-cost)))
"""


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("domain.pddl").write_text(DOMAIN)
    Path("problem.pddl").write_text(PROBLEM)
    Path("good.plan").write_text("(fill)\n(HEAT)\n; cost = 5 (general cost)\n")
    Path("bad.plan").write_text("; too early\n(heat)\n(fill)\n")


def validate(*words: str) -> int:
    return cli.main(["validate", "domain.pddl", "problem.pddl", *words])


def test_valid(capsys) -> None:
    assert validate("good.plan", "--json") == ExitCode.DONE
    expected = {"valid": True, "cost": 5, "failed_step": None, "reason": ""}
    output = capsys.readouterr()
    assert json.loads(output.out) == expected
    assert output.err == ""
    assert validate("good.plan") == ExitCode.DONE
    assert capsys.readouterr().out == "valid: 2 steps, cost 5\n"


def test_invalid(capsys) -> None:
    assert validate("bad.plan", "--json") == ExitCode.ANSWER_IS_NO
    assert json.loads(capsys.readouterr().out) == {
        "valid": False,
        "cost": None,
        "failed_step": 1,
        "reason": "step 1: (heat) needs (full), which is false",
    }
    assert validate("bad.plan") == ExitCode.ANSWER_IS_NO
    assert capsys.readouterr().out.startswith("not valid: bad.plan:2: step 1: (heat) needs")


def test_unit_costs_and_a_wrong_cost_in_the_file(capsys) -> None:
    assert validate("good.plan", "--unit-costs", "--json") == ExitCode.DONE
    output = capsys.readouterr()
    assert json.loads(output.out)["cost"] == 2
    assert "states the cost 5, but it is 2" in output.err


def test_unreadable_input(capsys) -> None:
    assert validate("none.plan") == ExitCode.BAD_INPUT
    assert "error: none.plan: the file does not exist" in capsys.readouterr().err
    Path("bad.plan").write_text("(fill\n")
    assert validate("bad.plan") == ExitCode.BAD_INPUT
    assert "error: bad.plan:1:6: the closing ')' is missing" in capsys.readouterr().err
    Path("domain.pddl").write_text("(define (domain bath)")
    assert validate("good.plan") == ExitCode.BAD_INPUT
    assert "error: domain.pddl:1" in capsys.readouterr().err
