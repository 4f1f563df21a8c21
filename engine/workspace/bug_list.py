"""Which bugs a table shows, in which order and in which groups, as numbers and nothing else.

One scan of SQLite returns the matching bugs and their sort and group keys, each column as one text
of numbers. This takes a tenth of a second for a million bugs and releases Python's lock; a million
rows would take several seconds. numpy sorts them. Only visible rows are read, later.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.errors import DamagedRecordError
from engine.records.finding import BugKind, BugStatus
from engine.workspace.conditions import LISTED, WITNESSES, Conditions
from engine.workspace.filter import KIND_WORDS, Term

Numbers = npt.NDArray[np.int64]
NONE = np.iinfo(np.int64).max
"""What is unknown comes last in either direction."""
_LARGE = 2**62  # infinite costs, which come before it
_SEPARATOR = "\x1f"
_TABLES = "findings f NOT INDEXED LEFT JOIN localizations l NOT INDEXED ON l.finding = f.id"
"""By the numbers of bugs: in another order every row would be on another page."""


@dataclass(frozen=True, slots=True)
class BugQuery:
    """What the user wants to see."""

    terms: tuple[Term, ...] = ()
    order: tuple[tuple[str, bool], ...] = ()  # names of columns and whether they descend
    group_by: str = ""  # one of `GROUPS`


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups in their order: where each begins in the list, and how many bugs it has."""

    starts: Numbers
    counts: Numbers
    keys: Numbers  # NONE: bugs that belong to no group
    names: tuple[str, ...] | None  # of the keys; None: they are numbers by themselves

    def key(self, group: int) -> str:
        """Return the identity of a group, which is stable across lists; empty for none."""
        number = int(self.keys[group])
        if number == NONE:
            return ""
        return str(number) if self.names is None else self.names[number]

    def find(self, key: str) -> int:
        """The group with a key; -1 if there is none."""
        if not key:
            number = NONE
        elif self.names is None:
            number = int(key)
        elif key in self.names:
            number = self.names.index(key)
        else:
            return -1
        found = np.flatnonzero(self.keys == number)
        return int(found[0]) if len(found) else -1


@dataclass(frozen=True, slots=True)
class BugList:
    """The numbers of bugs in their order, group by group."""

    bugs: Numbers
    groups: Groups | None
    by_number: Numbers  # the places of bugs, in the order of their numbers

    def place_of(self, bug: int) -> int:
        """Where a bug is; -1 if it is not in the list."""
        if not len(self.bugs):
            return -1
        near = int(np.searchsorted(self.bugs, bug, sorter=self.by_number))
        if near == len(self.bugs):
            return -1
        place = int(self.by_number[near])
        return place if self.bugs[place] == bug else -1


@dataclass(frozen=True, slots=True)
class BugOverview:
    """What holds of all bugs of a workspace together."""

    total: int = 0
    silent: frozenset[str] = frozenset()  # columns with the same value for all bugs
    has_patterns: bool = False
    values: Mapping[str, Sequence[str]] | None = None  # texts of columns, to complete a filter


NO_BUGS = BugList(np.empty(0, np.int64), None, np.empty(0, np.int64))


def list_bugs(connection: sqlite3.Connection, query: BugQuery) -> BugList:
    """Ask SQLite, then sort and group."""
    return _Listing(connection, query).make()


class _Column:
    """A column to sort or group by: an expression of SQL, and numbers made of its values."""

    def __init__(
        self,
        sql: str,
        convert: Callable[[Any], Numbers] | None = None,
        parameters: tuple[object, ...] = (),
        names: tuple[str, ...] | None = None,
        *,
        is_text: bool = False,
    ) -> None:
        self.sql, self.convert, self.parameters = sql, convert, parameters
        self.names, self.is_text = names, is_text


_NUMBERS = {
    "id": "f.id",
    "bound": "f.bound",
    "region": "f.region",
    "root": "l.root_cause",
    "cost": f"ifnull(f.policy_cost, {_LARGE})",
    "gap": f"ifnull(f.gap, {_LARGE})",
    "loss": "CASE WHEN l.worst_step IS NULL OR l.loss = 0 THEN NULL "
    f"ELSE ifnull(l.loss, {_LARGE}) END",
    "time": "CAST(f.seconds * 1000000 AS INTEGER)",
    "evidence": "f.evidence_kind = 'plan'",
    "picture": "NULL",
}
_UNIT_COLUMNS = {
    "problem": "p.name",
    "policy": "y.name",
    "seed": "u.seed",
    "campaign": "u.campaign",
}
GROUPS = ("pattern", "family", "root", "region", "schema", "problem", "kind", "oracle")


