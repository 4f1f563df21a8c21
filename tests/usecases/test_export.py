"""Bundles say truly whether a bug reproduces, and have a command that always does."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reference.bug_workspace import CONFIG, DOMAIN, make_workspace, problem_text
from reference.recording_link import RecordingLink

from engine.campaign.bundle import Bundle
from engine.campaign.reproduction import Reproduction, exported_text, reproduction_text
from engine.cli import main
from engine.policies.consent import Consent
from engine.records.finding import EndReason, RunOutcome
from engine.task.load import load_task
from engine.task.sas import write_sas
from engine.usecases.export import export_bundles
from engine.workspace.rows import Bug
from engine.workspace.workspace import Workspace

Ask = Callable[..., Any]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Ask:
    """What a run command of a README answers, typed in its folder."""

    def do(folder: Path, command: str) -> dict[str, Any]:
        monkeypatch.chdir(folder)
        capsys.readouterr()
        program, *arguments = shlex.split(command)
        assert program == "plumbline"
        assert main([*arguments, "--json"]) in (0, 1)
        (answer,) = json.loads(capsys.readouterr().out)["runs"]
        return dict(answer)

    return do


def run_commands(folder: Path) -> list[str]:
    text = (folder / "README.md").read_text()
    return re.findall(r"^    (plumbline run .*)$", text, re.MULTILINE)


def bugs_of(path: Path, most: int) -> list[Bug]:
    """The first of every policy and kind, and then others."""
    with Workspace.open(path) as store:
        rows = store.bugs()
        first = {(row.policy, row.kind): row.id for row in reversed(rows)}.values()
        numbers = dict.fromkeys([*first, *(row.id for row in rows)])
        return [store.bug(number) for number in list(numbers)[:most]]


def names(bug: Bug, path: Path) -> list[str]:
    with Workspace.open(path) as store:
        task = store.task(bug.problem_id)
        return [f"({task.operators[number].name})" for number in bug.finding.run.operators]


def is_same(answer: dict[str, Any], bug: Bug, path: Path) -> bool:
    finding = bug.finding.run
    ends = (answer["outcome"], answer["reason"])
    return answer["plan"] == names(bug, path) and ends == (finding.outcome, finding.reason)


def check(path: Path, out: Path, run: Ask, most: int) -> list[Bundle]:
    """Hold what bundles say against what their commands show."""
    bugs = bugs_of(path, most)
    numbers = [bug.row.id for bug in bugs]
    bundles = export_bundles(RecordingLink(), path, numbers, out, Consent(to_all=True))
    for bundle, bug in zip(bundles, bugs, strict=True):
        tested, exported = run_commands(bundle.folder)
        assert is_same(run(bundle.folder, tested), bug, path)
        there = run(bundle.folder, exported)
        found, document = bundle.reproduction, json.loads((bundle.folder / "bug.json").read_text())
        assert found.reproduces is is_same(there, bug, path)
        assert (found.cost, found.outcome) == (there["cost"], there["outcome"])
        assert (document["reproduces"], document["cost_there"]) == (found.reproduces, found.cost)
        assert reproduction_text(found) in (bundle.folder / "README.md").read_text()
    return list(bundles)


def test_policies_that_see_only_the_state_reproduce(
    bug_workspace: Path, tmp_path: Path, run: Ask
) -> None:
    bundles = check(bug_workspace, tmp_path, run, 7)
    assert all(bundle.reproduction.reproduces for bundle in bundles)


def small(*changes: tuple[str, str]) -> str:
    """A configuration for a quick campaign."""
    text = CONFIG.replace("fuzzing.size = 30", "fuzzing.size = 6")
    for old, new in [('["p2.pddl", "p3.pddl"]', '["p2.pddl"]'), *changes]:
        assert old in text
        text = text.replace(old, new)
    return text


POLICIES = '["builtin:hadd", "builtin:gc", "builtin:random"]'


def test_unit_costs_and_step_limits_are_part_of_the_command(tmp_path: Path, run: Ask) -> None:
    text = small((POLICIES, '["builtin:gc"]'))
    text = f"unit_costs = true\n{text}testing.step_limit = 50\n"
    bundles = check(make_workspace(tmp_path, text), tmp_path / "out", run, 3)
    assert bundles
    for bundle in bundles:
        tested, exported = run_commands(bundle.folder)
        assert "--unit-costs" in tested
        assert "original-domain.pddl original-problem.pddl" in tested
        assert "--unit-costs" not in exported
        assert tested.endswith("--step-limit 50")


def test_a_task_without_pddl_reproduces_as_well(tmp_path: Path, run: Ask) -> None:
    (tmp_path / "domain.pddl").write_text(DOMAIN)
    (tmp_path / "p2.pddl").write_text(problem_text(2))
    task = load_task(tmp_path / "domain.pddl", tmp_path / "p2.pddl")
    (tmp_path / "p2.sas").write_text(write_sas(task))
    changes = ('domain = "domain.pddl"\n', ""), ('"p2.pddl"', '"p2.sas"')
    path = make_workspace(tmp_path, small((POLICIES, '["builtin:gc"]'), *changes))
    bundles = check(path, tmp_path / "out", run, 2)
    assert bundles
    assert all("original.sas" in run_commands(bundle.folder)[0] for bundle in bundles)


PLUGIN = """\
import pathlib


