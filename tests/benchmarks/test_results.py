"""The table of all benchmarks: well-formed, honest about failures, and complete."""

from __future__ import annotations

import ast
import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
MADE_UP = {
    "good": """
yield compared("time", "others", [(1.0, 2.0), (3.0, 4.0), (1.0, 8.0)], "s", "a | b")
yield mistakes("wrong answers", 0, 7)
""",
    "broken": """
yield Row("before", 0.25, "s")
raise RuntimeError("no luck with /some/where/file.txt")
""",
    "mistaken": "yield mistakes('wrong answers', 2, 7)",
    "needy": "yield Row('never', len(setting.published('peer').name), 'letters')",
}


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The program, which keeps what benchmarks print somewhere else."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    module = importlib.import_module("results")
    monkeypatch.setattr(module, "LOGS", tmp_path / "logs")
    return module


@pytest.fixture
def made_up(results: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Benchmarks that measure nothing, instead of the real ones."""
    folder = tmp_path / "made-up"
    folder.mkdir()
    for name, body in MADE_UP.items():
        lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
        head = "from measurement import Row, compared, mistakes\n\ndef rows(setting):\n"
        (folder / f"{name}.py").write_text(head + lines)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.setattr(
        results, "TOPICS", {"Some": ("good", "broken"), "More": ("mistaken", "needy")}
    )


def cells(page: str) -> list[list[str]]:
    lines = [line for line in page.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_a_real_benchmark_makes_a_table(
    results: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "table.md"
    assert results.main(["--quick", "--only", "pddl_mutations", "--out", str(out)]) == 0
    header, dashes, *rows = cells(out.read_text())
    assert {len(row) for row in (header, dashes, *rows)} == {11}
    assert [row[:2] for row in rows] == [["Files", "pddl_mutations"]]
    assert rows[0][header.index("unit")] == "mistakes"
    assert rows[0][header.index("ours")] == "0"
    text = out.read_text()
    for fact in ("Date", "Commit", "Machine", "System", "Compared with", "Data", "make bench"):
        assert fact in text
    assert str(BENCHMARKS.parent) not in text
    assert "pddl_mutations" in capsys.readouterr().err


@pytest.mark.usefixtures("made_up")
def test_failures_mistakes_and_missing_data_are_reported(
    results: ModuleType, tmp_path: Path
) -> None:
    out = tmp_path / "table.md"
    assert results.main(["--out", str(out)]) == 1
    header, _, *rows = cells(out.read_text())
    assert {len(row) for row in rows} == {len(header)}
    told = [dict(zip(header, row, strict=True)) for row in rows]
    good, right, before, failed, mistaken, needy = told
    assert (good["topic"], good["benchmark"], good["ratio"]) == ("Some", "good", "0.5")
    assert (good["spread"], good["n"], good["remark"]) == ("0.125 to 0.75", "3", "a / b")
    assert (right["ours"], right["theirs"], right["n"], right["remark"]) == ("0", "0", "7", "")
    assert (before["benchmark"], before["ours"]) == ("broken", "0.25")
    assert failed["what"] == "**failed**"
    assert failed["remark"] == "RuntimeError: no luck with file.txt"
    assert (mistaken["topic"], mistaken["ours"], mistaken["remark"]) == ("More", "2", "**wrong**")
    assert (needy["what"], needy["remark"]) == ("left out", "needs the folder 'peer' of DATA")
    assert "Failed or wrong: broken, mistaken" in out.read_text()


@pytest.mark.usefixtures("made_up")
def test_good_and_missing_are_no_failure(
    results: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert results.main(["--only", "good", "needy"]) == 0
    assert "| good | time | 1 |" in capsys.readouterr().out


def test_every_benchmark_knows_the_program_as_it_is(results: ModuleType) -> None:
    """All can be imported, and the methods are there that one of them watches."""
    names = [name for _, name in results.chosen([])]
    script = f"import {', '.join(names)}; campaign_screen.watched()"
    environment = {**os.environ, "PYTHONPATH": str(BENCHMARKS), "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        cwd=BENCHMARKS.parent,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_every_benchmark_with_rows_is_in_the_table(results: ModuleType) -> None:
    offering = {
        path.stem
        for path in BENCHMARKS.glob("*.py")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name == "rows"
    }
    assert offering == {name for names in results.TOPICS.values() for name in names}
