"""`plumbline localize`, and root causes in `bugs` and `campaign`."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
from reference.forging import forging

from engine.cli import main
from engine.commands.console import ConsoleLink
from engine.task.load import load_task
from engine.task.sas import write_sas
from engine.task.validate import validate_operators
from engine.workspace.workspace import Workspace

# A walker who takes the ferry whenever there is one, though the bridge beside it is cheaper; from
# the marsh there is no way back.
DOMAIN = """\
(define (domain river)
  (:requirements :strips :action-costs)
  (:predicates (at ?p) (path ?a ?b) (ferry ?a ?b) (bog ?a ?b) (seen ?p))
  (:functions (total-cost))
  (:action drown :parameters (?a ?b) :precondition (and (at ?a) (bog ?a ?b))
    :effect (and (at ?b) (not (at ?a)) (increase (total-cost) 1)))
  (:action sail :parameters (?a ?b) :precondition (and (at ?a) (ferry ?a ?b))
    :effect (and (at ?b) (not (at ?a)) (increase (total-cost) 9)))
  (:action walk :parameters (?a ?b) :precondition (and (at ?a) (path ?a ?b))
    :effect (and (at ?b) (not (at ?a)) (increase (total-cost) 2))))
"""


def problem(extra: str = "") -> str:
    return f"""\
(define (problem p) (:domain river) (:objects a b c d e marsh)
  (:init (at a) (path a b) (path b c) (path c d) (path d e) (ferry c d) {extra}
    (= (total-cost) 0))
  (:goal (at e)) (:metric minimize (total-cost)))
"""


CONFIG = """\
domain = "domain.pddl"
problems = ["p.pddl", "bog.pddl"]
policies = ["builtin:gc"]
[fuzzing]
size = 6
[testing]
oracles = ["astar"]
[localization]
enabled = true
"""


def fill(folder: Path) -> Path:
    (folder / "domain.pddl").write_text(DOMAIN)
    (folder / "p.pddl").write_text(problem())
    (folder / "bog.pddl").write_text(problem("(bog c marsh)"))
    (folder / "c.toml").write_text(CONFIG)
    return folder


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with localizations, and one without."""
    folder = fill(tmp_path_factory.mktemp("finished"))
    assert main(["campaign", str(folder / "c.toml"), "--out", str(folder / "c.plumb")]) == 0
    shutil.copy(folder / "c.plumb", folder / "plain.plumb")
    with forging(folder / "plain.plumb") as connection:
        connection.execute("DELETE FROM localized_steps")
        connection.execute("DELETE FROM localizations")
        connection.execute("DELETE FROM root_causes")
    return folder


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "copy"))


