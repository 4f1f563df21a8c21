"""Two texts aligned line by line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of each text with its number, or of one of them beside nothing."""

    left: str
    right: str
    left_number: int | None
    right_number: int | None
    same: bool


@dataclass(frozen=True, slots=True)
class TextDiff:
    lines: tuple[DiffLine, ...]
    differences: tuple[int, ...]  # where each difference begins

    @property
    def is_empty(self) -> bool:
        return not self.differences


def diff_texts(left: str, right: str) -> TextDiff:
    """White space at the end of lines does not count."""
    a = [line.rstrip() for line in left.splitlines()]
    b = [line.rstrip() for line in right.splitlines()]
    lines: list[DiffLine] = []
    differences: list[int] = []
    for tag, i, i_end, j, j_end in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag != "equal":
            differences.append(len(lines))
        for x, y in zip_longest(range(i, i_end), range(j, j_end)):
            lines.append(
                DiffLine(
                    _line(a, x),
                    _line(b, y),
                    None if x is None else x + 1,
                    None if y is None else y + 1,
                    tag == "equal",
                )
            )
    return TextDiff(tuple(lines), tuple(differences))


def _line(lines: Sequence[str], number: int | None) -> str:
    return "" if number is None else lines[number]
