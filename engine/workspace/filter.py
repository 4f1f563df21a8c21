"""The language in which bugs are filtered: `gap>5 oracle:bmo|aras -status:ignored crane`.

`name:text` asks whether a column contains a text, `name>5` compares numbers, `name:5..9` takes a
range, `name:none` and `name:any` ask whether there is a value; a bare word may stand in any
column. `a|b` means either, `-` before a condition its opposite, quotes keep spaces. All conditions
must hold. A policy that fails has an infinite gap and cost.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from engine.errors import Location, UsageError
from engine.records.finding import BugKind
from engine.workspace.rows import BugRow

Condition = Callable[[BugRow], bool]

KIND_WORDS = {
    BugKind.FAILS: "fails",
    BugKind.TOO_EXPENSIVE: "too expensive",
    BugKind.STOPPED: "stopped, too expensive",
}
"""The kinds of bugs as people say them; filters know both."""


@dataclass(frozen=True, slots=True)
class Column:
    """A name of the language; of `text` and `number` one is there."""

    name: str
    meaning: str
    text: Callable[[BugRow], str] | None = None
    number: Callable[[BugRow], float | None] | None = None


COLUMNS: dict[str, Column] = {
    column.name: column
    for column in (
        Column("id", "the bug's number", number=lambda bug: bug.id),
        Column("status", "new, confirmed, ignored or duplicate", text=lambda bug: bug.status),
        Column(
            "original",
            "the bug that a duplicate repeats",
            number=lambda bug: bug.duplicate_of,
        ),
        Column(
            "kind",
            "fails (qualitative) or too expensive (quantitative)",
            text=lambda bug: f"{bug.kind} {KIND_WORDS[bug.kind]}",
        ),
        Column("problem", "the problem", text=lambda bug: bug.problem),
        Column("policy", "the policy that was tested", text=lambda bug: bug.policy),
        Column(
            "cost",
            "what the policy's run costs",
            number=lambda bug: math.inf if bug.policy_cost is None else bug.policy_cost,
        ),
        Column("bound", "the cost of the best known plan or bound", number=lambda bug: bug.bound),
        Column(
            "gap",
            "how much too expensive; inf where the policy fails",
            number=lambda bug: math.inf if bug.gap is None else bug.gap,
        ),
        Column("oracle", "the oracle that found it first", text=lambda bug: bug.found_by),
        Column("evidence", "plan or dominance (a bound)", text=lambda bug: bug.evidence_kind),
        Column("region", "the first bug of its region", number=lambda bug: bug.region),
        Column("action", "the bad action, once localized", text=lambda bug: bug.bad_action),
        Column("root", "the root cause, once localized", number=lambda bug: bug.root_cause),
        Column("note", "your note", text=lambda bug: bug.note),
        Column("seed", "the seed of its unit", number=lambda bug: bug.seed),
        Column("campaign", "the campaign that found it", number=lambda bug: bug.campaign),
        Column("time", "seconds until it was found", number=lambda bug: bug.seconds),
    )
}
_TEXTS = {name: column.text for name, column in COLUMNS.items() if column.text is not None}
_NUMBERS = {name: column.number for name, column in COLUMNS.items() if column.number is not None}
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
    ":": operator.eq,
}
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
    holds: Condition

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def parse_filter(text: str) -> Condition:
    """The condition that a filter stands for; an empty one holds for every bug."""
    conditions = [term.holds for term in parse_terms(text)]
    return lambda bug: all(condition(bug) for condition in conditions)


def parse_terms(text: str) -> tuple[Term, ...]:
    return tuple(Term(word, start, _condition(word, start)) for start, word in split_words(text))


def split_words(text: str) -> list[tuple[int, str]]:
    """The words of a filter and where they begin; quotes keep spaces together."""
    return [(found.start(), found[0]) for found in _PIECE.finditer(text)]


def matching(rows: Iterable[BugRow], terms: Iterable[Term]) -> list[BugRow]:
    """The rows that fit, one condition at a time: that is quick for many rows."""
    fitting = list(rows)
    for term in terms:
        holds = term.holds
        fitting = [row for row in fitting if holds(row)]
    return fitting


def completions(word: str, values: Mapping[str, Iterable[str]]) -> list[str]:
    """How the word being written could go on; `values` are texts that occur in columns."""
    opposite = "-" if word.startswith("-") else ""
    word = word.removeprefix("-")
    found = _WORD.fullmatch(word)
    if found is None:
        names = [name for name in COLUMNS if name.startswith(word.lower())]
        return [f"{opposite}{name}{':' if name in _TEXTS else '>'}" for name in names]
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


def _condition(word: str, start: int) -> Condition:
    if word.startswith("-") and len(word) > 1:
        opposite = _condition(word[1:], start + 1)
        return lambda bug: not opposite(bug)
    found = _WORD.fullmatch(word)
    if found is None:
        return _anywhere(word)
    name, comparison, value = found.groups()
    if name in _TEXTS and comparison in ":=":
        return _contains(_TEXTS[name], value)
    if name in _NUMBERS:
        return _numeric(_NUMBERS[name], comparison, value, (word, start))
    if name in _TEXTS:
        raise _error(f"'{name}' is not a number", f"write {name}:text", (word, start))
    close = get_close_matches(name, COLUMNS, 1)
    hint = f"did you mean '{close[0]}'?" if close else _EXAMPLE
    raise _error(f"unknown column '{name}'", hint, (word, start))


def _error(message: str, hint: str, place: tuple[str, int]) -> FilterError:
    word, start = place
    return FilterError(f"filter: {message}", None, hint, start, start + len(word))


def _alternatives(value: str) -> list[str]:
    """What stands between bars; bars in quotes are text."""
    parts = re.findall(r'((?:[^|"]|"[^"]*"?)*)(?:\||$)', value)
    return [part.replace('"', "").lower() for part in parts[: max(1, len(parts) - 1)]]


def _contains(column: Callable[[BugRow], str], value: str) -> Condition:
    if value == "none":
        return lambda bug: not column(bug)
    if value == "any":
        return lambda bug: bool(column(bug))
    wanted = _alternatives(value)
    if len(wanted) == 1:
        only = wanted[0]
        return lambda bug: only in column(bug).lower()
    return lambda bug: any(item in column(bug).lower() for item in wanted)


def _numeric(
    column: Callable[[BugRow], float | None], comparison: str, value: str, place: tuple[str, int]
) -> Condition:
    if comparison in ":=" and value in ("none", "any"):
        wanted = value == "any"
        return lambda bug: (column(bug) is not None) is wanted
    holds = [_number_test(comparison, part, place) for part in value.split("|")]

    def condition(bug: BugRow) -> bool:
        number = column(bug)
        return number is not None and any(test(number) for test in holds)

    return condition


def _number_test(comparison: str, text: str, place: tuple[str, int]) -> Callable[[float], bool]:
    low, dots, high = text.partition("..")
    if dots and comparison in ":=":
        least = _number(low, place) if low else -math.inf
        most = _number(high, place) if high else math.inf
        return lambda number: least <= number <= most
    holds, wanted = _COMPARISONS[comparison], _number(text, place)
    return lambda number: holds(number, wanted)


def _anywhere(word: str) -> Condition:
    wanted = [item for item in _alternatives(word) if item]
    if not wanted:
        return lambda bug: True
    columns = list(_TEXTS.values())
    return lambda bug: any(item in column(bug).lower() for column in columns for item in wanted)


def _number(text: str, place: tuple[str, int]) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise _error(f"'{place[0]}' needs a number", _EXAMPLE, place)
    return value
