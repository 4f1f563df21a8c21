"""`plumbline changes`: JSON, exit codes, and what is reported about bugs of one campaign only."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from reference.bug_workspace import DOMAIN, problem_text

from engine.cli import main

CONFIG = """\
domain = "domain.pddl"
problems = ["p2.pddl"]
policies = ["builtin:{policy}"]
fuzzing.size = 10
testing.oracles = ["astar"]
"""


def run_campaign(folder: Path, policy: str) -> None:
    (folder / "c.toml").write_text(CONFIG.format(policy=policy))
    assert main(["campaign", str(folder / "c.toml"), "--out", str(folder / "w.plumb")]) == 0


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("changes")
    (folder / "domain.pddl").write_text(DOMAIN)
    (folder / "p2.pddl").write_text(problem_text(2))
    for policy in ("optimal", "hadd"):
        run_campaign(folder, policy)
    return folder / "w.plumb"


def call(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["changes", *map(str, words), "--json"]) == code
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_a_worse_policy_has_new_bugs(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = call(capsys, workspace)
    assert (answer["before"], answer["after"], answer["problems"]) == (1, 2, ["p2.pddl"])
    changes = Counter(bug["change"] for bug in answer["bugs"])
    assert changes["new"] > 0
    assert set(changes) <= {"new", "not tested"}
    assert {name: count for name, count in answer["counts"].items() if count} == changes
    new = next(bug for bug in answer["bugs"] if bug["change"] == "new")
    assert new["before"] is None
    assert new["trend"] == "worse"
    assert new["cost_before"][1] <= new["bound"]
    call(capsys, workspace, "--fail-on-new", code=1)
    assert main(["changes", str(workspace)]) == 0
    text = capsys.readouterr().out
    assert f"new: bug {new['after']} in p2.pddl, cost " in text
    assert text.endswith(f"{changes['new']} new, 0 gone, 0 still there, 0 undecided, "
                         f"{changes['not tested']} not tested\n")  # fmt: skip


def test_the_other_way_round_they_are_gone(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = call(capsys, workspace, "--before", 2, "--after", 1, "--fail-on-new")
    assert {bug["change"] for bug in answer["bugs"]} <= {"gone", "not tested"}
    assert answer["counts"]["gone"] > 0


def test_wrong_questions(
    workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["changes", str(workspace), "--after", "7"]) == 2
    assert "unknown campaign 7" in capsys.readouterr().err
    (tmp_path / "domain.pddl").write_text(DOMAIN)
    (tmp_path / "p2.pddl").write_text(problem_text(2))
    run_campaign(tmp_path, "gc")
    assert main(["changes", str(tmp_path / "w.plumb")]) == 2
    assert "has 1 campaign; two are needed" in capsys.readouterr().err
