"""`plumbline campaign`, `bugs`, `verify` and `export`: JSON, exit codes, signals, bundles."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from reference.forging import forge

from engine.cli import main
from engine.errors import WorkspaceError
from engine.task.load import load_task
from engine.task.sas import write_sas
from engine.workspace.workspace import Workspace

DOMAIN = """\
(define (domain rooms)
  (:requirements :strips :typing :action-costs)
  (:types room key)
  (:predicates (door ?a ?b - room) (at ?r - room) (in ?k - key ?r - room) (has ?k - key))
  (:functions (total-cost) (effort ?a ?b - room))
  (:action go
    :parameters (?a ?b - room) :precondition (and (at ?a) (door ?a ?b))
    :effect (and (at ?b) (not (at ?a)) (increase (total-cost) (effort ?a ?b))))
  (:action fetch
    :parameters (?k - key ?r - room) :precondition (and (at ?r) (in ?k ?r))
    :effect (and (has ?k) (not (in ?k ?r)) (increase (total-cost) 1))))
"""
DOORS = [("a", "b", 1), ("b", "c", 1), ("a", "c", 9), ("c", "a", 2), ("c", "d", 5), ("d", "a", 9)]
PROBLEM = f"""\
(define (problem two-keys) (:domain rooms)
  (:objects a b c d - room  k1 k2 - key)
  (:init (at a) (in k1 c) (in k2 d) (= (total-cost) 0)
    {" ".join(f"(door {a} {b}) (= (effort {a} {b}) {n})" for a, b, n in DOORS)})
  (:goal (and (has k1) (has k2) (at a))) (:metric minimize (total-cost)))
