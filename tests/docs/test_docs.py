"""Every command in the documentation runs, and the guide of the command line is up to date."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engine.cli import build_parser

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
IMAGES = ROOT / "docs" / "images"
MOST_BYTES = 200_000
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")


def scripts() -> list[tuple[str, str]]:
    """Blocks marked `sh`; `make` sets up what the tests already run in, so it is left out."""
    found = []
    for page in PAGES:
        for number, block in enumerate(BLOCK.findall(page.read_text()), 1):
            lines = [line for line in block.splitlines() if not line.startswith("make ")]
            if any(lines):
                found.append((f"{page.name}-{number}", "\n".join(lines)))
    return found


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where the commands may write: a copy of what they need."""
    shutil.copytree(ROOT / "resources", tmp_path / "resources")
    return tmp_path


def commands() -> list[str]:
    """Every call of the program in the documentation, without its comment."""
    lines = "\n".join(script for _, script in scripts()).replace("\\\n", " ").splitlines()
    calls = [line.split("#")[0].strip() for line in lines]
    return [call for call in calls if call.startswith("plumbline ") and "<" not in call]


@pytest.mark.parametrize("call", commands())
def test_every_command_is_understood(call: str) -> None:
    words = shlex.split(call)[1:]
    words = words[
        : min((words.index(end) for end in ("|", "&&", ">", ";") if end in words), default=None)
    ]
    assert build_parser(only=words[0]).parse_args(words).command == words[0]


@pytest.mark.long
@pytest.mark.parametrize(("name", "script"), scripts(), ids=lambda value: str(value).split("\n")[0])
def test_every_command_runs(name: str, script: str, place: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    result = subprocess.run(
        ["bash", "-e", "-c", f"shopt -s expand_aliases\n{script}"],
        cwd=place,
        env={**os.environ, "PATH": path, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert result.returncode == 0, f"{name}: {result.stdout[-2000:]}{result.stderr[-2000:]}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    missing = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert not missing


def test_pictures_are_shown_and_small() -> None:
    """What `make screenshots` makes and no page shows need not be made."""
    text = "".join(page.read_text() for page in PAGES)
    pictures = sorted(IMAGES.iterdir())
    assert [path.name for path in pictures if f"images/{path.name})" not in text] == []
    assert [path.name for path in pictures if path.stat().st_size > MOST_BYTES] == []


def anchors(page: Path) -> set[str]:
    """How a code host names the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_headings_that_are_linked_exist(page: Path) -> None:
    linked = re.findall(r"\]\(([^)#:\s]*)#([^)]+)\)", page.read_text())
    missing = [
        f"{target}#{anchor}"
        for target, anchor in linked
        if anchor not in anchors(page.parent / target if target else page)
    ]
    assert not missing


def test_the_guide_of_the_experiments_is_up_to_date() -> None:
    command = [sys.executable, "-c", "import experiment_guide as g; print(g.guide(), end='')"]
    result = subprocess.run(command, cwd=ROOT / "tools", capture_output=True, text=True, check=True)
    assert result.stdout == (ROOT / "docs" / "experiments.md").read_text(), "run 'make docs'"


def test_the_guide_of_the_command_line_is_up_to_date() -> None:
    command = [sys.executable, "-c", "import command_line_guide as g; print(g.guide(), end='')"]
    result = subprocess.run(command, cwd=ROOT / "tools", capture_output=True, text=True, check=True)
    written = (ROOT / "docs" / "command-line.md").read_text()
    assert result.stdout == written, "run 'make docs'"
