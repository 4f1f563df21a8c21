"""Tables and figures as files: LaTeX that cannot be broken by names, PDF, SVG, CSV."""

from __future__ import annotations

import csv
import io
import re
import subprocess
import zlib
from pathlib import Path
from xml.etree import ElementTree

import pytest

from engine.records.experiment import Column, ExperimentResults, Figure, FigureForm, Series, Table
from engine.report.experiment.cells import text_table
from engine.report.experiment.files import experiment_files, latex_text

HOSTILE = "\\input{/etc/passwd} 100% & #1 $x$ a_b ~ ^ {<script>} =1+1 \x1b[31m é"
TABLE = Table(
    "recall",
    "Recall",
    (Column("domain"), Column("A*", "recall", 1), Column("BMO_P", "recall", 1), Column("n")),
    ((HOSTILE, 1.25, None, 3), ("b", 100.0, 2.0, 4)),
    ("A note about 5 %.",),
    (1,),
)
LINES = Figure(
    "bugs",
    "Bugs over time",
    "time (s)",
    "bugs",
    (
        Series("A*", (0.01, 1.0, 2.0), (0.0, 1.0, 1.0), 1.5),
        Series(HOSTILE, (0.01, 3.0), (0.0, 2.0)),
        Series("nothing", (), ()),
    ),
    log_x=True,
)
POINTS = Figure(
    "points",
    "Times",
    "x (s)",
    "y (s)",
    (Series("optimal", (0.01, 10.0), (0.1, 3.0)),),
    FigureForm.SCATTER,
    log_x=True,
    log_y=True,
)
RESULTS = ExperimentResults((TABLE,), (LINES, POINTS))


@pytest.fixture
def files() -> dict[str, bytes]:
    return dict(experiment_files("Experiment", {"Scale": HOSTILE}, RESULTS))


def test_every_table_and_figure_has_its_files(files: dict[str, bytes]) -> None:
    assert set(files) == {
        "index.html",
        "all.tex",
        "recall.csv",
        "recall.tex",
        *(f"{name}.{kind}" for name in ("bugs", "points") for kind in ("csv", "svg", "pdf")),
    }


def test_latex_prints_names_and_runs_none(files: dict[str, bytes]) -> None:
    text = files["recall.tex"].decode()
    assert "\\input" not in text
    assert "100\\% \\& \\#1 \\$x\\$ a\\_b" in text
    assert "\x1b" not in text
    assert latex_text("A*") == "A$^{*}$"
    assert latex_text("BMO_P") == "BMO$_{\\mathrm{P}}$"
    assert latex_text("T_U") == "T$_{\\mathrm{U}}$"
    assert latex_text("|P_pi|") == "$|$P$_{\\pi}$$|$"
    assert latex_text("a--b") == "a-{}-b"
    assert latex_text("a---b") == "a-{}-{}-b"
    rows = [line for line in text.splitlines() if line.endswith("\\\\")]
    assert all(len(re.findall(r"(?<!\\)&", row)) == 3 for row in rows[1:])


ALLOWED = {
    *("documentclass", "usepackage", "setlength", "textwidth", "oddsidemargin", "newsavebox"),
    *("wide", "newcommand", "fitted", "sbox", "ifdim", "wd", "linewidth", "resizebox", "usebox"),
    *("else", "fi", "begin", "end", "section", "centering", "input", "caption", "clearpage"),
    *("includegraphics", "hline", "cline", "multicolumn", "rule", "mathrm", "pi", "small"),
    *("textbackslash", "textasciicircum", "textasciitilde"),
}
"""Commands that need nothing but `graphicx`, and those that `all.tex` makes itself."""


def latex_faults(text: str) -> list[str]:
    """What LaTeX would refuse: open groups, environments or formulas, unknown commands."""
    faults, opened, math = [], list[str](), False
    text = re.sub(r"(?<!\\)%.*", "", text)
    for found in re.finditer(
        r"\\(?:(begin|end)\{(\w+)\}|([A-Za-z]+)|.)|([{}$&#^_~])", text, re.DOTALL
    ):
        edge, environment, command, special = found.groups()
        if command is not None and command not in ALLOWED:
            faults.append(f"unknown command {command}")
        if edge == "begin":
            opened.append(environment)
        elif edge == "end" and (not opened or opened.pop() != environment):
            faults.append(f"{environment} ends and did not begin")
        elif special == "{":
            opened.append("{")
        elif special == "}" and (not opened or opened.pop() != "{"):
            faults.append("a group ends and did not begin")
        elif special == "$":
            math = not math
        elif special in ("^", "_") and not math:
            faults.append(f"{special} outside a formula")
        elif special == "&" and "tabular" not in opened:
            faults.append("& outside a table")
        elif special == "~":
            faults.append("a tie, which prints a space")
        elif special == "#" and "{" not in opened:
            faults.append("# outside a definition")
    return [*faults, *(f"{name} does not end" for name in opened), *["a formula"] * math]


