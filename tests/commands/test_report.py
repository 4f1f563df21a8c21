"""`plumbline report`: one file that holds what the store holds, in every format."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from reference.forging import forging

from engine.cli import main
from engine.records.finding import BugStatus
from engine.report import html
from engine.report.charts import scatter_chart, step_chart
from engine.report.content import gather
from engine.report.tables import json_report
from engine.workspace.reader import WorkspaceReader
from engine.workspace.workspace import Workspace

EXAMPLE = Path(__file__).parents[2] / "resources" / "examples" / "crumbling-temple"
CONFIG = f"""\
domain = "{EXAMPLE}/domain.pddl"
problems = ["{EXAMPLE}/problems/p01.pddl"]
policies = ["builtin:hadd", "builtin:gc"]
[fuzzing]
size = 12
[testing]
oracles = ["bmo", "aras-ehc", "astar"]
"""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    (folder / "c.toml").write_text(CONFIG)
    path = folder / "w.plumb"
    assert main(["campaign", str(folder / "c.toml"), "--out", str(path)]) == 0
    return path


class Page(HTMLParser):
    """What can be seen of a page, what it refers to, and whether its tags fit together."""

    VOID = frozenset({"meta", "line", "circle", "path", "polyline", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.words: list[str] = []
        self.foreign: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.links += [values["href"]] if values.get("href") else []
        self.names |= {values["id"]} if values.get("id") else set()
        if tag in ("script", "link", "img", "iframe") or "src" in values:
            self.foreign.append(tag)
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_the_page_stands_alone_and_tells_of_every_bug(workspace: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    assert main(["report", str(workspace), "--out", str(out)]) == 0
    page = Page(out.read_text())
    text = "".join(page.words)
    assert not page.foreign
    assert all(link.startswith("#") for link in page.links)
    assert {link[1:] for link in page.links if len(link) > 1} <= page.names
    with Workspace.open(workspace) as store:
        bugs = store.bugs()
        assert bugs
        for row in bugs[:30]:
            bug, name = store.bug(row.id), f"bug-{row.id}"
            assert name in page.names
            operators = store.task(bug.problem_id).operators
            assert all(
                f"({operators[number].name})" in text for number in bug.finding.run.operators
            )
        failures = [row for row in bugs if row.policy_cost is None]
        assert failures
    assert f"Never reaches the goal; {failures[0].bound} suffices." in text
    assert "cost - against" not in text
    assert "oracles = [" in text


def test_every_bug_is_a_point_also_where_the_policy_fails(workspace: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    assert main(["report", str(workspace), "--out", str(out)]) == 0
    text = out.read_text()
    with Workspace.open(workspace) as store:
        costs = [bug.policy_cost for bug in store.bugs()]
    fails = costs.count(None)
    assert fails > 0
    assert text.count('class="cross"') == fails
    assert text.count('class="point"') == len(costs) - fails
    assert text.count("the policy fails</text>") == 1


def test_a_million_steps_are_a_small_line_with_the_same_end() -> None:
    times = [number / 1000 for number in range(1, 100_001)]
    chart = step_chart({"bmo": times}, 100.0, "time")
    assert "bmo: 100000" in chart
    assert len(chart) < 200_000
    (points,) = re.findall(r'points="(.*?)"', chart)
    few = step_chart({"bmo": [100.0] * 100_000}, 100.0, "time")
    assert points.split()[-1] in few
    heights = [float(point.partition(",")[2]) for point in points.split()]
    assert heights == sorted(heights, reverse=True)


def test_a_page_that_leaves_something_out_says_how_to_get_it(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "report.html"
    monkeypatch.setattr(html, "LISTED", 1)
    monkeypatch.setattr(html, "UNITS", 1)
    assert main(["report", str(workspace), "--out", str(out)]) == 0
    text = out.read_text()
    assert text.count(f"<code>plumbline report {workspace.name} --campaign 1 --out bugs.csv") == 2
    assert "The first 1 of 2. All of them" in text


def test_a_report_does_not_look_at_every_state_of_the_pool(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(WorkspaceReader, "states_of_pool")
    for name in ("report.html", "report.json"):
        assert main(["report", str(workspace), "--out", str(tmp_path / name)]) == 0


def test_no_piece_of_a_json_report_grows_with_the_number_of_bugs(workspace: Path) -> None:
    with Workspace.open(workspace) as store:
        content = gather(store, None, 0)
        many = replace(content, times={"bmo": [0.25] * 50_000, "astar": []})
        pieces = list(json_report(many))
    assert max(map(len, pieces)) < 50_000
    document = json.loads("".join(pieces))
    assert document["bugs_over_time"] == many.times


def test_points_without_a_cost_are_above_all_others() -> None:
    chart = scatter_chart([(5, 9, "a", "#"), (7, None, "b", "#")], "best", "policy", "fails")
    (dot,), (cross,) = re.findall(r'cy="(.*?)"', chart), re.findall(r'd="M\S+ (.*?)l', chart)
    assert float(cross) < float(dot)
    without = scatter_chart([(5, 9, "a", "#")], "best", "policy", "fails")
    assert "cross" not in without
    assert ">fails<" not in without


def test_names_from_files_cannot_break_the_page(workspace: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    with Workspace.open(workspace) as store:
        store.set_status(
            [store.bugs()[0].id], BugStatus.CONFIRMED, '<script>alert(1)</script> & "so"'
        )
    assert main(["report", str(workspace), "--out", str(out)]) == 0
    assert "<script" not in out.read_text()
    assert '<script>alert(1)</script> & "so"' in "".join(Page(out.read_text()).words)


def test_tables_for_other_programs(workspace: Path, tmp_path: Path) -> None:
    for name in ("report.csv", "report.json", "report.xml"):
        assert main(["report", str(workspace), "--out", str(tmp_path / name)]) == 0
    with Workspace.open(workspace) as store:
        bugs = store.bugs()
    with (tmp_path / "report.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["id"]) for row in rows] == [bug.id for bug in bugs]
    assert [row["gap"] for row in rows] == ["" if bug.gap is None else str(bug.gap) for bug in bugs]
    document = json.loads((tmp_path / "report.json").read_text())
    assert len(document["bugs"]) == len(bugs)
    in_pool = sum(bug.pool_number is not None for bug in bugs)
    assert document["totals"]["bugs"] == in_pool
    assert sum(map(len, document["bugs_over_time"].values())) == in_pool
    suites = ElementTree.parse(tmp_path / "report.xml").getroot()
    assert len(suites) == 2
    assert sum(int(suite.attrib["failures"]) for suite in suites) == len(bugs)
    assert len(suites.findall(".//failure")) == len(bugs)


def test_a_unit_that_was_not_worked_through_has_not_passed(workspace: Path, tmp_path: Path) -> None:
    copy, out = tmp_path / "w.plumb", tmp_path / "report.xml"
    copy.write_bytes(workspace.read_bytes())
    with forging(copy) as connection:
        for table in ("localized_steps", "localizations", "history", "evidence", "runs"):
            connection.execute(f"DELETE FROM {table}")
        connection.execute("DELETE FROM findings")
        connection.execute("UPDATE units SET status = 'stopped' WHERE id = 1")
        connection.execute(
            "UPDATE units SET status = 'failed', error = 'it \x1b[31msaid' WHERE id = 2"
        )
    assert main(["report", str(copy), "--out", str(out)]) == 0
    suites = ElementTree.parse(out).getroot()
    assert [suite.attrib["skipped"] for suite in suites] == ["1", "0"]
    assert [suite.attrib["errors"] for suite in suites] == ["0", "1"]
    assert not suites.findall(".//testcase[@name='no bug found']")


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--out", "report.odt"], "cannot tell the format of report.odt"),
        (["--out", "missing/report.html"], "missing/report.html: cannot be written"),
        (["--out", "report.html", "--campaign", "7"], "unknown campaign 7 in"),
        (["--out", "report.html", "--details", "-1"], "'-1' is not a whole number"),
    ],
)
@pytest.mark.usefixtures("elsewhere")
def test_wrong_input(
    workspace: Path, arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(workspace), *arguments]) == 2
    assert text in capsys.readouterr().err
