"""The columns of all bugs as arrays of numbers, for filters, orders and groups.

numpy compares a million numbers in milliseconds, but to read them from SQLite takes longer. So a
column is read when it is first needed and kept until the file changes (`BugReader`); decisions of
the user change few of them. SQLite writes the numbers of a column as one text: this takes a tenth
of a second for a million and releases Python's lock; a million rows would take several seconds.

Costs, gaps, losses and numbers of rows are never negative; UNKNOWN and INFINITE stand for others.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from engine.errors import DamagedRecordError
from engine.records.finding import BugKind, BugStatus

Numbers: TypeAlias = npt.NDArray[Any]
"""Integers, or floats for times."""
Ids: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]
"""Whether something is true of each bug."""
UNKNOWN, INFINITE = -1, -2
PORTION = 2**17
"""Rows whose columns are read at once: taking a text apart holds Python's lock."""
_SAMPLES = 256
"""Rows that are looked at for the words of a column."""
_SEPARATOR = "\x1f"
_OTHER = -1
"""The code of a word that is not known yet."""
_MOST_WORDS = 64
"""Words that are known before: the texts of others are asked for."""

WITNESSES = (
    "SELECT id FROM findings WHERE unit IN (SELECT u.id FROM units u "
    "JOIN problems p ON p.id = u.problem WHERE p.origin IS NOT NULL)"
)
"""Findings that belong to no list."""


@dataclass(frozen=True, slots=True)
class Words:
    """A column of texts: for each bug the place of its text among those that occur."""

    codes: Numbers
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Source:
    """What SQLite writes for a column, and what it is made of."""

    sql: str
    is_real: bool = False
    is_text: bool = False
    words: tuple[str, ...] | None = None  # that it may hold; empty: look which


_FINDINGS = {
    "unit": _Source("unit"),
    "cost": _Source(f"ifnull(policy_cost, {INFINITE})"),
    "bound": _Source("bound"),
    "gap": _Source(f"ifnull(gap, {INFINITE})"),
    "region": _Source(f"ifnull(region, {UNKNOWN})"),
    "pool": _Source("pool_number IS NOT NULL"),
    "noted": _Source("note <> ''"),
    "time": _Source("seconds", is_real=True),
    "status": _Source("status", words=tuple(BugStatus)),
    "kind": _Source("kind", words=tuple(BugKind)),
    "oracle": _Source("oracle", words=()),
    "evidence": _Source("evidence_kind", words=()),
}
_LOCALIZATIONS = {
    "root": _Source(f"ifnull(root_cause, {UNKNOWN})"),
    "loss": _Source(
        f"CASE WHEN worst_step IS NULL THEN {UNKNOWN} ELSE ifnull(loss, {INFINITE}) END"
    ),
    "worst": _Source("worst_action", is_text=True),
}
_TABLES = (("findings", "id", _FINDINGS), ("localizations", "finding", _LOCALIZATIONS))
_DECIDED = ("status", "noted", "notes", "originals")
"""What `triage.py` changes."""


