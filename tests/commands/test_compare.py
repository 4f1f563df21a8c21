from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from engine import cli
from engine.commands.console import ConsoleLink
from engine.equivalence import LimitExceededError
from engine.errors import ExitCode
from engine.records.events import StageStarted

HEAD = "(define (domain lamp) (:requirements :adl) (:predicates (lit ?x) (broken ?x))"
SWITCH_ON = "(:action on :parameters (?x) :precondition (not (broken ?x)) :effect (lit ?x))"
SWITCH_OFF = "(:action off :parameters (?x) :precondition (lit ?x) :effect (not (lit ?x)))"
BOTH_ON = """(:action on2 :parameters (?x ?y)
  :precondition (and (not (broken ?x)) (not (broken ?y))) :effect (and (lit ?x) (lit ?y)))"""
FUSE = """(:action fuse :parameters (?x ?y) :precondition (and (lit ?x) (lit ?y) {test})
  :effect (broken ?x))"""
ODD = "(:action odd :parameters () :precondition () :effect (forall (?x) (lit ?x)))"


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    actions = {
        "a": (SWITCH_ON, SWITCH_OFF),
        "more": (SWITCH_ON, SWITCH_OFF, BOTH_ON),
        "less": (SWITCH_ON,),
        "fuse": (SWITCH_ON, FUSE.format(test="")),
        "fuse-two": (SWITCH_ON, FUSE.format(test="(not (= ?x ?y))")),
        "odd": (ODD,),
    }
    for name, parts in actions.items():
        Path(f"{name}.pddl").write_text("\n".join([HEAD, *parts, ")"]))
    Path("torn.pddl").write_text(HEAD + "(:action")


def compare(*words: str) -> int:
    return cli.main(["compare", *words])


def test_comments_may_be_in_latin_1() -> None:
    Path("old.pddl").write_bytes(b"; von J\xf6rg\n" + Path("a.pddl").read_bytes())
    assert compare("a.pddl", "old.pddl", "--out", "report.html") == ExitCode.DONE
    assert "von Jörg" in Path("report.html").read_text()


def test_a_predicate_that_is_declared_twice_is_one() -> None:
    twice = Path("a.pddl").read_text().replace("(lit ?x)", "(lit ?x) (lit ?y)", 1)
    Path("twice.pddl").write_text(twice)
    assert compare("a.pddl", "twice.pddl") == ExitCode.DONE


def test_what_cannot_be_compared_is_not_a_matter_of_limits(capsys) -> None:
    assert compare("odd.pddl", "odd.pddl") == ExitCode.LIMIT_REACHED
    text = capsys.readouterr().out
    assert "Undecided\n  odd.pddl:2:" in text
    assert "is outside what can be compared" in text


def test_equivalent(capsys) -> None:
    assert compare("a.pddl", "more.pddl", "--json", "--verify") == ExitCode.DONE
    output = capsys.readouterr()
    document = json.loads(output.out)
    assert list(document) == ["distinct", "pddl", "seconds", "verification"]
    assert document["verification"]["ok"]
    for reading in (document["distinct"], document["pddl"]):
        assert reading["verdict"] == "equivalent"
        assert reading["mapping"] == {"lit": "lit", "broken": "broken"}
        assert reading["counterexample"] is None
        assert len(reading["operators"]) == 5
        last = reading["operators"][-1]
        assert (last["domain"], last["operator"], last["covered"]) == ("B", "on2", True)
        assert last["macros"][0]["cases"] == [
            {"true": [], "false": [], "steps": ["(on ?x)", "(on ?y)"]}
        ]
    assert output.err == ""


def test_not_equivalent_with_a_counterexample_in_both_languages(capsys) -> None:
    assert compare("a.pddl", "less.pddl", "--json") == ExitCode.ANSWER_IS_NO
    reading = json.loads(capsys.readouterr().out)["distinct"]
    assert reading["verdict"] == "not-equivalent"
    assert (reading["a_within_b"], reading["b_within_a"]) == (False, True)
    found = reading["counterexample"]
    assert (found["solved_by"], found["plan"]) == ("A", ["(off x)"])
    for text in (found["problem_a"], found["problem_b"]):
        assert "(:goal" in text
        assert "(not (lit x))" in text
    assert reading["conflicts"]
    assert compare("a.pddl", "less.pddl", "--verify") == ExitCode.ANSWER_IS_NO
    text = capsys.readouterr().out
    assert "With distinct objects for different parameters: Not equivalent" in text
    assert "(off ?x) of A cannot always be done in B" in text
    assert "(off x) solves it in A; B has no plan" in text
    assert "A can do everything that B can do" in text
    assert text.endswith("All evidence was verified.\n")