def call(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> dict[str, Any]:
    assert main([*map(str, words), "--json"]) == code
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def error(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert main([*map(str, words)]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert "Traceback" not in output.err
    return output.err


def bug_at_a(capsys: pytest.CaptureFixture[str], path: Path, name: str) -> dict[str, Any]:
    bugs = call(capsys, "bugs", path)["bugs"]
    return next(b for b in bugs if b["problem"] == name and b["bound"] == 8)


def test_a_bug_is_localized_and_kept(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "plain.plumb"
    bug = bug_at_a(capsys, path, "p.pddl")
    assert bug["root_cause"] is None
    found = call(capsys, "localize", path, "--bug", bug["id"])
    assert {"steps", "bad_steps", "root_state", "worst_step"} <= set(found)
    assert [step["loss"] for step in found["steps"]] == [[0, 0], [0, 0], [7, 7], [0, 0]]
    assert (found["worst_step"], found["bound"]) == (2, 8)
    assert [step["i"] for step in found["steps"]] == [0, 1, 2, 3]
    assert [step["action"] for step in found["steps"]][:2] == ["(walk a b)", "(walk b c)"]
    verdicts = ["optimal", "optimal", "not-optimal", "optimal"]
    assert [step["verdict"] for step in found["steps"]] == verdicts
    assert [step["policy_to_go"] for step in found["steps"]] == [15, 13, 11, 2]
    assert [step["optimal_to_go"] for step in found["steps"]] == [8, 6, 4, 2]
    assert found["bad_steps"] == [2]
    assert found["steps"][2]["better_plan"] == ["(walk c d)", "(walk d e)"]
    assert found["cause"]["kind"] == "detour"
    assert found["cause"]["action"] == "(sail c d)"
    assert "(at c)" in found["cause"]["facts"]
    with Workspace.open(path) as store:
        whole = store.bug(bug["id"])
        task = store.task(whole.problem_id)
        state = tuple(found["root_state"])
        names = [task.operator_index[n.strip("()")] for n in found["steps"][2]["better_plan"]]
        assert validate_operators(task, names, state).cost == 4
        assert whole.row.root_cause == found["root_cause"] is not None
    again = call(capsys, "bugs", path, "--filter", f"root:{found['root_cause']}")
    assert [item["id"] for item in again["bugs"]] == [bug["id"]]


@pytest.mark.parametrize("algorithm", ["aoca", "sms-bc"])
def test_other_ways_come_to_the_same(
    folder: Path, capsys: pytest.CaptureFixture[str], algorithm: str
) -> None:
    path = folder / "plain.plumb"
    bug = bug_at_a(capsys, path, "p.pddl")["id"]
    words = ("localize", path, "--bug", bug, "--algorithm", algorithm, "--heuristic", "hmax")
    found = call(capsys, *words)
    assert found["bad_steps"] == [2]
    assert found["undecided_steps"] == []


def test_a_bug_that_loses_the_goal(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "plain.plumb"
    bug = bug_at_a(capsys, path, "bog.pddl")
    found = call(capsys, "localize", path, "--bug", bug["id"])
    assert found["cause"]["kind"] == "dead-end"
    assert found["cause"]["action"] == "(drown c marsh)"
    assert found["failure"]["last_solvable"] == 2
    assert found["failure"]["first_unsolvable"] == 3
    assert found["failure"]["plan"] == ["(walk c d)", "(walk d e)"]
    assert found["steps"][2]["policy_to_go"] is None
    assert main(["localize", str(path), "--bug", str(bug["id"])]) == 0
    text = capsys.readouterr().out
    assert "BAD: makes the goal unreachable; cost-to-go before: 4" in text
    assert "After step 3 (drown c marsh) the goal cannot be reached." in text


def test_all_bugs_at_once_then_none_is_left(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "plain.plumb"
    bugs = call(capsys, "bugs", path)["bugs"]
    found = call(capsys, "localize", path, "--all")
    assert [item["bug"] for item in found["bugs"]] == [bug["id"] for bug in bugs]
    assert found["root_causes"] == 2
    assert call(capsys, "localize", path, "--all")["bugs"] == []
    assert main(["localize", str(path), "--all"]) == 0
    assert capsys.readouterr().out == "0 bugs localized\n"


def test_a_campaign_tells_root_causes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is left to do, so resuming only tells what is there."""
    words = ["campaign", str(folder / "c.toml"), "--out", str(folder / "c.plumb"), "--resume"]
    totals = call(capsys, *words)
    assert totals["root_causes"] == 2
    assert totals["localized"] == totals["bugs"] == 6
    assert main(words) == 0
    assert "6 bugs localized, 2 root causes" in capsys.readouterr().out
    listed = call(capsys, "bugs", folder / "c.plumb")
    assert {bug["root_cause"] for bug in listed["bugs"]} == {1, 2}
    causes = {cause["action"]: cause for cause in listed["root_causes"]}
    assert set(causes) == {"(sail c d)", "(drown c marsh)"}
    assert {len(cause["bugs"]) for cause in causes.values()} == {3}
    assert {group["schema"] for group in listed["schemas"]} == {"sail", "drown"}
    smallest = causes["(sail c d)"]["smallest_bug"]
    assert next(bug["bound"] for bug in listed["bugs"] if bug["id"] == smallest) == 4


def test_root_causes_as_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bugs", str(folder / "c.plumb"), "--root-causes"]) == 0
    text = capsys.readouterr().out
    assert "sail: 3 bugs" in text
    assert text.endswith("2 root causes of 6 bugs; 0 not localized\n")
    assert main(["bugs", str(folder / "plain.plumb"), "--root-causes"]) == 0
    assert "0 root causes of 0 bugs; 6 not localized" in capsys.readouterr().out
    one = ["--filter", "problem:bog", "--root-causes"]
    assert main(["bugs", str(folder / "c.plumb"), *one]) == 0
    assert "sail" not in capsys.readouterr().out
    assert main(["bugs", str(folder / "c.plumb")]) == 0
    assert "root cause" in capsys.readouterr().out.splitlines()[0]


def test_a_fresh_run_of_a_policy(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = folder / "domain.pddl", folder / "p.pddl"
    found = call(capsys, "localize", "builtin:gc", *files)
    assert found["bad_steps"] == [2]
    assert found["cause"]["action"] == "(sail c d)"
    assert call(capsys, "localize", "builtin:optimal", *files)["bad_steps"] == []
    assert main(["localize", "builtin:optimal", *map(str, files)]) == 0
    assert "No step is bad." in capsys.readouterr().out
    task = load_task(*files)
    (folder / "t.sas").write_text(write_sas(task))
    from_sas = call(capsys, "localize", "builtin:gc", folder / "t.sas")
    assert from_sas["bad_steps"] == [2]
    values = ",".join(map(str, found["root_state"]))
    later = call(capsys, "localize", "builtin:gc", *files, "--state", values)
    assert later["bad_steps"] == [0]
    assert later["root_state"] == found["root_state"]
    sunk = call(capsys, "localize", "builtin:gc", files[0], folder / "bog.pddl")
    assert sunk["cause"]["kind"] == "dead-end"


def test_limits_end_with_their_own_code(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = folder / "domain.pddl", folder / "p.pddl"
    words = ("localize", "builtin:gc", *files, "--expansions", 1, "--heuristic", "blind")
    found = call(capsys, *words, code=3)
    assert found["limited"]
    assert found["bad_steps"] == []
    assert found["steps"][0]["optimal_to_go"] is None
    assert found["steps"][0]["optimal_high"] == 15
    path = folder / "plain.plumb"
    bug = bug_at_a(capsys, path, "bog.pddl")["id"]
    call(capsys, "localize", path, "--bug", bug, "--time-limit", "0.000001", code=3)
    (folder / "t.sas").write_text(write_sas(load_task(*files)))
    sas = ["localize", "builtin:gc", str(folder / "t.sas"), "--time-limit", "0.000001"]
    assert main(sas) == 3
    assert "the policy's run did not end within the time limit" in capsys.readouterr().err
    assert main([*map(str, words)]) == 3
    assert (
        "No step was proven bad within the limits; 3 steps are undecided."
        in capsys.readouterr().out
    )


def test_interrupted_it_tells_what_is_whole(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C comes after a search: of a fresh run, or for the first bug."""
    progress = ConsoleLink.progress

    def interrupt(link: ConsoleLink, done: float, total: float | None, text: str) -> None:
        progress(link, done, total, text)
        if (done or "searches" in text) and not link.interrupted:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(ConsoleLink, "progress", interrupt)
    before = signal.getsignal(signal.SIGINT)
    files = folder / "domain.pddl", folder / "p.pddl"
    found = call(capsys, "localize", "builtin:gc", *files, code=130)
    assert found["searches"] == 1
    path = folder / "plain.plumb"
    assert main(["localize", str(path), "--all", "--json"]) == 130
    output = capsys.readouterr()
    assert (output.out, output.err) == ("", "stopped\n")
    assert call(capsys, "bugs", path)["root_causes"] == []
    assert signal.getsignal(signal.SIGINT) is before


def test_wrong_input_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "c.plumb"
    files = folder / "domain.pddl", folder / "p.pddl"
    assert "--bug ID" in error(capsys, "localize", path)
    assert "unknown bug 999" in error(capsys, "localize", path, "--bug", 999)
    assert "does not exist" in error(capsys, "localize", folder / "none.plumb", "--all")
    assert "not a Plumbline workspace" in error(capsys, "localize", files[0], "--all")
    assert "require a workspace" in error(capsys, "localize", "builtin:gc", *files, "--all")
    assert "the value 9 for variable 0" in error(
        capsys, "localize", "builtin:gc", *files, "--state", "9"
    )
    assert "not a list of values" in error(capsys, "localize", "x", *files, "--state", "a,b")
    assert "not allowed with" in error(capsys, "localize", path, "--bug", 1, "--all")
    assert "is not a whole number" in error(
        capsys, "localize", path, "--all", "--expansions", "many"
    )
