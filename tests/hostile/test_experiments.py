"""Untrusted experiments: names that become LaTeX, CSV, HTML and SVG, and files that are made."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from reference.bug_workspace import DOMAIN, InThreads, problem_text

from engine.cli import main
from engine.experiments.fuzzing_tables import _slug
from engine.records.experiment import Column, ExperimentResults, Table
from engine.report.experiment.cells import text_table
from engine.report.experiment.files import DOCUMENT, PAGE, experiment_files
from engine.usecases import experiment

EVIL = "x\n\\immediate\\write18{id}\n\n% =cmd|' /C calc'!A0 <script>alert(1)</script>\x1b[2J"
CONFIG = f"""
preset = "eisenhut-2023"
scale = 40
only_solved = false
[oracles]
{EVIL!r} = "astar"
"=1+1" = "gbfs"
[[suite]]
name = {EVIL!r}
domain = "domain.pddl"
problems = ["p2.pddl"]
policies = ["builtin:hadd"]
"""
COMMANDS = {"immediate", "write", "input"}


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the report of such an experiment writes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(experiment, "make_executor", lambda _: InThreads(1))
    Path("domain.pddl").write_text(DOMAIN)
    Path("p2.pddl").write_text(problem_text(2))
    text = (
        CONFIG.replace("'", '"').replace('" /C calc"!', "' /C calc'!").replace("\\x1b", "\\u001b")
    )
    Path("e.toml").write_text(text)
    assert main(["experiment", "e.toml", "--out", "w.plumb"]) == 0
    assert main(["report", "w.plumb", "--out", "made/"]) == 0
    return tmp_path / "made"


def orders(latex: str) -> set[str]:
    """The commands that LaTeX would obey: not those in comments."""
    text = re.sub(r"(?<!\\)%.*", "", latex)
    return set(re.findall(r"\\([a-zA-Z]+)", text))


def test_names_of_an_experiment_stay_names(made: Path) -> None:
    assert (made / "recall.tex").exists()
    for path in made.iterdir():
        if path.suffix == ".tex":
            found = orders(path.read_text())
            assert not found & {"immediate", "write"}
            assert "input" not in found or path.name == DOCUMENT
        elif path.suffix == ".csv":
            cells = [c for row in csv.reader(io.StringIO(path.read_text())) for c in row]
            assert not [c for c in cells if re.match(r"\s*[=@]|\s*[+-](?!\d)", c)]
            assert any(cell == "'=1+1" or "=1+1" not in cell for cell in cells)
        elif path.suffix == ".svg":
            tags = {part.tag.rpartition("}")[2] for part in ElementTree.parse(path).iter()}
            assert tags <= {"svg", "rect", "polyline", "polygon", "text"}
        elif path.suffix == ".html":
            assert "<script" not in path.read_text()
            assert "&lt;script" in path.read_text()


def test_titles_and_notes_do_not_leave_their_comments() -> None:
    """Those of tables hold names of variants."""
    table = Table("t", f"Fuzzing: {EVIL}", (Column(EVIL), Column("b")), ((EVIL, 1),), (EVIL,))
    files = dict(experiment_files(EVIL, {EVIL: EVIL}, ExperimentResults((table,), ())))
    assert not orders(files["t.tex"].decode()) & COMMANDS
    assert orders(files[DOCUMENT].decode()) & COMMANDS == {"input"}  # our own, of the table
    document = files[DOCUMENT].decode()
    assert re.findall(r"\\input\{(.*?)\}", document) == ["t.tex"]
    assert "\n\n" not in document[document.index("\\caption") :].partition("\\end")[0]


def test_a_name_fakes_no_lines_of_a_terminal() -> None:
    table = Table("t", "t", (Column("a"), Column("b")), (("x\nw.plumb: 0 bugs\t", 1),))
    assert text_table(table).splitlines()[-1].split() == ["x", "w.plumb:", "0", "bugs", "1"]


def test_a_row_that_begins_like_an_argument() -> None:
    table = Table("t", "t", (Column("a"),), (("first",), ("[9cm]",), ("*",)))
    lines = dict(experiment_files("", {}, ExperimentResults((table,), ())))["t.tex"].decode()
    assert "\n[" not in lines
    assert "\n*" not in lines


@pytest.mark.parametrize("name", ["../../x", "all", "", "oracles", "/etc/x", "n" * 300])
def test_a_variant_is_no_path(name: str) -> None:
    """Its name is part of the name of a file."""
    file = f"fuzzing-{_slug(name)}.csv"
    assert Path(file).name == file
    assert len(file) < 200


@pytest.mark.parametrize("name", [PAGE, DOCUMENT, "recall.csv", "bugs-over-time-1.svg"])
def test_a_report_writes_through_no_link(
    made: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    victim = made.parent / "thesis.tex"
    victim.write_text("mine")
    (made / name).unlink()
    (made / name).symlink_to(victim)
    assert main(["report", "w.plumb", "--out", "made/"]) == 2
    assert "this is a link" in capsys.readouterr().err
    assert victim.read_text() == "mine"
