"""What a filter asks, as a condition of SQL on `findings f LEFT JOIN localizations l`.

Texts are compared in Python, which knows all alphabets, but each text once: a million bugs have few
problems, oracles and actions. Numbers are compared by SQLite. No condition is ever NULL.
"""

from __future__ import annotations

import json
import operator
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from engine.records.finding import BugKind, BugStatus
from engine.workspace.filter import KIND_WORDS, NumberTest, Opposite, Term, Test, TextTest

INFINITY = "9e999"
WITNESSES = (
    "SELECT id FROM findings WHERE unit IN (SELECT u.id FROM units u "
    "JOIN problems p ON p.id = u.problem WHERE p.origin IS NOT NULL)"
)
"""Findings that belong to no list."""
LISTED = f"f.id NOT IN ({WITNESSES})"
NUMBERS = {
    "id": "f.id",
    "original": "(SELECT original FROM duplicates d WHERE d.finding = f.id)",
    "cost": f"ifnull(f.policy_cost, {INFINITY})",
    "bound": "f.bound",
    "gap": f"ifnull(f.gap, {INFINITY})",
    "region": "f.region",
    "loss": f"CASE WHEN l.worst_step IS NULL THEN NULL ELSE ifnull(l.loss, {INFINITY}) END",
    "root": "l.root_cause",
    "time": "f.seconds",
}
UNIT_NUMBERS = {"seed": "u.seed", "campaign": "u.campaign"}
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}


class Condition(NamedTuple):
    sql: str
    parameters: tuple[object, ...] = ()


ALWAYS, NEVER = Condition("1"), Condition("0")
_LISTED_AS_ONE = 20
"""More values are given to SQLite as a list of their own."""


