"""Where there is no display the bundled example is shown on the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.shell.no_display import no_window_because

ROOT = Path(__file__).resolve().parents[3]


def run_app(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    display = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    environment = {name: value for name, value in os.environ.items() if name not in display}
    return subprocess.run(
        [sys.executable, "-m", "app", *arguments],
        cwd=ROOT,
        env={**environment, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_tour_finds_bugs(tmp_path: Path) -> None:
    done = run_app(tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("No window: no display found.")
    for command in ("check", "search", "run", "campaign", "bugs", "report"):
        assert f"$ plumbline {command} " in done.stdout
    assert "quantitative" in done.stdout
    (folder,) = tmp_path.iterdir()  # what it made is kept, and it says where
    assert {path.name for path in folder.iterdir()} == {"example.plumb", "report.html"}
    assert done.stdout.splitlines()[-2].endswith(str(folder / "report.html"))
    assert done.stdout.splitlines()[-1].endswith(str(folder / "example.plumb"))
    assert "too expensive" in (folder / "report.html").read_text()


def test_a_display_that_does_not_answer_is_told() -> None:
    """Qt would end the program without a word that helps."""
    assert "does not answer" in no_window_because({"DISPLAY": ":987"})
    assert "no display" in no_window_because({})
    assert no_window_because({"QT_QPA_PLATFORM": "offscreen"}) == ""


def test_wrong_options_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    from app.__main__ import main

    with pytest.raises(SystemExit) as end:
        main(["--color"])
    assert end.value.code == 2
    assert "--color" in capsys.readouterr().err
