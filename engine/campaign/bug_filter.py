"""The language in which bugs are filtered: `gap>5 oracle:bmo status:new kind:qualitative crane`.

`name:text` asks whether a column contains a text, `name>5` compares numbers, a bare word may stand
in any column. All conditions must hold. A policy that fails has an infinite gap and cost.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from difflib import get_close_matches

from engine.campaign.reading import BugRow
from engine.errors import UsageError

Condition = Callable[[BugRow], bool]

_TEXTS: dict[str, Callable[[BugRow], str]] = {
    "kind": lambda bug: bug.kind,
    "problem": lambda bug: bug.problem,
    "policy": lambda bug: bug.policy,
    "oracle": lambda bug: bug.found_by,
    "evidence": lambda bug: bug.evidence_kind,
    "status": lambda bug: bug.status,
    "note": lambda bug: bug.note,
}
_NUMBERS: dict[str, Callable[[BugRow], float | None]] = {
    "id": lambda bug: bug.id,
    "gap": lambda bug: math.inf if bug.gap is None else bug.gap,
    "cost": lambda bug: math.inf if bug.policy_cost is None else bug.policy_cost,
    "bound": lambda bug: bug.bound,
    "region": lambda bug: bug.region,
    "seed": lambda bug: bug.seed,
    "time": lambda bug: bug.seconds,
}
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
    ":": operator.eq,
}
_WORD = re.compile(r"([a-z]+)(>=|<=|>|<|=|:)(.*)")
_EXAMPLE = "write for example: gap>5 oracle:aras status:new"


def parse_filter(text: str) -> Condition:
    """The condition that a filter stands for; an empty one holds for every bug."""
    conditions = [_condition(word) for word in text.split()]
    return lambda bug: all(condition(bug) for condition in conditions)


def _condition(word: str) -> Condition:
    found = _WORD.fullmatch(word)
    if found is None:
        return _anywhere(word.lower())
    name, comparison, value = found.groups()
    if name in _TEXTS and comparison in ":=":
        column, wanted = _TEXTS[name], value.lower()
        return lambda bug: wanted in column(bug).lower()
    if name in _NUMBERS:
        return _numeric(_NUMBERS[name], _COMPARISONS[comparison], _number(value, word))
    if name in _TEXTS:
        raise UsageError(f"filter: '{name}' is no number", hint=_EXAMPLE)
    close = get_close_matches(name, [*_TEXTS, *_NUMBERS], 1)
    hint = f"did you mean '{close[0]}'?" if close else _EXAMPLE
    raise UsageError(f"filter: there is no column '{name}'", hint=hint)


def _numeric(
    column: Callable[[BugRow], float | None],
    holds: Callable[[float, float], bool],
    number: float,
) -> Condition:
    def condition(bug: BugRow) -> bool:
        value = column(bug)
        return value is not None and holds(value, number)

    return condition


def _anywhere(word: str) -> Condition:
    return lambda bug: any(word in column(bug).lower() for column in _TEXTS.values())


def _number(text: str, word: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"filter: '{word}' needs a number", hint=_EXAMPLE) from None
