"""What a filter asks of all bugs at once: whether each of them fits.

A text is compared once, in Python, which knows all alphabets: a million bugs have few problems,
oracles and actions. Numbers are compared by numpy.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import numpy as np

from engine.records.finding import BugKind, BugStatus
from engine.workspace.bug_columns import INFINITE, UNKNOWN, BugColumns, Mask, Numbers
from engine.workspace.filter import KIND_WORDS, NumberTest, Opposite, Term, Test, TextTest

NEEDED = {
    **{name: (name,) for name in ("status", "kind", "cost", "bound", "gap", "oracle", "evidence")},
    **{name: (name,) for name in ("pool", "region", "worst", "loss", "root", "time")},
    **dict.fromkeys(("problem", "policy", "seed", "campaign"), ("unit",)),
    **dict.fromkeys(("action", "schema", "pattern", "family"), ("root",)),
    "note": ("noted",),
}
"""The stored columns that follow from the name of a column, of filters as of tables."""
_POOL = ("no", "yes")
_TABLES = {"problem": "problems", "policy": "policies"}
_COMPARE: dict[str, Callable[[Any, float], Any]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}


class Conditions:
    """Answers filters, in a turn to read the workspace."""

    def __init__(self, columns: BugColumns) -> None:
        self._columns = columns

    def all_of(self, terms: Iterable[Term]) -> Mask:
        """The findings of which everything is true and that belong to lists."""
        tests = [term.test for term in terms]
        names = [name for test in tests for name in self._columns_of(test)]
        self._columns.need(part for name in names for part in NEEDED.get(name, ()))
        fits = self._columns.listed.copy()
        for test in tests:
            fits &= self._of(test)
        return fits

    def _of(self, test: Test) -> Mask:
        match test:
            case Opposite():
                return ~self._of(test.test)
            case NumberTest():
                return self._number(test)
            case TextTest():
                fits = np.zeros(len(self._columns.ids), dtype=np.bool_)
                for name in self._columns_of(test):
                    fits |= self._text(test, name)
                return fits

    def _columns_of(self, test: Test) -> list[str]:
        """The columns that must be looked at."""
        match test:
            case Opposite():
                return self._columns_of(test.test)
            case NumberTest():
                return [test.column]
            case TextTest():
                return [name for name in test.columns if self._may_hold(test, name)]

    def _may_hold(self, test: TextTest, name: str) -> bool:
        """Whether any text of a column is asked for: most columns need not be read for a word."""
        texts = self._known_texts(name)
        return texts is None or any(map(test.holds, texts))

    def _known_texts(self, name: str) -> Collection[str] | None:
        """All that a column can hold, if that is known without reading it."""
        columns = self._columns
        texts: Collection[str] | None = None
        match name:
            case "status":
                texts = tuple(BugStatus)
            case "kind":
                texts = tuple(map(_kind_words, BugKind))
            case "pool":
                texts = _POOL
            case "problem" | "policy":
                texts = columns.names(_TABLES[name]).values()
            case "action":
                texts = {"", *columns.bad_actions.values()}
            case "family":
                texts = {"", *columns.family_of_cause.values()}
            case "worst":
                texts = {"", *columns.worst_actions}
        return texts

    def _number(self, test: NumberTest) -> Mask:
        columns = self._columns
        if test.column in ("seed", "campaign"):
            units = columns.units(test.column)
            return self._by_unit(unit for unit, number in units.items() if _within(test, number))
        if test.column == "pattern":
            patterns = columns.pattern_of_cause
            fits = {cause: _within(test, pattern) for cause, pattern in patterns.items()}
            return self._by_cause(fits, _within(test, None))
        if test.column == "id":
            return _compared(test, columns.ids)
        if test.column == "original":
            return _compared(test, columns.originals)
        return _compared(test, columns.numbers(test.column))

    def _text(self, test: TextTest, name: str) -> Mask:
        columns = self._columns
        match name:
            case "problem" | "policy":
                names = columns.names(_TABLES[name])
                units = columns.units(name)
                fitting = {number for number, text in names.items() if test.holds(text)}
                return self._by_unit(unit for unit, number in units.items() if number in fitting)
            case "action" | "family":
                texts = columns.bad_actions if name == "action" else columns.family_of_cause
                answers = {text: test.holds(text) for text in set(texts.values())}
                fits = {cause: answers[text] for cause, text in texts.items()}
                return self._by_cause(fits, test.holds(""))
            case "pool":
                return _mapped(map(test.holds, _POOL), columns.numbers("pool"))
            case "note":
                return self._note(test)
        words = columns.words(name)
        shown = map(_kind_words, words.texts) if name == "kind" else words.texts
        return _mapped(map(test.holds, shown), words.codes)

    def _note(self, test: TextTest) -> Mask:
        columns = self._columns
        found = [number for number, note in columns.notes.items() if test.holds(note)]
        fits = np.isin(columns.ids, np.array(found, dtype=np.int64))
        return fits | (columns.numbers("noted") == 0) if test.holds("") else fits

    def _by_unit(self, units: Iterable[int]) -> Mask:
        return np.isin(self._columns.numbers("unit"), np.fromiter(units, np.int64))

    def _by_cause(self, fits: Mapping[int, bool], without: bool) -> Mask:
        """By root causes; `without` is the answer for bugs that have none of these."""
        unusual = np.array([cause for cause, fit in fits.items() if fit != without], dtype=np.int64)
        return np.isin(self._columns.numbers("root"), unusual, invert=without)


def _kind_words(kind: str) -> str:
    return f"{kind} {KIND_WORDS[BugKind(kind)]}"


def _mapped(answers: Iterable[bool], codes: Numbers) -> Mask:
    """The answer for each bug, from the answers for each text."""
    found: Mask = np.array(list(answers), dtype=np.bool_)[codes]
    return found


def _compared(test: NumberTest, numbers: Numbers) -> Mask:
    known: Mask = numbers != UNKNOWN
    if test.ranges is None:
        return known if test.is_there else ~known
    values = np.where(numbers == INFINITE, np.inf, numbers)
    fits = np.zeros(len(values), dtype=np.bool_)
    for limits in test.ranges:
        within = known.copy()
        for sign, value in limits:
            within &= _COMPARE[sign](values, value)
        fits |= within
    return fits


def _within(test: NumberTest, number: float | None) -> bool:
    if test.ranges is None:
        return (number is not None) is test.is_there
    return number is not None and any(
        all(_COMPARE[sign](number, value) for sign, value in limits) for limits in test.ranges
    )