class _Listing:
    def __init__(self, connection: sqlite3.Connection, query: BugQuery) -> None:
        self._connection, self._query = connection, query
        self._conditions = Conditions(connection)

    def make(self) -> BugList:
        order = [(self._column(name), down) for name, down in self._query.order]
        group = self._column(self._query.group_by) if self._query.group_by else None
        columns = [_Column("f.id"), *(column for column, _ in order)]
        columns += [] if group is None else [group]
        bugs, *keys = self._scan(columns)
        if np.any(np.diff(bugs) <= 0):
            raise DamagedRecordError("its list of bugs is out of order")
        bugs, *keys = self._without_witnesses([bugs, *keys])
        order_keys, group_keys = keys[: len(order)], keys[len(order) :]
        places = np.arange(len(bugs))
        if order:
            turned = [
                np.where(key == NONE, NONE, -key) if down else key
                for key, (_, down) in zip(order_keys, order, strict=True)
            ]
            places = np.lexsort(turned[::-1])
        groups = None
        if group is not None:
            places, groups = _grouped(places, group_keys[0], group.names)
        arranged = bugs[places]
        by_number = np.empty_like(places)  # the numbers were in order before
        by_number[places] = np.arange(len(places))
        return BugList(arranged, groups, by_number)

    def _without_witnesses(self, columns: list[Numbers]) -> list[Numbers]:
        """There are few: it takes long to ask about every bug whether it is one."""
        numbers = [number for (number,) in self._connection.execute(WITNESSES)]
        if not numbers:
            return columns
        keep = ~np.isin(columns[0], np.array(numbers))
        return [column[keep] for column in columns]

    def _scan(self, columns: Sequence[_Column]) -> list[Numbers]:
        where = self._conditions.all_of(self._query.terms)
        parts = [
            f"group_concat(replace(ifnull({column.sql}, ''), char(31), ' '), char(31))"
            if column.is_text
            else f"group_concat(ifnull({column.sql}, {NONE}))"
            for column in columns
        ]
        parameters = [value for column in columns for value in column.parameters]
        try:
            row = self._connection.execute(
                f"SELECT count(*), {', '.join(parts)} FROM {_TABLES} WHERE {where.sql}",
                (*parameters, *where.parameters),
            ).fetchone()
        except sqlite3.DataError as error:  # longer than any list can be
            raise DamagedRecordError("its list of bugs has no end") from error
        count, *texts = row
        found = []
        for column, text in zip(columns, texts, strict=True):
            if column.is_text:
                values: Any = (text or "").split(_SEPARATOR) if count else []
            else:
                values = _numbers(text or "")
            if len(values) != count:
                raise DamagedRecordError("a bug has an invalid value")
            found.append(values if column.convert is None else column.convert(values))
        return found

    def _column(self, name: str) -> _Column:
        if name in _NUMBERS:
            return _Column(_NUMBERS[name])
        if name in _UNIT_COLUMNS:
            return self._unit_column(name)
        if name in ("action", "schema", "pattern", "family"):
            return self._cause_column(name)
        if name == "oracle":
            return _ranked("f.oracle", {text: text for text in self._conditions.oracles})
        if name in ("status", "kind"):
            words = {"status": {status.value: status.value for status in BugStatus}}
            words["kind"] = {kind.value: text for kind, text in KIND_WORDS.items()}
            return _ranked(f"f.{name}", words[name])
        texts = {"worst": "l.worst_action", "note": "f.note"}
        return _Column(texts[name], _text_ranks, is_text=True)

    def _unit_column(self, name: str) -> _Column:
        rows = self._connection.execute(
            f"SELECT u.id, {_UNIT_COLUMNS[name]} FROM units u JOIN problems p ON p.id = u.problem "
            "JOIN policies y ON y.id = u.policy"
        ).fetchall()
        if name in ("seed", "campaign"):
            return _Column("f.unit", _lookup(dict(rows)))
        names = tuple(sorted({text for _, text in rows}))
        ranks = {text: rank for rank, text in enumerate(names)}
        return _Column("f.unit", _lookup({unit: ranks[text] for unit, text in rows}), names=names)

    def _cause_column(self, name: str) -> _Column:
        patterns = self._conditions.pattern_of_cause
        if name == "pattern":
            return _Column("l.root_cause", _lookup(patterns))
        if name == "family":
            families = self._conditions.families
            texts = {cause: families.get(pattern, "") for cause, pattern in patterns.items()}
        else:
            rows = self._connection.execute("SELECT id, action FROM root_causes").fetchall()
            texts = dict(rows)
            if name == "schema":
                texts = {cause: text.partition(" ")[0] for cause, text in rows}
        names = tuple(sorted(set(texts.values()) - {""}))
        ranks = {text: rank for rank, text in enumerate(names)} | {"": NONE}
        return _Column(
            "l.root_cause",
            _lookup({cause: ranks[text] for cause, text in texts.items()}),
            names=names,
        )