class Turns:
    def __init__(self, task):
        self.task, self.turn = task, sum(task.initial_state)

    def decide(self, states):
        pathlib.Path({mark!r}).touch()
        return [self.choose(self.task.applicable(state)) for state in states]

    def choose(self, operators):
        return operators[self.turn % len(operators)] if operators else -1


def factory(task):
    return Turns(task)
"""


def test_a_policy_that_depends_on_its_problem_differs_and_is_run_with_consent_only(
    tmp_path: Path, run: Ask, capsys: pytest.CaptureFixture[str]
) -> None:
    """As networks do that are unrolled from the initial state."""
    mark, plugin = tmp_path / "mark", tmp_path / "turns.py"
    plugin.write_text(PLUGIN.format(mark=str(mark)))
    path = make_workspace(tmp_path, small((POLICIES, '["turns.py:factory"]')))
    mark.unlink()
    assert main(["export", str(path), "--bug", "1", "--out", str(tmp_path / "a"), "--json"]) == 0
    (document,) = json.loads(capsys.readouterr().out)["bundles"]
    assert document["reproduces"] is document["cost_there"] is None
    assert "is not trusted" in (tmp_path / "a" / "bug-1" / "README.md").read_text()
    assert not mark.exists()
    found = [b.reproduction.reproduces for b in check(path, tmp_path / "b", run, 2)]
    assert mark.exists()
    assert False in found


def test_reproduction_in_words() -> None:
    same = Reproduction(True, 7, RunOutcome.SOLVED, EndReason.GOAL, True)
    other = Reproduction(False, 95, RunOutcome.SOLVED, EndReason.GOAL, True)
    right = Reproduction(False, 95, RunOutcome.SOLVED, EndReason.GOAL, False)
    loop = Reproduction(False, None, RunOutcome.FAILED, EndReason.LOOP, True)
    unknown = Reproduction(None, why_unknown="it is away")
    assert [reproduction_text(item) for item in (same, other, right, loop, unknown)] == [
        "reproduces",
        "differs: cost 95 there",
        "differs: cost 95 there, no bug",
        "differs: it runs into a loop there",
        "not known whether it reproduces: it is away",
    ]
    assert exported_text([same]) == "The bug reproduces in the exported problem."
    assert exported_text([same, other, unknown]) == (
        "1 of 3 reproduce in the exported problem; in 1 the policy behaves differently there; "
        "1 were not run."
    )
