"""The repository stands on its own: what code and pages refer to is part of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("engine", "app", "tests", "benchmarks", "tools", "resources", "docs")
KINDS = {".py", ".hpp", ".cpp", ".in", ".def", ".md", ".toml", ".sh", ".txt", ".cmake"}
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile", "pyproject.toml")

PAGE = re.compile(r"\b[A-Z][A-Z0-9_]*\.md\b")
"""A page whose name is in capitals, as that of README.md."""

SECTION = re.compile(r"\b(?!VERSION)[A-Z_]{6,}(?: section)? [0-9]+\.[0-9]+\b")
"""A section of a document that is called by a name in capitals, not by its page."""

REFERENCE = re.compile(r"docs/([\w/-]+\.md)(?:,\s+\"([^\"]+)\")?")
"""`docs/theory/oracles.md, "Bound maintenance"`: a page, perhaps with one of its headings."""


def texts() -> Iterator[tuple[str, str]]:
    """Every text of the repository that people write, except for this one."""
    files = [ROOT / name for name in PAGES]
    for folder in FOLDERS:
        files += folder_files(folder)
    for path in files:
        if path != Path(__file__) and path.is_file():
            yield str(path.relative_to(ROOT)), path.read_text(errors="replace")


def folder_files(folder: str) -> list[Path]:
    return sorted(path for path in (ROOT / folder).rglob("*") if path.suffix in KINDS)


def in_one_line(text: str) -> str:
    """As it reads: without line breaks and the marks of comments in front of lines."""
    return re.sub(r"\s*\n\s*(?://+|#+)?\s*", " ", text)


def headings(page: Path) -> set[str]:
    found = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {heading.replace("\\", "").strip() for heading in found}


def broken(text: str) -> Iterator[str]:
    """References to pages or headings that do not exist."""
    for found in REFERENCE.finditer(in_one_line(text)):
        page = ROOT / "docs" / found[1]
        if not page.is_file() or (found[2] and found[2] not in headings(page)):
            yield found[0]


def outside(text: str) -> list[str]:
    """References to documents that the repository does not hold."""
    held = {
        path.name for folder in (".", "docs", "benchmarks") for path in (ROOT / folder).glob("*.md")
    }
    return [page for page in PAGE.findall(text) if page not in held] + SECTION.findall(text)


def test_nothing_refers_to_documents_outside() -> None:
    assert [f"{name}: {found}" for name, text in texts() for found in outside(text)] == []


def test_references_to_documents_outside_are_noticed() -> None:
    assert outside("see NOTES.md and (THEOREMS 3.1)") == ["NOTES.md", "THEOREMS 3.1"]
    assert outside("see README.md; ICAPS 2022, 3.1") == []


def test_pages_and_headings_that_are_referred_to_exist() -> None:
    assert [f"{name}: {reference}" for name, text in texts() for reference in broken(text)] == []


def test_code_refers_to_theory() -> None:
    """So that the test above has something to look at."""
    names = [name for name, text in texts() if "docs/theory/" in text and name.endswith(".py")]
    assert len(names) > 40


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('See docs/theory/oracles.md, "Bound maintenance".', None),
        ('// docs/theory/localization.md,\n// "AOCA*"', None),
        ('See docs/theory/oracles.md, "Bound\n    maintenance".', None),
        ("docs/theory/oracle.md", "docs/theory/oracle.md"),
        ('docs/theory/oracles.md, "Bounds"', 'docs/theory/oracles.md, "Bounds"'),
    ],
)
def test_broken_references_are_noticed(text: str, problem: str | None) -> None:
    assert list(broken(text)) == ([] if problem is None else [problem])


def test_modules_that_pages_name_exist() -> None:
    """Names in capitals stand for what a reader will choose."""
    path = re.compile(r"`((?:engine|app|tests|tools|benchmarks|resources)/[a-z0-9_/.-]+)`")
    pages = [(name, text) for name, text in texts() if name.endswith(".md")]
    named = [(name, found) for name, text in pages for found in path.findall(text)]
    assert len(named) > 100
    assert [(name, found) for name, found in named if not (ROOT / found).exists()] == []


def test_modules_that_are_named_without_their_folder_exist() -> None:
    """The change log also names modules of the past."""
    module = re.compile(r"`([a-z0-9_/]+\.(?:py|hpp|cpp|def))`")
    files = [f"/{path.relative_to(ROOT)}" for folder in FOLDERS for path in folder_files(folder)]
    pages = [(name, text) for name, text in texts() if name.endswith(".md")]
    named = {
        (name, found)
        for name, text in pages
        for found in module.findall(text)
        if name != "CHANGELOG.md"
    }
    assert len(named) > 100
    assert [one for one in sorted(named) if not any(f.endswith(f"/{one[1]}") for f in files)] == []


def test_every_pitfall_is_explained() -> None:
    page = (ROOT / "docs" / "theory" / "pitfalls.md").read_text()
    assert re.findall(r"^\| P(\d+) \|", page, re.MULTILINE) == [str(n) for n in range(1, 77)]
