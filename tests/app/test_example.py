"""`make run` shows the bundled example: every command of its tour works."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_tour_finds_bugs(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "app"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for command in ("check", "search", "run", "campaign", "bugs"):
        assert f"$ plumbline {command} " in done.stdout
    assert "quantitative" in done.stdout
    assert not list(tmp_path.iterdir())  # it cleans up behind itself
