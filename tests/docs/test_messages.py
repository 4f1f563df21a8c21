"""Messages that the documentation quotes are those that the program prints."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
QUOTE = re.compile(r"(?<!\*)\*([^*|\n]+)\*(?!\*)")
VARIABLE = re.compile(r"\.\.\.|\(.*?\)|\S*[\d:/]\S*")
"""What stands for a name or a number in a quoted message; a colon is followed by a reason."""


@cache
def program_text() -> str:
    """All texts in the program, one per line, without what is filled in."""
    found = []
    for folder in ("engine", "app"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.JoinedStr):
                    parts = [part.value for part in node.values if isinstance(part, ast.Constant)]
                    found += [str(part) for part in parts]
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.append(node.value)
    return "\n".join(found)


def quotes() -> list[str]:
    pages = (ROOT / "docs" / "troubleshooting.md", ROOT / "docs" / "clusters.md")
    return [quote for page in pages for quote in QUOTE.findall(page.read_text())]


def test_there_are_quotes() -> None:
    assert len(quotes()) > 20


@pytest.mark.parametrize("quote", quotes())
def test_a_quoted_message_is_in_the_program(quote: str) -> None:
    parts = [part.strip() for part in re.split(r";|,", VARIABLE.sub(";", quote))]
    missing = [part for part in parts if len(part) > 2 and part not in program_text()]
    assert not missing
