"""`plumbline experiment` and the folder that `plumbline report` makes of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from reference.bug_workspace import InThreads

from engine import cli
from engine.errors import ExitCode
from engine.usecases import experiment

CONFIG = """
preset = "eisenhut-2023"
scale = 40
only_solved = false
[oracles]
"A*" = "astar"
GBFS = "gbfs"
[[suite]]
name = "carter"
domain = "domain.pddl"
problems = ["p2.pddl"]
policies = ["builtin:hadd"]
"""
FILES = ("--domain", "domain.pddl", "--problem", "p1.pddl")


@pytest.fixture(autouse=True)
def _here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(experiment, "make_executor", lambda _: InThreads(2))
    Path("e.toml").write_text(CONFIG)
    Path("p.csv").write_text("domain,kind,a,b\nloads,same,domain.pddl,domain.pddl\n")


def test_a_configuration_is_run_reported_and_found_done(capsys) -> None:
    words = ["experiment", "e.toml", "--out", "w.plumb", "--json"]
    assert cli.main(words) == ExitCode.DONE
    document = json.loads(capsys.readouterr().out)
    assert {"kind", "tables", "figures", "units", "seconds"} <= set(document)
    assert (document["kind"], document["units"]) == ("oracles", 2)
    recall = document["tables"][0]
    assert recall["columns"][:3] == ["domain", "problems", "J"]
    assert recall["rows"][0][0] == "carter"
    assert len(recall["rows"][0]) == len(recall["columns"])
    labels = [series["label"] for series in document["figures"][0]["series"]]
    assert labels == ["A*", "GBFS"]
    assert cli.main(["report", "w.plumb", "--out", "made/"]) == ExitCode.DONE
    assert {path.name for path in Path("made").iterdir()} >= {
        "index.html",
        "all.tex",
        "recall.csv",
        "recall.tex",
        "bugs-over-time-1.pdf",
        "bugs-over-time-1.svg",
    }
    capsys.readouterr()
    assert cli.main(words) == ExitCode.BAD_INPUT
    assert "already exists" in capsys.readouterr().err
    assert cli.main([*words, "--resume"]) == ExitCode.DONE
    assert json.loads(capsys.readouterr().out)["tables"][0]["rows"] == recall["rows"]


def test_a_time_limit_leaves_the_rest_for_later(capsys) -> None:
    words = ["experiment", "e.toml", "--out", "w.plumb", "--json"]
    assert cli.main([*words, "--time-limit", "0.000001"]) == ExitCode.LIMIT_REACHED
    assert json.loads(capsys.readouterr().out)["status"] == "stopped"
    assert cli.main([*words, "--resume"]) == ExitCode.DONE


def test_a_preset_takes_files_from_the_command_line(capsys) -> None:
    words = ["experiment", "eisenhut-2025", "--scale", "1800", "--out", "w.plumb", "--json"]
    files = ["--domain", "domain.pddl", "--problem", "p1.pddl", "p2.pddl"]
    assert cli.main([*words, *files]) == ExitCode.DONE
    document = json.loads(capsys.readouterr().out)
    assert [table["name"] for table in document["tables"]] == [
        "coverage",
        "domain-dominance",
        "task-dominance",
    ]
    assert document["tables"][0]["rows"][-3][0] == "total (4)"


def test_init_writes_every_setting_with_its_source(capsys) -> None:
    assert cli.main(["experiment", "--init", "sievers-2026"]) == ExitCode.DONE
    text = Path("sievers-2026.toml").read_text()
    assert "sizes = [1, 2, 5, 10]  # Table 1: 1, 2, 5 and 10 policies" in text
    assert cli.main(["experiment", "--init", "sievers-2026"]) == ExitCode.BAD_INPUT
    assert "already exists" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no experiment"),
        (["e.toml"], "no workspace"),
        (["papers", "--out", "w.plumb"], "unknown experiment 'papers'"),
        (["gone.toml", "--out", "w.plumb"], "gone.toml"),
        (["e.toml", "--folder", ".", "--out", "w.plumb"], "already names what"),
        (["--init", "paper"], "unknown experiment 'paper'"),
        (["eisenhut-2023", "--domain", "domain.pddl", "--out", "w.plumb"], "needs problems"),
        (["e.toml", "--unit-costs", "--out", "w.plumb"], "already names what"),
        (["eisenhut-2023", *FILES, "--out", "w.plumb"], "error: no policy for '"),
        (
            ["sievers-2026", *FILES, "--policy", "builtin:gc", "--out", "w.plumb"],
            "error: no portfolio for '",
        ),
        (["d-val", *FILES, "--out", "w.plumb"], "compares pairs of domains; give"),
        (["eisenhut-2023", "--pairs", "p.csv", "--out", "w.plumb"], "not about pairs of domains"),
        (["d-val", "--pairs", "e.toml", "--out", "w.plumb"], "no column"),
        (["e.toml", "--scale", "0", "--out", "w.plumb"], "'0' is not a whole number"),
    ],
)
def test_mistakes(words: list[str], message: str, capsys) -> None:
    assert cli.main(["experiment", *words]) == ExitCode.BAD_INPUT
    assert message in capsys.readouterr().err
    assert not Path("w.plumb").exists()


def test_a_workspace_without_experiments_has_no_folder_to_write(capsys) -> None:
    from engine.workspace.workspace import Workspace

    with Workspace.create("empty.plumb"):
        pass
    assert cli.main(["report", "empty.plumb", "--out", "made/"]) == ExitCode.BAD_INPUT
    assert "no experiments" in capsys.readouterr().err
    assert not Path("made").exists()
