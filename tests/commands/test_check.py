"""`plumbline check`: every error with its place, as text and as JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from engine.cli import main

DOMAIN = """\
(define (domain gripper)
  (:requirements :strips :typing)
  (:types room ball)
  (:predicates (at-robot ?r - room) (at ?b - ball ?r - room))
  (:action move
    :parameters (?from ?to - room)
    :precondition (at-robot ?from)
    :effect (and (at-robot ?to) (not (at-robot ?from)))))
"""
PROBLEM = """\
(define (problem two-rooms)
  (:domain gripper)
  (:objects rooma roomb - room)
  (:init (at-robot rooma))
  (:goal (at-robot roomb)))
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    domain, problem = tmp_path / "domain.pddl", tmp_path / "problem.pddl"
    domain.write_text(DOMAIN)
    problem.write_text(PROBLEM)
    return domain, problem


def test_good_files(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", *map(str, files)]) == 0
    output = capsys.readouterr()
    assert output.out.splitlines() == [
        "domain 'gripper': 2 types, 2 predicates, 1 action",
        "problem 'two-rooms': 2 objects, 1 fact in :init",
        "ok: 0 errors, 0 warnings",
    ]
    assert output.err == ""


def test_good_files_as_json(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", *map(str, files), "--json"]) == 0
    output = capsys.readouterr()
    assert json.loads(output.out) == {
        "ok": True,
        "domain": {
            "name": "gripper",
            "types": ["room", "ball"],
            "predicates": ["at-robot", "at"],
            "actions": ["move"],
        },
        "problem": {"name": "two-rooms", "domain": "gripper", "objects": 2, "init": 1},
        "errors": [],
        "warnings": [],
    }
    assert output.err == ""


def test_a_domain_alone(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(files[0]), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["problem"] is None


def test_all_errors_with_the_line_and_a_caret(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    domain, problem = files
    domain.write_text(DOMAIN.replace("(at-robot ?to)", "(at-robt ?to)"))
    problem.write_text(PROBLEM.replace("roomb)", "roomc)"))
    assert main(["check", str(domain), str(problem)]) == 2
    output = capsys.readouterr()
    assert output.err.splitlines() == [
        f"error: {domain}:8:18: unknown predicate 'at-robt'; did you mean 'at-robot'?",
        "        :effect (and (at-robt ?to) (not (at-robot ?from)))))",
        "                     ^",
        f"error: {problem}:5:20: unknown object 'roomc'; did you mean 'roomb'?",
        "      (:goal (at-robot roomc)))",
        "                       ^",
    ]
    assert output.out.endswith("not ok: 2 errors, 0 warnings\n")


def test_errors_as_json(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    domain, _ = files
    domain.write_text(DOMAIN.replace(":strips :typing", ":strips").replace("?to)", "?too)"))
    assert main(["check", str(domain), "--json"]) == 2
    document = json.loads(capsys.readouterr().out)
    assert document["ok"] is False
    assert document["errors"] == [
        {
            "file": str(domain),
            "line": 8,
            "column": 28,
            "message": "unknown variable '?too'",
            "hint": "did you mean '?to'?",
        }
    ]
    assert [item["line"] for item in document["warnings"]] == [3]


def test_a_missing_file_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "missing.pddl"
    assert main(["check", str(path), "--json"]) == 2
    document = json.loads(capsys.readouterr().out)
    assert document["domain"] is None
    assert document["errors"] == [
        {
            "file": str(path),
            "line": None,
            "column": None,
            "message": "the file does not exist",
            "hint": "check the path",
        }
    ]


def test_a_long_source_line_is_cut_around_the_error(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    filler = " (at-robot rooma)" * 100
    files[1].write_text(PROBLEM.replace("(:init", f"(:init{filler} (at-robt rooma){filler}"))
    assert main(["check", *map(str, files)]) == 2
    lines = capsys.readouterr().err.splitlines()
    number = next(i for i, line in enumerate(lines) if line.startswith("error: "))
    source, caret = lines[number + 1 : number + 3]
    assert len(source) == 4 + 120
    assert source[caret.index("^") :].startswith("(at-robt rooma)")


@pytest.mark.parametrize(
    ("broken", "place"),
    [
        (DOMAIN[:-4], ":8:13: this parenthesis is never closed"),
        (DOMAIN + ")", ":9:1: this ')' closes nothing"),
        ("(" * 100_000, ":1:101: parentheses are nested deeper"),
        ("", ": the file is empty"),
        ("\x00\x01", ": this is not a text file"),
        (PROBLEM, ":1:9: this is a problem, but a domain is expected here"),
        (
            DOMAIN.replace("room ball", "room - ball ball - room"),
            ":3:11: the type hierarchy has a cycle",
        ),
        (DOMAIN.replace("(?from ?to", "(?from ?from"), ":6:24: the parameter '?from'"),
        (DOMAIN.replace(":effect", ":efect"), ":8:5: ':efect' is not allowed here"),
        (DOMAIN.replace("- ball ?r - room", "- bal ?r - room"), ":4:46: unknown type 'bal'"),
        (DOMAIN.replace("(at-robot ?from)\n", "(> 1 2)\n"), ":7:19: numeric conditions"),
        (DOMAIN.replace("gripper", "grüpper"), ":1:19: the character 'ü'"),
        (DOMAIN.replace(":action", ":durative-action"), ":5:3: durative actions"),
        (DOMAIN.replace(":strips", ":strps"), ":2:18: unknown requirement ':strps'"),
        (DOMAIN.replace("(at-robot ?to)", "(at-robot)"), ":8:18: the predicate 'at-robot' takes"),
        (DOMAIN.replace("(and (at", "(xor (at"), ":8:18: an argument that is an expression"),
    ],
)
def test_broken_input(
    broken: str, place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broken.pddl"
    path.write_text(broken)
    assert main(["check", str(path)]) == 2
    messages = capsys.readouterr().err
    assert f"error: {path}{place}" in messages
    assert "; " in messages.splitlines()[0]


def test_a_process_of_its_own_ends_with_the_exit_code_and_no_traceback(tmp_path: Path) -> None:
    path = tmp_path / "broken.pddl"
    path.write_text("(" * 100_000)
    done = subprocess.run(
        [sys.executable, "-m", "engine.cli", "check", str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {path}:1:101: ")
    assert "Traceback" not in done.stderr