class BugColumns:
    """Reads columns in a turn to read the workspace, as long as the file does not change."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._numbers: dict[str, Numbers] = {}
        self._words: dict[str, Words] = {}
        self._ahead: Iterator[None] | None = None

    @cached_property
    def ids(self) -> Ids:
        """All findings, also witnesses, in the order of their numbers."""
        count, first, last = self._connection.execute(
            "SELECT (SELECT count(*) FROM findings), (SELECT min(id) FROM findings), "
            "(SELECT max(id) FROM findings)"
        ).fetchone()
        ids: Ids = np.arange(count) + (first or 0)
        if count and last - first + 1 != count:
            query = "SELECT group_concat(id) FROM findings NOT INDEXED"
            ids = _parsed(self._connection.execute(query).fetchone()[0], np.int64)
            if len(ids) != count or np.any(np.diff(ids) <= 0):
                raise DamagedRecordError("its list of bugs is out of order")
        return ids

    @cached_property
    def listed(self) -> Mask:
        """Which of them belong to lists."""
        witnesses = [number for (number,) in self._connection.execute(WITNESSES)]
        listed = np.ones(len(self.ids), dtype=np.bool_)
        if witnesses:  # there are few
            listed[np.isin(self.ids, np.array(witnesses))] = False
        return listed

    def need(self, names: Iterable[str]) -> None:
        """Read columns that will be needed, all at once."""
        for _ in self._reading(set(names)):
            pass

    def read_ahead(self) -> bool:
        """Read a portion of all that was not needed yet; whether there is more."""
        if self._ahead is None:
            self._ahead = self._reading({*_FINDINGS, *_LOCALIZATIONS})
        return next(self._ahead, self) is None

    def forget_decisions(self) -> None:
        """Read again what the user has decided; all else is as it was."""
        for name in _DECIDED:
            for known in (self._numbers, self._words, self.__dict__):
                known.pop(name, None)
        self._ahead = None  # some of it is from before

    def numbers(self, name: str) -> Numbers:
        self.need([name])
        return self._numbers[name]

    def words(self, name: str) -> Words:
        self.need([name])
        return self._words[name]

    def true_of(self, bugs: Sequence[int], mask: Mask) -> list[bool]:
        """Whether something is true of some bugs; nothing is of those that do not exist."""
        found = _spread(mask, self.ids, np.array(bugs, dtype=np.int64), False)
        return [bool(is_true) for is_true in found]

    def is_any_localization(self, condition: str) -> bool:
        """Whether there is one of this kind, of a bug that belongs to lists."""
        query = f"SELECT 1 FROM localizations WHERE {condition} AND finding NOT IN ({WITNESSES})"
        return self._connection.execute(f"{query} LIMIT 1").fetchone() is not None

    @cached_property
    def worst_actions(self) -> list[str]:
        """All that occur."""
        query = "SELECT DISTINCT worst_action FROM localizations"
        return [action for (action,) in self._connection.execute(query)]

    @cached_property
    def notes(self) -> dict[int, str]:
        """The notes of bugs that have one, by number."""
        rows: dict[int, str] = {}
        noted = self.ids[self.numbers("noted") == 1].tolist()
        for first in range(0, len(noted), PORTION):
            wanted = json.dumps(noted[first : first + PORTION])
            query = "SELECT id, note FROM findings WHERE id IN (SELECT value FROM json_each(?))"
            rows.update(self._connection.execute(query, (wanted,)).fetchall())
        return rows

    def units(self, column: str) -> dict[int, int]:
        """What units have in a column of their table."""
        return self._pairs(f"SELECT id, {column} FROM units")

    def of_unit(self, values: Mapping[int, int]) -> Numbers:
        """What belongs to the unit of each bug."""
        return looked_up(values, self.numbers("unit"))

    def of_campaign(self, campaign: int) -> Mask:
        """Which bugs a campaign has found."""
        units = [unit for unit, found in self.units("campaign").items() if found == campaign]
        return np.isin(self.numbers("unit"), units)

    def of_cause(self, values: Mapping[int, int]) -> Numbers:
        """What belongs to the root cause of each bug; UNKNOWN where nothing does."""
        return looked_up(values, self.numbers("root"))

    def of_bug(self, values: Mapping[int, int]) -> Numbers:
        """What belongs to the bugs themselves."""
        return looked_up(values, self.ids)

    @cached_property
    def originals(self) -> Numbers:
        """The bugs that duplicates repeat."""
        return self.of_bug(self._pairs("SELECT finding, original FROM duplicates"))

    def names(self, table: str) -> dict[int, str]:
        """The names of problems or policies."""
        return self._pairs(f"SELECT id, name FROM {table}")

    def tested(self, name: str) -> list[str]:
        """The names of the problems or policies that campaigns have tested."""
        rows = self._connection.execute(
            f"SELECT DISTINCT {name[0]}.name FROM units u JOIN problems p ON p.id = u.problem "
            "JOIN policies y ON y.id = u.policy WHERE p.origin IS NULL"
        )
        return sorted(text for (text,) in rows)

    @cached_property
    def bad_actions(self) -> dict[int, str]:
        """The actions of root causes."""
        return self._pairs("SELECT id, action FROM root_causes")

    @cached_property
    def pattern_of_cause(self) -> dict[int, int]:
        """The patterns of root causes that were minimized."""
        return self._pairs(
            "SELECT root_cause, pattern FROM witnesses WHERE root_cause IS NOT NULL "
            "AND step IS NULL AND pattern IS NOT NULL ORDER BY same DESC, id DESC"
        )

    @cached_property
    def family_of_cause(self) -> dict[int, str]:
        """The families of these patterns."""
        families = self._pairs("SELECT id, family FROM patterns")
        return {
            cause: families.get(pattern, "") for cause, pattern in self.pattern_of_cause.items()
        }

    def _pairs(self, query: str) -> dict[int, Any]:
        return dict(self._connection.execute(query).fetchall())

    def _reading(self, names: set[str]) -> Iterator[None]:
        """Read columns that are not known, portion by portion."""
        for table, key, sources in _TABLES:
            known = self._numbers.keys() | self._words.keys()
            wanted = {name: sources[name] for name in sources if name in names - known}
            if wanted:
                yield from self._read_table(table, key, wanted)

    def _read_table(self, table: str, key: str, wanted: Mapping[str, _Source]) -> Iterator[None]:
        """Read columns of a table that has at most one row for a bug."""
        columns = {name: self._column(source, table, key) for name, source in wanted.items()}
        selected = ", ".join(column.sql for column in columns.values())
        parameters = [value for column in columns.values() for value in column.parameters]
        has_all = table == "findings"
        found = "NULL" if has_all else f"group_concat({key})"
        query = f"SELECT {found}, {selected} FROM {table} NOT INDEXED WHERE {key} BETWEEN ? AND ?"
        parts = []
        for first in range(0, len(self.ids), PORTION):
            portion = self.ids[first : first + PORTION]
            limits = (int(portion[0]), int(portion[-1]))
            try:
                numbers, *texts = self._connection.execute(query, (*parameters, *limits)).fetchone()
            except sqlite3.DataError as error:  # longer than any text can be
                raise DamagedRecordError("its list of bugs has no end") from error
            keys = portion if has_all else _parsed(numbers, np.int64)
            parts.append(keys)
            for column, text in zip(columns.values(), texts, strict=True):
                column.take(text, keys)
            yield
        keys = np.concatenate(parts) if parts else self.ids
        for name, column in columns.items():
            words = column.texts()
            whole = _spread(column.whole(), keys, self.ids, UNKNOWN if words is None else 0)
            if words is None:
                self._numbers[name] = whole
            else:
                self._words[name] = Words(whole, words)

    def _column(self, source: _Source, table: str, key: str) -> _Column:
        ask = self._texts_of(source.sql, table, key)
        if source.is_text:
            return _TextColumn(source.sql, ask)
        if source.words is None:
            return _Column(f"group_concat({source.sql})", source.is_real)
        words = source.words or self._sampled(source.sql)
        return _WordColumn(source.sql, words, ask)

    def _sampled(self, column: str) -> tuple[str, ...]:
        """The words that some bugs have."""
        rows = json.dumps(self.ids[:: max(1, len(self.ids) // _SAMPLES)].tolist())
        query = f"SELECT DISTINCT {column} FROM findings WHERE id IN "
        found = self._connection.execute(f"{query} (SELECT value FROM json_each(?))", (rows,))
        return tuple(word for (word,) in found)

    def _texts_of(self, column: str, table: str, key: str) -> Callable[[Ids], list[str]]:
        def ask(keys: Ids) -> list[str]:
            query = f"SELECT {column} FROM {table} WHERE {key} IN (SELECT value FROM json_each(?))"
            rows = self._connection.execute(f"{query} ORDER BY {key}", (json.dumps(keys.tolist()),))
            return [text for (text,) in rows]

        return ask


class _Column:
    """A column while it is being read."""

    def __init__(self, sql: str, is_real: bool = False, parameters: tuple[str, ...] = ()) -> None:
        self.sql, self.parameters = sql, parameters
        self._kind = np.float64 if is_real else np.int64
        self._parts: list[Numbers] = []

    def take(self, text: str | None, keys: Ids) -> None:
        """Take what SQLite says of some rows."""
        self._append(_parsed(text, self._kind), keys)

    def _append(self, values: Numbers, keys: Ids) -> None:
        if len(values) != len(keys):
            raise DamagedRecordError("a bug has an invalid value")
        self._parts.append(values)

    def whole(self) -> Numbers:
        """All numbers, in half the memory if they are small."""
        found = np.concatenate(self._parts) if self._parts else np.empty(0, self._kind)
        if found.dtype == np.int64 and not np.any(found != found.astype(np.int32)):
            return found.astype(np.int32)
        return found

    def texts(self) -> tuple[str, ...] | None:
        """The texts that the numbers stand for, if they do."""
        return None


class _WordColumn(_Column):
    """A column with few texts, most of which are known before: each is written as a character."""

    def __init__(self, column: str, words: Sequence[str], ask: Callable[[Ids], list[str]]) -> None:
        words = words[:_MOST_WORDS]
        cases = "".join(f" WHEN ? THEN '{_character(place)}'" for place in range(len(words)))
        other = f"'{_character(_OTHER)}'"
        sql = f"CASE {column}{cases} ELSE {other} END" if words else other
        super().__init__(f"group_concat({sql}, '')", parameters=tuple(map(str, words)))
        self._places = {str(word): place for place, word in enumerate(words)}
        self._ask = ask

    def take(self, text: str | None, keys: Ids) -> None:
        codes = np.frombuffer((text or "").encode("ascii"), np.uint8)
        values = codes.astype(np.int64) - ord(_character(0))
        others = np.flatnonzero(values == _OTHER)
        if len(others):
            values[others] = [self._place(text) for text in self._ask(keys[others])]
        self._append(values, keys)

    def _place(self, text: str) -> int:
        return self._places.setdefault(text, len(self._places))

    def texts(self) -> tuple[str, ...]:
        return tuple(self._places)


def _character(place: int) -> str:
    return chr(ord("1") + place)


class _Places(dict[str, int]):
    """The places of texts in the order in which they are asked for."""

    def __missing__(self, text: str) -> int:
        self[text] = place = len(self)
        return place


class _TextColumn(_Column):
    """A column with any number of texts."""

    def __init__(self, column: str, ask: Callable[[Ids], list[str]]) -> None:
        super().__init__(f"group_concat({column}, char({ord(_SEPARATOR)}))")
        self._places = _Places({"": 0})  # where there is no row
        self._ask = ask

    def take(self, text: str | None, keys: Ids) -> None:
        texts = (text or "").split(_SEPARATOR)
        if len(texts) != len(keys):  # one of them contains the separator
            texts = self._ask(keys)
        places = map(self._places.__getitem__, texts)
        self._append(np.fromiter(places, np.int64, len(texts)), keys)

    def texts(self) -> tuple[str, ...]:
        return tuple(self._places)


def looked_up(values: Mapping[int, int], wanted: Numbers) -> Numbers:
    """What belongs to numbers; UNKNOWN where nothing does."""
    keys = np.fromiter(sorted(values), np.int64, len(values))
    found = np.fromiter((values[int(key)] for key in keys), np.int64, len(values))
    return _spread(found, keys, wanted, UNKNOWN)


def counted(values: Numbers, *, largest_first: bool) -> list[int]:
    """Each value once, in their order or the most frequent first."""
    found, counts = np.unique(values, return_counts=True)
    if largest_first:
        found = found[np.argsort(-counts, kind="stable")]
    return [int(value) for value in found]


def _spread(values: Numbers, keys: Ids, wanted: Numbers, otherwise: int) -> Numbers:
    """What belongs to those that are wanted; the keys are in order."""
    if np.array_equal(keys, wanted):
        return values
    if not len(keys):
        return np.full(len(wanted), otherwise)
    near = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[near] == wanted, values[near], otherwise)


def _parsed(text: str | None, kind: npt.DTypeLike) -> Numbers:
    """What `group_concat` has written; fewer numbers if there is anything else."""
    try:
        return np.fromstring(text, dtype=kind, sep=",") if text else np.empty(0, kind)
    except (ValueError, DeprecationWarning):
        return np.empty(0, kind)
