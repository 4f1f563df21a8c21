"""The language in which bugs are filtered: `gap>5 oracle:bmo|aras -status:ignored crane`.

`name:text` asks whether a column contains a text, `name>5` compares numbers, `name:5..9` takes a
range, `name:none` and `name:any` ask whether there is a value; a bare word may stand in any
column. `a|b` means either, `-` before a condition its opposite, quotes keep spaces. All conditions
must hold. A policy that fails has an infinite gap and cost. Here the words get their meaning;
`bug_list.py` makes SQL of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from engine.errors import Location, UsageError
from engine.records.finding import BugKind

KIND_WORDS = {
    BugKind.FAILS: "fails",
    BugKind.TOO_EXPENSIVE: "too expensive",
    BugKind.STOPPED: "stopped, too expensive",
}
"""The kinds of bugs as people say them; filters know both."""


@dataclass(frozen=True, slots=True)
class Column:
    """A name of the language, for texts or for numbers."""

    name: str
    meaning: str
    is_number: bool = False


COLUMNS: dict[str, Column] = {
    column.name: column
    for column in (
        Column("id", "the bug's number", is_number=True),
        Column("status", "new, confirmed, ignored or duplicate"),
        Column("original", "the bug that a duplicate repeats", is_number=True),
        Column("kind", "fails (qualitative) or too expensive (quantitative)"),
        Column("problem", "the problem"),
        Column("policy", "the policy that was tested"),
        Column("cost", "what the policy's run costs", is_number=True),
        Column("bound", "the cost of the best known plan or bound", is_number=True),
        Column("gap", "how much too expensive; inf where the policy fails", is_number=True),
        Column("oracle", "the oracle that found it first"),
        Column("evidence", "plan or dominance (a bound)"),
        Column("pool", "yes for a state of the pool, no for a further one"),
        Column("region", "the first bug of its region", is_number=True),
        Column("action", "the bad action, once localized"),
        Column("worst", "the action that loses most, once localized"),
        Column(
            "loss",
            "what the worst step costs too much; inf where it loses the goal",
            is_number=True,
        ),
        Column("root", "the root cause, once localized", is_number=True),
        Column("pattern", "the pattern, once minimized", is_number=True),
        Column("family", "the family of its pattern"),
        Column("note", "your note"),
        Column("seed", "the seed of its unit", is_number=True),
        Column("campaign", "the campaign that found it", is_number=True),
        Column("time", "seconds until it was found", is_number=True),
    )
}
TEXTS = tuple(name for name, column in COLUMNS.items() if not column.is_number)
COMPARISONS = {">=": ">=", "<=": "<=", ">": ">", "<": "<", "=": "=", ":": "="}
"""How numbers are compared, and what SQL writes for it."""


@dataclass(frozen=True, slots=True)
class TextTest:
    """Whether one of some columns contains one of some texts in lower case.

    `wanted` None: whether there is a text at all (`is_there`).
    """

    columns: tuple[str, ...]
    wanted: tuple[str, ...] | None
    is_there: bool = True

    def holds(self, text: str) -> bool:
        """Whether a text of a column is what is asked for."""
        if self.wanted is None:
            return bool(text) is self.is_there
        lower = text.lower()
        return any(item in lower for item in self.wanted)


@dataclass(frozen=True, slots=True)
class NumberTest:
    """Whether a number is within one of some ranges, each a comparison or two of them.

    `ranges` None: whether there is a number at all (`is_there`).
    """

    column: str
    ranges: tuple[tuple[tuple[str, float], ...], ...] | None
    is_there: bool = True


@dataclass(frozen=True, slots=True)
class Opposite:
    test: Test


Test = TextTest | NumberTest | Opposite
_WORD = re.compile(r"([a-z]+)(>=|<=|>|<|=|:)(.*)", re.DOTALL)
_PIECE = re.compile(r'(?:[^\s"]|"[^"]*"?)+')
_EXAMPLE = "write for example: gap>5 oracle:aras status:new"


class FilterError(UsageError):
    """A condition that means nothing; `start` and `end` say where it stands in the filter."""

    def __init__(
        self,
        message: str,
        location: Location | None = None,
        hint: str = "",
        start: int = 0,
        end: int = 0,
    ) -> None:
        super().__init__(message, location, hint)
        self.start, self.end = start, end


@dataclass(frozen=True, slots=True)
class Term:
    """One condition as it was written, and what it asks."""

    text: str
    start: int
    test: Test

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def parse_terms(text: str) -> tuple[Term, ...]:
    """The conditions that a filter stands for; an empty one has none."""
    return tuple(Term(word, start, _test(word, start)) for start, word in split_words(text))


def split_words(text: str) -> list[tuple[int, str]]:
    """The words of a filter and where they begin; quotes keep spaces together."""
    return [(found.start(), found[0]) for found in _PIECE.finditer(text)]


def completions(word: str, values: Mapping[str, Iterable[str]]) -> list[str]:
    """How the word being written could continue; `values` are texts that occur in columns."""
    opposite = "-" if word.startswith("-") else ""
    word = word.removeprefix("-")
    found = _WORD.fullmatch(word)
    if found is None:
        names = [name for name in COLUMNS if name.startswith(word.lower())]
        return [f"{opposite}{name}{':' if name in TEXTS else '>'}" for name in names]
    name, comparison, value = found.groups()
    if name not in COLUMNS or comparison not in (":", "="):
        return []
    *before, last = value.split("|")
    typed = last.strip('"').lower()
    head = f"{opposite}{name}{comparison}" + "".join(f"{item}|" for item in before)
    known = dict.fromkeys(values.get(name, ()))
    fitting = [item for item in known if typed in item.lower() and item.lower() != typed]
    fitting.sort(key=lambda item: not item.lower().startswith(typed))
    fitting += [item for item in ("none", "any") if item.startswith(typed) and item != typed]
    return [head + quoted(item) for item in fitting]


def quoted(value: str) -> str:
    """A value as it must be written in a filter."""
    return f'"{value}"' if re.search(r"[\s|]", value) else value


def _test(word: str, start: int) -> Test:
    if word.startswith("-") and len(word) > 1:
        return Opposite(_test(word[1:], start + 1))
    found = _WORD.fullmatch(word)
    if found is None:
        # Bars without words ask for nothing.
        return TextTest(TEXTS, tuple(filter(None, _alternatives(word))) or ("",))
    name, comparison, value = found.groups()
    column = COLUMNS.get(name)
    if column is None:
        close = get_close_matches(name, COLUMNS, 1)
        hint = f"did you mean '{close[0]}'?" if close else _EXAMPLE
        raise _error(f"unknown column '{name}'", hint, (word, start))
    if column.is_number:
        return _number_test(name, comparison, value, (word, start))
    if comparison not in ":=":
        raise _error(f"'{name}' is not a number", f"write {name}:text", (word, start))
    if value in ("none", "any"):
        return TextTest((name,), None, is_there=value == "any")
    return TextTest((name,), tuple(_alternatives(value)))


def _error(message: str, hint: str, place: tuple[str, int]) -> FilterError:
    word, start = place
    return FilterError(f"filter: {message}", None, hint, start, start + len(word))


def _alternatives(value: str) -> list[str]:
    """What stands between bars; bars in quotes are text."""
    parts = re.findall(r'((?:[^|"]|"[^"]*"?)*)(?:\||$)', value)
    return [part.replace('"', "").lower() for part in parts[: max(1, len(parts) - 1)]]


def _number_test(name: str, comparison: str, value: str, place: tuple[str, int]) -> NumberTest:
    if comparison in ":=" and value in ("none", "any"):
        return NumberTest(name, None, is_there=value == "any")
    ranges = tuple(_range(comparison, part, place) for part in value.split("|"))
    return NumberTest(name, ranges)


def _range(comparison: str, text: str, place: tuple[str, int]) -> tuple[tuple[str, float], ...]:
    low, dots, high = text.partition("..")
    if dots and comparison in ":=":
        least = _number(low, place) if low else -math.inf
        most = _number(high, place) if high else math.inf
        return (">=", least), ("<=", most)
    return ((COMPARISONS[comparison], _number(text, place)),)


def _number(text: str, place: tuple[str, int]) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise _error(f"'{place[0]}' needs a number", _EXAMPLE, place)
    return value
