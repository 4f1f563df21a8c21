"""All SQL is in one room, and nothing else opens a workspace."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("app", "engine", "tools", "benchmarks")
ALLOWED = (
    "engine/workspace",
    "engine/policies/asnets/cpddl_file.py",  # a format of others
    "benchmarks/many_findings.py",  # forges a workspace with very many bugs
)
STATEMENT = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|PRAGMA|CREATE TABLE|BEGIN|ATTACH)\b")


def modules() -> list[str]:
    found = (path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py")))
    names = (str(path.relative_to(ROOT)) for path in found)
    return [name for name in names if not name.startswith(ALLOWED)]


def sql_in(text: str) -> list[str]:
    """Statements in strings, and imports of the database."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found += [node.value] if STATEMENT.match(node.value) else []
        elif isinstance(node, ast.Import):
            found += [name.name for name in node.names if name.name == "sqlite3"]
        elif isinstance(node, ast.ImportFrom):
            found += ["sqlite3"] if node.module == "sqlite3" else []
    return found


@pytest.mark.parametrize("folder", FOLDERS)
def test_there_is_no_sql_outside_the_workspace(folder: str) -> None:
    names = [name for name in modules() if name.startswith(folder)]
    assert names
    assert {name: found for name in names if (found := sql_in((ROOT / name).read_text()))} == {}


def test_sql_would_be_noticed() -> None:
    assert sql_in('import sqlite3\nrows = ask("SELECT 1")') == ["sqlite3", "SELECT 1"]
    assert sql_in('ask(f"INSERT INTO {table} VALUES (1)")')
    assert not sql_in('say("Select the next bug")')