"""
MORE_KEYS = [f"more{number}" for number in range(30)]
MANY_STATES = PROBLEM.replace("k2 - key", f"k2 {' '.join(MORE_KEYS)} - key").replace(
    "(in k2 d)", f"(in k2 d) {' '.join(f'(in {key} b)' for key in MORE_KEYS)}"
)
CONFIG = """\
domain = "domain.pddl"
problems = ["problem.pddl"]
policies = ["builtin:gc"]
[fuzzing]
size = 8
[testing]
oracles = ["aras-ehc", "astar"]
"""


def fill(folder: Path) -> Path:
    (folder / "domain.pddl").write_text(DOMAIN)
    (folder / "problem.pddl").write_text(PROBLEM)
    (folder / "many-states.pddl").write_text(MANY_STATES)
    (folder / "c.toml").write_text(CONFIG)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return fill(tmp_path)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = fill(tmp_path_factory.mktemp("finished"))
    path = folder / "w.plumb"
    assert main(["campaign", str(folder / "c.toml"), "--out", str(path)]) == 0
    return path


@pytest.fixture
def workspace(finished: Path, folder: Path) -> Path:
    """A finished campaign to spoil."""
    return Path(shutil.copy(finished, folder / "w.plumb"))


def call(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> dict[str, Any]:
    assert main([*map(str, words), "--json"]) == code
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def error(capsys: pytest.CaptureFixture[str], *words: object, code: int = 2) -> str:
    assert main([*map(str, words)]) == code
    output = capsys.readouterr()
    assert output.out == ""
    assert "Traceback" not in output.err
    return output.err


def test_a_campaign_from_the_configuration_to_the_bundle(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "w.plumb"
    two = CONFIG.replace('["builtin:gc"]', '["builtin:gc", "builtin:hadd"]')
    (folder / "c.toml").write_text(two)
    totals = call(capsys, "campaign", folder / "c.toml", "--out", path, "--fail-on-bugs", code=1)
    keys = {"states", "bugs", "qualitative", "quantitative", "root_causes", "per_oracle"}
    assert keys | {"verified", "seconds"} <= set(totals)
    assert totals["root_causes"] is None
    assert totals["bugs"] == totals["qualitative"] + totals["quantitative"] > 0
    assert set(totals["per_oracle"]) == {"aras-ehc", "astar"}

    bugs = call(capsys, "bugs", path)["bugs"]
    assert len(bugs) == totals["bugs"] + totals["nonpool_bugs"]
    assert totals["bugs"] == totals["verified"]
    keys = {"id", "kind", "problem", "policy_cost", "bound", "gap", "found_by", "evidence"}
    assert keys | {"region", "root_cause", "status"} <= set(bugs[0])

    answer = call(capsys, "verify", path)
    assert answer["verified"] == len(bugs)
    assert answer["failed"] == answer["undecided"] == []
    assert answer["plans_accepted_by_val"] == len(bugs) + totals["quantitative"]
    assert answer["policy"] == {"same": len(bugs), "other": [], "not_asked": []}
    assert answer["claims"]["bugs"] >= len(bugs)
    assert answer["claims"]["states"] == len(bugs) + totals["states"]
    assert any("times" in text for text in answer["unchecked"])

    bugs = [bug for kind in by_kind(bugs) for bug in kind[:2]]
    numbers = [bug["id"] for bug in bugs]
    bundles = call(capsys, "export", path, "--bug", *numbers, "--out", folder / "out")["bundles"]
    assert [bundle["bug"] for bundle in bundles] == numbers
    for bug, bundle in zip(bugs, bundles, strict=True):
        check_bundle(capsys, bug, Path(bundle["folder"]))


def by_kind(bugs: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    kinds = sorted({bug["kind"] for bug in bugs})
    assert kinds == ["qualitative", "quantitative"]
    return [[bug for bug in bugs if bug["kind"] == kind] for kind in kinds]


def check_bundle(capsys: pytest.CaptureFixture[str], bug: dict[str, Any], folder: Path) -> None:
    names = {"domain.pddl", "problem.pddl", "original-problem.pddl", "bug.json", "README.md"}
    found = {path.name for path in folder.iterdir()} - {"original-domain.pddl"}
    assert found == names | {"policy.plan", "better.plan"}
    task = folder / "domain.pddl", folder / "problem.pddl"
    better = call(capsys, "validate", *task, folder / "better.plan")
    assert better["cost"] == bug["bound"]
    found = call(capsys, "search", *task, "--algorithm", "astar", "--heuristic", "lmcut")
    assert found["cost"] <= bug["bound"]
    if bug["policy_cost"] is not None:
        policy = call(capsys, "validate", *task, folder / "policy.plan")
        assert policy["cost"] == bug["policy_cost"] > found["cost"]
    else:
        assert "does not reach the goal" in (folder / "policy.plan").read_text()
    assert json.loads((folder / "bug.json").read_text())["id"] == bug["id"]
    assert (
        "plumbline validate domain.pddl problem.pddl better.plan"
        in (folder / "README.md").read_text()
    )


def test_bugs_are_filtered(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    every = call(capsys, "bugs", workspace)["bugs"]
    some = call(capsys, "bugs", workspace, "--filter", "bound>=10 status:new oracle:as")["bugs"]
    assert some == [bug for bug in every if bug["bound"] >= 10 and "as" in bug["found_by"]]
    assert main(["bugs", str(workspace), "--filter", "kind:none"]) == 0
    assert capsys.readouterr().out.endswith(f"0 of {len(every)}\n")
    for answer, outside in (("no", True), ("yes", False)):
        listed = call(capsys, "bugs", workspace, "--filter", f"pool:{answer}")["bugs"]
        assert listed == [bug for bug in every if (bug["pool_number"] is None) is outside]
    assert "did you mean 'status'" in error(capsys, "bugs", workspace, "--filter", "statu:new")
    assert "needs a number" in error(capsys, "bugs", workspace, "--filter", "gap>x")
    assert "is not a number" in error(capsys, "bugs", workspace, "--filter", "kind>3")


def test_bugs_are_decided_about(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = (bug["id"] for bug in call(capsys, "bugs", workspace)["bugs"][:2])
    decision = ("--bug", second, "--duplicate-of", first, "--note", "see there")
    marked = call(capsys, "bugs", workspace, *decision)
    (bug,) = marked["bugs"]
    assert (bug["id"], bug["status"], bug["duplicate_of"]) == (second, "duplicate", first)
    call(capsys, "bugs", workspace, "--bug", second, "--note", "the same trap")
    (bug,) = call(capsys, "bugs", workspace, "--filter", f"original:{first}")["bugs"]
    assert (bug["id"], bug["duplicate_of"], bug["note"]) == (second, first, "the same trap")
    assert main(["bugs", str(workspace), "--bug", str(second)]) == 0
    assert f"duplicate of {first}" in capsys.readouterr().out
    (bug,) = call(capsys, "bugs", workspace, "--bug", second, "--mark", "confirmed")["bugs"]
    assert (bug["status"], bug["duplicate_of"]) == ("confirmed", None)
    words = ("bugs", workspace, "--bug", first, "--duplicate-of", first)
    assert "a duplicate of itself" in error(capsys, *words)
    assert "no bug to triage" in error(capsys, "bugs", workspace, "--mark", "ignored")


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE evidence SET document = replace(document, '\"walk\":[', '\"walk\":[0,') "
        "WHERE finding = 1",
        "UPDATE evidence SET document = 'nonsense' WHERE finding = 1",
        "UPDATE evidence SET document = '{}' WHERE finding = 1",
        "UPDATE findings SET bound = bound - 1 WHERE id = 1",
        "UPDATE findings SET kind = 'unclassified' WHERE id = 1",
        "UPDATE findings SET gap = ifnull(gap, 0) + 1 WHERE id = 1",
        "UPDATE findings SET policy_cost = ifnull(policy_cost, bound) + 1 WHERE id = 1",
        "UPDATE runs SET operators = x'0100010203' WHERE finding = 1",
        "UPDATE runs SET operators = x'07' WHERE finding = 1",
    ],
)
def test_forged_evidence_is_noticed(
    workspace: Path, capsys: pytest.CaptureFixture[str], change: str
) -> None:
    total = len(call(capsys, "bugs", workspace)["bugs"])
    forge(workspace, change)
    answer = call(capsys, "verify", workspace, code=1)
    wrong = [item for item in answer["failed"] if item["id"] == 1]
    assert wrong
    assert wrong[0]["reason"]
    assert answer["verified"] == total - 1
    assert call(capsys, "verify", workspace, "--bug", 2)["verified"] == 1


def test_runs_of_another_policy_are_false(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forge(workspace, "UPDATE policies SET spec = 'builtin:random'")
    answer = call(capsys, "verify", workspace, code=1)
    other = [item["bug"] for item in answer["policy"]["other"]]
    failed = [(item["claim"], item["id"]) for item in answer["failed"]]
    assert {("runs", bug) for bug in other} < set(failed)
    assert main(["verify", str(workspace), "--bug", str(other[0])]) == 1
    text = capsys.readouterr().out
    assert f"bug {other[0]} (policy runs) is false: the policy runs differently: in step" in text


def test_another_encoding_is_noticed(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forge(workspace, "UPDATE problems SET task_hash = 'another'")
    answer = call(capsys, "verify", workspace, code=1)
    assert answer["verified"] == 0
    assert "does not match its hash" in answer["failed"][0]["reason"]


def test_comments_may_be_in_latin_1(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in (("domain", DOMAIN), ("problem", PROBLEM)):
        (folder / f"{name}.pddl").write_bytes(f"; von Jörg\n{text}".encode("latin-1"))
    path = folder / "w.plumb"
    bugs = call(capsys, "campaign", folder / "c.toml", "--out", path)["bugs"]
    assert bugs
    assert call(capsys, "verify", path)["verified"] >= bugs
    (exported,) = call(capsys, "export", path, "--bug", 1, "--out", folder / "out")["bundles"]
    assert exported["reproduces"]
    (witness,) = call(capsys, "minimize", path, "--bug", 1)["witnesses"]
    assert witness["verified"]


def test_unit_costs_and_sas_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (folder / "c.toml").read_text()
    (folder / "c.toml").write_text("unit_costs = true\n" + text)
    task = load_task(folder / "domain.pddl", folder / "problem.pddl")
    (folder / "task.sas").write_text(write_sas(task))
    plain = text.replace('domain = "domain.pddl"\n', "").replace("problem.pddl", "task.sas")
    (folder / "sas.toml").write_text(plain)
    for name in ("c", "sas"):
        path = folder / f"{name}.plumb"
        call(capsys, "campaign", folder / f"{name}.toml", "--out", path)
        bugs = call(capsys, "bugs", path)["bugs"]
        assert call(capsys, "verify", path)["verified"] == len(bugs) > 0
        number = bugs[0]["id"]
        call(capsys, "export", path, "--bug", number, "--out", folder / name)
        bundle = folder / name / f"bug-{number}"
        if name == "c":
            check_bundle(capsys, bugs[0], bundle)
        else:
            found = call(capsys, "search", bundle / "task.sas", "--heuristic", "blind")
            assert found["cost"] <= bugs[0]["bound"]


def test_a_bug_known_by_comparison_is_exported_with_a_plan(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The evidence of a metamorphic oracle is no plan: one is looked for."""
    text = CONFIG.replace('"aras-ehc", "astar"', '"bmo:lookahead=0"').replace("gc", "random")
    (folder / "c.toml").write_text(text.replace("size = 8", "size = 14"))
    path = folder / "w.plumb"
    call(capsys, "campaign", folder / "c.toml", "--out", path)
    bugs = call(capsys, "bugs", path, "--filter", "evidence:dominance")["bugs"]
    assert bugs
    assert any("morph" in step for step in bugs[0]["evidence"]["steps"])
    assert call(capsys, "verify", path, "--bug", bugs[0]["id"])["verified"] == 1
    call(capsys, "export", path, "--bug", bugs[0]["id"], "--out", folder / "out")
    bundle = folder / "out" / f"bug-{bugs[0]['id']}"
    task = bundle / "domain.pddl", bundle / "problem.pddl"
    better = call(capsys, "validate", *task, bundle / "better.plan")
    policy = call(capsys, "validate", *task, bundle / "policy.plan")
    assert better["cost"] <= bugs[0]["bound"] < policy["cost"]