def test_the_exit_code_speaks_of_the_first_reading(capsys) -> None:
    """Only if parameters may coincide can one lamp blow its own fuse."""
    assert compare("fuse.pddl", "fuse-two.pddl", "--json") == ExitCode.DONE
    both = json.loads(capsys.readouterr().out)
    assert both["distinct"]["verdict"] == "equivalent"
    assert both["pddl"]["verdict"] == "not-equivalent"
    words = ("fuse.pddl", "fuse-two.pddl", "--parameters", "pddl", "--json")
    assert compare(*words) == ExitCode.ANSWER_IS_NO
    assert list(json.loads(capsys.readouterr().out)) == ["pddl", "seconds"]


def test_undecided_names_the_construct_and_its_place(capsys) -> None:
    assert compare("a.pddl", "odd.pddl") == ExitCode.LIMIT_REACHED
    output = capsys.readouterr().out
    assert "Undecided" in output
    assert "odd.pddl:2:" in output
    assert "'forall' in an effect of action 'odd'" in output


def test_bad_input(capsys) -> None:
    assert compare("a.pddl", "torn.pddl") == ExitCode.BAD_INPUT
    assert capsys.readouterr().err.startswith("error: torn.pddl:1:")
    assert compare("a.pddl", "missing.pddl", "--json") == ExitCode.BAD_INPUT
    output = capsys.readouterr()
    assert "missing.pddl: the file does not exist" in output.err
    assert output.out == ""
    assert compare("a.pddl", "less.pddl", "--parameters", "some") == ExitCode.BAD_INPUT
    assert compare("a.pddl", "less.pddl", "--time-limit", "0") == ExitCode.BAD_INPUT


def test_a_report(tmp_path: Path, capsys) -> None:
    for name in ("report.html", "report.json"):
        words = ("--verify", "--out", str(tmp_path / name))
        assert compare("a.pddl", "less.pddl", *words) == ExitCode.ANSWER_IS_NO
    assert "Not equivalent" in (tmp_path / "report.html").read_text()
    assert "confirmed the evidence" in (tmp_path / "report.html").read_text()
    document = json.loads((tmp_path / "report.json").read_text())
    assert document["pddl"]["verdict"] == "not-equivalent"
    assert document["verification"]["ok"]
    assert compare("a.pddl", "less.pddl", "--out", "missing/r.html") == ExitCode.BAD_INPUT
    assert "missing/r.html: cannot be written" in capsys.readouterr().err


def test_a_time_limit(capsys) -> None:
    assert compare("a.pddl", "less.pddl", "--time-limit", "1e-9") == ExitCode.LIMIT_REACHED
    assert "the time limit of 1e-09 s was reached" in capsys.readouterr().out


def test_evidence_that_fails_is_a_defect_of_ours(capsys, monkeypatch) -> None:
    monkeypatch.setattr("engine.equivalence.verify_certificate", lambda *_: ["a step is wrong"])
    assert compare("a.pddl", "more.pddl", "--verify") == ExitCode.INTERNAL
    assert "the evidence for 'distinct' fails: a step is wrong" in capsys.readouterr().out


def test_an_interrupt_keeps_what_was_found(capsys, monkeypatch) -> None:
    def interrupt(link, event) -> None:
        if event == StageStarted("pddl", "operators"):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(ConsoleLink, "emit", interrupt)
    before = signal.getsignal(signal.SIGINT)
    assert compare("a.pddl", "less.pddl", "--json") == ExitCode.INTERRUPTED
    document = json.loads(capsys.readouterr().out)
    assert document["distinct"]["verdict"] == "not-equivalent"
    assert document["pddl"]["reason"] == "stopped on request"
    assert signal.getsignal(signal.SIGINT) is before


def test_a_time_limit_of_the_verification(capsys, monkeypatch) -> None:
    def no_time(*_: object) -> list[str]:
        raise LimitExceededError("the time limit was reached")

    monkeypatch.setattr("engine.equivalence.verify_certificate", no_time)
    assert compare("a.pddl", "less.pddl", "--verify") == ExitCode.LIMIT_REACHED
    text = capsys.readouterr().out
    assert "Not equivalent" in text
    assert "verifying the evidence did not end in time" in text
    assert "All evidence was verified" not in text
