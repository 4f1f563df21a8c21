"""The pitfalls of docs/theory/pitfalls.md are tests: this finds them by the numbers they name."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]
PITFALLS = range(1, 77)
_NAMED = re.compile(r"(?:\b|_)[Pp](\d+)(?:-P?(\d+))?(?=\b|_)")


def named(text: str) -> Iterator[int]:
    for found in _NAMED.finditer(text):
        yield from range(int(found[1]), int(found[2] or found[1]) + 1)


def by_pitfall() -> dict[int, list[str]]:
    """A test names what it is about in its name or in what it says about itself."""
    tests: dict[int, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for pitfall in named(f"{node.name} {ast.get_docstring(node) or ''}"):
                    where = f"{path.relative_to(TESTS)}::{node.name}"
                    tests.setdefault(pitfall, []).append(where)
    return tests


def test_every_pitfall_has_a_test() -> None:
    assert sorted(by_pitfall()) == list(PITFALLS)


if __name__ == "__main__":
    for pitfall, tests in sorted(by_pitfall().items()):
        print(f"P{pitfall}: {', '.join(tests)}")