def test_init_writes_an_example_once(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert call(capsys, "campaign", "--init") == {"config": "campaign.toml"}
    assert "already exists" in error(capsys, "campaign", "--init")
    call(capsys, "campaign", "--init", folder / "other.toml")
    assert (folder / "other.toml").read_text() == (folder / "campaign.toml").read_text()


def test_init_prints_to_standard_output(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert main(["campaign", "--init", "-"]) == 0
    assert "[fuzzing]" in capsys.readouterr().out
    assert not (folder / "-").exists()


FIRST_PLUGIN = """
class First:
    def __init__(self, task):
        self.task = task

    def decide(self, states):
        return [next(iter(self.task.applicable(state)), -1) for state in states]

def make(task):
    return First(task)
"""


def test_a_bundle_warns_before_it_tells_to_run_a_plugin(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "first.py").write_text(FIRST_PLUGIN)
    (folder / "c.toml").write_text(CONFIG.replace("builtin:gc", "first.py:make"))
    path = folder / "w.plumb"
    call(capsys, "campaign", folder / "c.toml", "--out", path)
    forge(path, "UPDATE findings SET oracle = '[click](http://x) <b>`# run'")
    number = call(capsys, "bugs", path)["bugs"][0]["id"]
    call(capsys, "export", path, "--bug", number, "--out", folder / "out")
    text = (folder / "out" / f"bug-{number}" / "README.md").read_text()
    assert 0 < text.index("**Warning:** the policy is a program") < text.index("plumbline run")
    assert "found by `[click](http://x) <b>'# run`" in text


def test_wrong_input(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config, out = folder / "c.toml", folder / "w.plumb"
    assert "--out" in error(capsys, "campaign", config)
    assert "--init" in error(capsys, "campaign")
    assert "unknown executor" in error(capsys, "campaign", config, "--out", out, "--executor", "x")
    config.write_text(CONFIG.replace("size = 8", "siez = 8"))
    message = error(capsys, "campaign", config, "--out", out)
    assert message.startswith(f"error: {config}:5:1: unknown setting 'fuzzing.siez'")
    config.write_text(CONFIG.replace("builtin:gc", "builtin:gcc"))
    assert "unknown built-in policy" in error(capsys, "campaign", config, "--out", out)
    assert "does not exist" in error(capsys, "bugs", folder / "none.plumb")
    assert "not a Plumbline workspace" in error(capsys, "verify", config)
    assert not (folder / "none.plumb").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("verify", "--bug"),
        ("export", "--bug"),
        ("localize", "--bug"),
        ("minimize", "--bug"),
        ("bugs", "--bug", 1, "--duplicate-of"),
    ],
)
def test_a_number_that_no_bug_can_have(
    workspace: Path, capsys: pytest.CaptureFixture[str], words: tuple[object, ...]
) -> None:
    command, *options = words
    message = error(capsys, command, workspace, *options, 10**22)
    assert "is not a whole number" in message


def test_a_campaign_is_not_run_over(
    workspace: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = folder / "c.toml"
    assert "--resume" in error(capsys, "campaign", config, "--out", workspace)
    again = call(capsys, "campaign", config, "--out", workspace, "--resume")
    other = call(capsys, "campaign", config, "--out", workspace, "--seed", 3)
    assert {unit["seed"] for unit in other["units"]} == {3}
    listed = call(capsys, "bugs", workspace)
    assert len(listed["bugs"]) - listed["further"] == again["bugs"] + other["bugs"]
    assert listed["further"] == again["nonpool_bugs"] + other["nonpool_bugs"]
    assert "unknown bug 9999" in error(capsys, "export", workspace, "--bug", 9999, "--out", folder)


BROKEN_PLUGIN = "def make(seed=0):\n    raise RuntimeError('no weights here')\n"


def test_a_campaign_with_failed_units_is_not_finished(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "broken.py").write_text(BROKEN_PLUGIN)
    two = CONFIG.replace('["builtin:gc"]', '["builtin:gc", "broken.py:make"]')
    (folder / "c.toml").write_text(two)
    words = ("campaign", folder / "c.toml", "--out", folder / "w.plumb")
    totals = call(capsys, *words, code=3)
    assert totals["status"] == "incomplete"
    assert [unit["status"] for unit in totals["units"]] == ["finished", "failed"]
    assert "no weights here" in totals["units"][1]["error"]
    assert main([*map(str, words), "--resume"]) == 3
    text = capsys.readouterr().out
    assert "1 of 2 units are not done" in text
    assert "problem.pddl, broken.py:make, seed 0: failed (" in text
    assert "w.plumb: incomplete" in text
    assert call(capsys, *words, "--resume", "--fail-on-bugs", code=1)["bugs"] > 0


def test_a_campaign_without_any_success_says_which_units_failed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "broken.py").write_text(BROKEN_PLUGIN)
    (folder / "c.toml").write_text(CONFIG.replace("builtin:gc", "broken.py:make"))
    words = ("campaign", folder / "c.toml", "--out", folder / "w.plumb")
    (unit,) = call(capsys, *words, code=2)["units"]
    assert unit["status"] == "failed"
    assert "no unit succeeded" in error(capsys, *words, "--resume")


PATIENCE = 300.0
"""Seconds until something is surely broken: machines are slow at times."""
ENDLESS = (
    CONFIG.replace("problem.pddl", "many-states.pddl")
    .replace("size = 8", "size = 100000000")
    .replace("oracles", 'objective = "any"\noracles')
)


def test_a_time_limit_leaves_the_rest_for_later(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = folder / "c.toml"
    config.write_text(ENDLESS)
    words = ("campaign", config, "--out", folder / "w.plumb", "--time-limit", "3")
    totals = call(capsys, *words, code=3)
    assert totals["status"] == "stopped"
    assert [unit["status"] for unit in totals["units"]] == ["stopped"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_keeps_what_was_found(folder: Path, number: signal.Signals) -> None:
    (folder / "c.toml").write_text(ENDLESS)
    command = [sys.executable, "-m", "engine.cli", "campaign", "c.toml", "--out", "w.plumb"]
    process = subprocess.Popen(
        [*command, "--json"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        wait_for_bugs(folder / "w.plumb")
        process.send_signal(number)
        output, messages = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert "Traceback" not in messages
    assert json.loads(output)["bugs"] > 0


def wait_for_bugs(path: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with suppress(WorkspaceError), Workspace.open(path) as store:  # it is being made
            if store.count_bugs():
                return
        time.sleep(0.1)
    raise AssertionError("no bug was found")