def _numbers(text: str) -> Numbers:
    """What `group_concat` has written; fewer numbers if there is anything else."""
    try:
        return np.fromstring(text, dtype=np.int64, sep=",") if text else np.empty(0, np.int64)
    except (ValueError, DeprecationWarning):
        return np.empty(0, np.int64)


def _ranked(column: str, texts: Mapping[str, str]) -> _Column:
    """By the texts that are shown for a few values."""
    names = tuple(sorted(set(texts.values())))
    cases = "".join(f" WHEN ? THEN {names.index(text)}" for text in texts.values())
    sql = f"CASE {column}{cases} END" if texts else "NULL"
    return _Column(sql, parameters=tuple(map(str, texts)), names=names)


def _lookup(numbers: Mapping[int, int]) -> Callable[[Numbers], Numbers]:
    """What belongs to units or root causes; NONE where nothing does."""
    keys = np.fromiter(sorted(numbers), np.int64, len(numbers))
    values = np.fromiter((numbers[int(key)] for key in keys), np.int64, len(numbers))

    def convert(found: Numbers) -> Numbers:
        if not len(keys):
            return np.full(len(found), NONE)
        near = np.minimum(np.searchsorted(keys, found), len(keys) - 1)
        return np.where(keys[near] == found, values[near], NONE)

    return convert


def _text_ranks(texts: Sequence[str]) -> Numbers:
    names = sorted(set(texts) - {""})
    ranks = {text: rank for rank, text in enumerate(names)} | {"": NONE}
    return np.fromiter(map(ranks.__getitem__, texts), np.int64, len(texts))


def _grouped(
    places: Numbers, keys: Numbers, names: tuple[str, ...] | None
) -> tuple[Numbers, Groups]:
    """The largest group first; what belongs to none comes last."""
    values, first, number, counts = np.unique(
        keys[places], return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((first, -counts, values == NONE))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    counts = counts[order]
    starts = np.concatenate(([0], np.cumsum(counts)[:-1])) if len(counts) else counts
    arranged = places[np.argsort(rank[number], kind="stable")]
    return arranged, Groups(starts, counts, values[order], names)


def overview(connection: sqlite3.Connection) -> BugOverview:
    """What a table has to know of all bugs."""
    total, plans, others, first, last, placed, noted = connection.execute(
        "SELECT count(*), max(f.evidence_kind = 'plan'), max(f.evidence_kind <> 'plan'), "
        "min(f.region), max(f.region), count(f.region), max(f.note <> '') "
        f"FROM findings f NOT INDEXED WHERE {LISTED}"
    ).fetchone()
    conditions = Conditions(connection)
    silent = set()
    if not (plans and others):
        silent.add("evidence")
    if placed in (0, total) and first == last:
        silent.add("region")
    if not noted:
        silent.add("note")
    said = {
        "worst": "l.worst_action <> ''",
        "loss": "l.worst_step IS NOT NULL AND ifnull(l.loss, 1) <> 0",
        "root": "l.root_cause IS NOT NULL",
    }
    for name, sql in said.items():
        if not _is_any(connection, sql):
            silent.add(name)
    has_patterns = bool(conditions.pattern_of_cause) and _is_any(
        connection,
        "l.root_cause IN (SELECT root_cause FROM witnesses WHERE step IS NULL "
        "AND pattern IS NOT NULL)",
    )
    if not has_patterns:
        silent.add("pattern")
    return BugOverview(total, frozenset(silent), has_patterns, _values(conditions))


def _is_any(connection: sqlite3.Connection, sql: str) -> bool:
    query = f"SELECT 1 FROM localizations l JOIN findings f ON f.id = l.finding WHERE {sql}"
    return connection.execute(f"{query} AND {LISTED} LIMIT 1").fetchone() is not None


def _values(conditions: Conditions) -> dict[str, list[str]]:
    units = "FROM units u JOIN problems p ON p.id = u.problem JOIN policies y ON y.id = u.policy"
    tested = f"{units} WHERE p.origin IS NULL"
    actions = conditions.texts("SELECT DISTINCT action FROM root_causes")
    return {
        "status": list(BugStatus),
        "kind": [KIND_WORDS[BugKind.FAILS], KIND_WORDS[BugKind.TOO_EXPENSIVE]],
        "problem": sorted(set(conditions.texts(f"SELECT DISTINCT p.name {tested}"))),
        "policy": sorted(set(conditions.texts(f"SELECT DISTINCT y.name {tested}"))),
        "oracle": conditions.oracles,
        "evidence": ["plan", "dominance"],
        "worst": sorted({text.partition(" ")[0] for text in conditions.worst_actions} - {""}),
        "action": sorted({text.partition(" ")[0] for text in actions} - {""}),
    }