def test_latex_is_whole(files: dict[str, bytes]) -> None:
    for name in ("all.tex", "recall.tex"):
        assert latex_faults(files[name].decode()) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{a", "{ does not end"),
        ("a}", "a group ends and did not begin"),
        (r"\begin{table}", "table does not end"),
        (r"\begin{table}\end{figure}", "figure ends and did not begin"),
        ("a_b", "_ outside a formula"),
        ("$a", "a formula"),
        ("a & b", "& outside a table"),
        (r"\write18{ls}", "unknown command write"),
    ],
)
def test_broken_latex_is_noticed(text: str, fault: str) -> None:
    assert fault in latex_faults(text)


@pytest.mark.long
def test_the_document_compiles(files: dict[str, bytes], tmp_path: Path) -> None:
    """With Debian's texlive-latex-base."""
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        timeout=60,
    )
    assert (tmp_path / "all.pdf").stat().st_size > 1000


def test_a_pdf_says_where_its_objects_are(files: dict[str, bytes]) -> None:
    data = files["bugs.pdf"]
    start = int(data.split(b"startxref\n")[1].split()[0])
    assert data[start:].startswith(b"xref\n0 6\n")
    for number, place in enumerate(re.findall(rb"(\d{10}) 00000 n", data[start:]), 1):
        assert data[int(place) :].startswith(f"{number} 0 obj".encode())
    stream = re.search(rb"stream\n(.*)\nendstream", data, re.DOTALL)
    assert stream is not None
    content = zlib.decompress(stream[1]).decode("latin-1")
    assert "(Bugs over time) Tj" in content
    assert "[4 3] 0 d" in content  # behind its end a line is dashed


def test_bugs_are_counted_in_whole_numbers(files: dict[str, bytes]) -> None:
    labels = set(re.findall(r">([0-9.]+)</text>", files["bugs.svg"].decode()))
    assert {"1", "2"} <= labels
    assert not labels & {"0.5", "1.5"}


def test_svg_is_well_formed(files: dict[str, bytes]) -> None:
    for name in ("bugs.svg", "points.svg"):
        root = ElementTree.fromstring(files[name].decode())
        labels = [element.text for element in root.iter() if element.tag.endswith("text")]
        assert "Bugs over time" in labels or "Times" in labels


def test_csv_holds_numbers_and_harmless_texts(files: dict[str, bytes]) -> None:
    rows = list(csv.reader(io.StringIO(files["recall.csv"].decode())))
    assert rows[0] == ["domain", "recall: A*", "recall: BMO_P", "n"]
    assert rows[2] == ["b", "100.0", "2.0", "4"]
    points = list(csv.reader(io.StringIO(files["points.csv"].decode())))
    assert points[1:] == [["optimal", "0.01", "0.1"], ["optimal", "10.0", "3.0"]]


def test_html_shows_text_as_text(files: dict[str, bytes]) -> None:
    page = files["index.html"].decode()
    assert "<script>" not in page
    assert "1.2</td>" in page or "1.3</td>" in page
    assert page.count("<svg") == 2


def test_a_terminal_gets_columns_below_their_groups() -> None:
    title, groups, titles, *rows = text_table(TABLE).splitlines()
    assert title == "Recall"
    assert groups.split() == ["--", "recall", "--"]
    assert titles.split() == ["domain", "A*", "BMO_P", "n"]
    assert groups.index("-") == titles.index("A*") - 3  # as wide as its columns
    assert titles.rindex("n") == rows[1].rindex("4")
    assert rows[1].startswith("b ")


def test_a_group_may_be_wider_than_its_columns() -> None:
    columns = (Column("domain"), Column("n", "a long title"), Column("m"))
    lines = text_table(Table("t", "T", columns, (("d", 1, 2),))).splitlines()
    assert lines[1].strip() == "a long title"
    assert lines[2].rindex("n") == lines[3].index("1")
    assert lines[2].rindex("m") == lines[3].index("2") > lines[1].index("title")