class Conditions:
    """Makes conditions, in a turn to read the workspace."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def all_of(self, terms: Iterable[Term]) -> Condition:
        """Whether everything is true of a bug; that it belongs to lists is another question."""
        return _joined(" AND ", ALWAYS, [self._of(term.test) for term in terms])

    @cached_property
    def pattern_of_cause(self) -> dict[int, int]:
        """The patterns of root causes that were minimized."""
        rows = self._connection.execute(
            "SELECT root_cause, pattern FROM witnesses WHERE root_cause IS NOT NULL "
            "AND step IS NULL AND pattern IS NOT NULL ORDER BY same DESC, id DESC"
        )
        return dict(rows.fetchall())

    @cached_property
    def families(self) -> dict[int, str]:
        return dict(self._connection.execute("SELECT id, family FROM patterns").fetchall())

    def texts(self, query: str) -> list[str]:
        return [text for (text,) in self._connection.execute(query)]

    @cached_property
    def oracles(self) -> list[str]:
        return sorted({oracle for oracle, _ in self._labels})

    @cached_property
    def worst_actions(self) -> list[str]:
        return sorted(self.texts("SELECT DISTINCT worst_action FROM localizations"))

    @cached_property
    def _labels(self) -> list[tuple[str, str]]:
        """Oracles and kinds of evidence, by one look at all bugs."""
        rows = self._connection.execute("SELECT DISTINCT oracle, evidence_kind FROM findings")
        return rows.fetchall()

    def _of(self, test: Test) -> Condition:
        match test:
            case Opposite():
                inner = self._of(test.test)
                return Condition(f"NOT ({inner.sql})", inner.parameters)
            case NumberTest():
                return self._number(test)
            case TextTest():
                return _joined(" OR ", NEVER, [self._text(test, name) for name in test.columns])

    def _number(self, test: NumberTest) -> Condition:
        if test.column == "pattern":
            known = self.pattern_of_cause
            causes = [cause for cause, pattern in known.items() if _within(test, pattern)]
            others = known.keys() - set(causes)
            return _by_cause(causes, others, _within(test, None))
        if test.column in UNIT_NUMBERS:
            inner = _compared(test, UNIT_NUMBERS[test.column])
            return Condition(
                f"f.unit IN (SELECT u.id FROM units u WHERE {inner.sql})", inner.parameters
            )
        return _compared(test, NUMBERS[test.column])

    def _text(self, test: TextTest, name: str) -> Condition:
        conditions: dict[str, Callable[[TextTest], Condition]] = {
            "status": lambda test: _among("f.status", _fitting(test, BugStatus)),
            "kind": _kind,
            "oracle": lambda test: _among("f.oracle", _fitting(test, self.oracles)),
            "evidence": self._evidence,
            "pool": lambda test: Condition(
                f"CASE WHEN f.pool_number IS NULL THEN {test.holds('no'):d} "
                f"ELSE {test.holds('yes'):d} END"
            ),
            "problem": lambda test: self._unit(test, "problem", "problems"),
            "policy": lambda test: self._unit(test, "policy", "policies"),
            "worst": self._worst_action,
            "action": self._bad_action,
            "family": self._family,
            "note": self._note,
        }
        return conditions[name](test)

    def _evidence(self, test: TextTest) -> Condition:
        return _among("f.evidence_kind", _fitting(test, {kind for _, kind in self._labels}))

    def _worst_action(self, test: TextTest) -> Condition:
        found = _among("l.worst_action", _fitting(test, self.worst_actions))
        return _or_absent(found, test.holds(""))

    def _family(self, test: TextTest) -> Condition:
        families = self.families
        known = {cause: families.get(n, "") for cause, n in self.pattern_of_cause.items()}
        causes = [cause for cause, family in known.items() if test.holds(family)]
        return _by_cause(causes, known.keys() - set(causes), test.holds(""))

    def _unit(self, test: TextTest, column: str, table: str) -> Condition:
        rows = self._connection.execute(f"SELECT id, name FROM {table}").fetchall()
        found = _among(column, (number for number, text in rows if test.holds(text)))
        if found == NEVER:
            return NEVER
        return Condition(f"f.unit IN (SELECT id FROM units WHERE {found.sql})", found.parameters)

    def _bad_action(self, test: TextTest) -> Condition:
        actions = self.texts("SELECT DISTINCT action FROM root_causes")
        found = _among("action", _fitting(test, actions))
        if found != NEVER:
            sql = f"l.root_cause IN (SELECT id FROM root_causes WHERE {found.sql})"
            found = Condition(sql, found.parameters)
        return _or_absent(found, test.holds(""))

    def _note(self, test: TextTest) -> Condition:
        rows = self._connection.execute("SELECT id, note FROM findings WHERE note <> ''")
        found = _among("f.id", (number for number, note in rows if test.holds(note)))
        if not test.holds(""):
            return found
        return Condition(f"f.note = '' OR {found.sql}", found.parameters)


def _fitting(test: TextTest, texts: Iterable[str]) -> list[str]:
    return [text for text in texts if test.holds(text)]


def _kind(test: TextTest) -> Condition:
    words = {kind: f"{kind} {KIND_WORDS[kind]}" for kind in BugKind}
    return _among("f.kind", (kind for kind, text in words.items() if test.holds(text)))


def _joined(word: str, idle: Condition, parts: Sequence[Condition]) -> Condition:
    """Conditions together, without those that change nothing."""
    telling = [part for part in parts if part != idle]
    if not telling:
        return idle
    return Condition(
        word.join(f"({part.sql})" for part in telling),
        tuple(value for part in telling for value in part.parameters),
    )


def _json(values: Iterable[object]) -> str:
    return json.dumps(list(values))


def _among(column: str, values: Iterable[object]) -> Condition:
    wanted = tuple(values)
    if not wanted:
        return NEVER
    if len(wanted) == 1:
        return Condition(f"{column} = ?", wanted)
    if len(wanted) <= _LISTED_AS_ONE:
        return Condition(f"{column} IN ({', '.join('?' * len(wanted))})", wanted)
    return Condition(f"{column} IN (SELECT value FROM json_each(?))", (_json(wanted),))


def _or_absent(found: Condition, without: bool) -> Condition:
    """Where a bug has nothing to be compared, it is the same for all."""
    if found == NEVER and not without:
        return NEVER
    return Condition(f"ifnull({found.sql}, {without:d})", found.parameters)


def _by_cause(causes: Iterable[int], others: Iterable[int], without: bool) -> Condition:
    """For those that hold of some known root causes, not of others, and of all the rest or not."""
    if not without:
        return _or_absent(_among("l.root_cause", causes), without)
    found = _among("l.root_cause", others)
    return Condition(f"ifnull(NOT ({found.sql}), 1)", found.parameters)


def _compared(test: NumberTest, expression: str) -> Condition:
    if test.ranges is None:
        return Condition(f"{expression} IS {'NOT ' if test.is_there else ''}NULL")
    parts, values = [], []
    for limits in test.ranges:
        parts.append(" AND ".join(f"({expression}) {sign} ?" for sign, _ in limits))
        values += [value for _, value in limits]
    return Condition(f"ifnull({' OR '.join(f'({part})' for part in parts)}, 0)", tuple(values))


def _within(test: NumberTest, number: float | None) -> bool:
    if test.ranges is None:
        return (number is not None) is test.is_there
    return number is not None and any(
        all(_COMPARE[sign](number, value) for sign, value in limits) for limits in test.ranges
    )
