"""Where there is no display the bundled example is shown on the command line."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app import __main__ as start
from app.__main__ import main, no_window_because

ROOT = Path(__file__).resolve().parents[3]
DISPLAY = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
SMALL_CAMPAIGN = """
domain = "domain.pddl"
problems = ["problems/p03.pddl"]
policies = ["builtin:random"]
fuzzing.size = 5
testing.oracles = ["lookahead:depth=2", "astar:expansions=20000"]
"""


def run_app(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in DISPLAY}
    return subprocess.run(
        [sys.executable, "-m", "app", *arguments],
        cwd=ROOT,
        env={**environment, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def small_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example with a campaign of a moment."""
    folder = Path(shutil.copytree(start.EXAMPLE, tmp_path / "example"))
    (folder / "campaign.toml").write_text(SMALL_CAMPAIGN)
    monkeypatch.setattr(start, "EXAMPLE", folder)
    return folder


def check_tour(said: str, temporary: Path) -> Path:
    """What it told and made; the report."""
    assert said.startswith("No window: no display found.")
    for command in ("check", "search", "run", "campaign", "bugs", "report"):
        assert f"$ plumbline {command} " in said
    (folder,) = temporary.glob("plumbline-*")  # what it made is kept, and it says where
    assert {path.name for path in folder.iterdir()} == {"example.plumb", "report.html"}
    assert said.splitlines()[-2].endswith(str(folder / "report.html"))
    assert said.splitlines()[-1].endswith(str(folder / "example.plumb"))
    return folder / "report.html"


def test_without_a_display_there_is_a_tour(
    small_example: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for name in DISPLAY:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main([]) == 0
    assert "Bug 1" in check_tour(capfd.readouterr().out, tmp_path).read_text()


@pytest.mark.long
def test_the_tour_finds_bugs(tmp_path: Path) -> None:
    done = run_app(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "quantitative" in done.stdout
    assert "too expensive" in check_tour(done.stdout, tmp_path).read_text()


def test_a_display_that_does_not_answer_is_reported() -> None:
    """Qt would end the program without a word that helps."""
    assert "does not answer" in no_window_because({"DISPLAY": ":987"})
    assert "no display" in no_window_because({})
    assert no_window_because({"QT_QPA_PLATFORM": "offscreen"}) == ""


def test_wrong_options_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--color"])
    assert end.value.code == 2
    assert "--color" in capsys.readouterr().err
