"""Which bugs a table shows, in which order and in which groups, as numbers and nothing else.

Columns of all bugs (`BugColumns`) say which bugs match and by what they are sorted and grouped.
Only visible rows are read, later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.errors import DamagedRecordError
from engine.records.finding import BugKind, BugStatus
from engine.workspace.bug_columns import INFINITE, UNKNOWN, BugColumns, Ids, Numbers, Words
from engine.workspace.conditions import NEEDED, Conditions
from engine.workspace.filter import KIND_WORDS, Term

NONE = np.iinfo(np.int64).max
"""What is unknown comes last in either direction."""
_LARGE = 2**62  # infinite costs, which come before it


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


GROUPS = ("pattern", "family", "root", "region", "schema", "problem", "kind", "oracle")


def list_bugs(columns: BugColumns, query: BugQuery) -> BugList:
    """Choose, sort and group."""
    names = [name for name, _ in query.order]
    names += [query.group_by] if query.group_by else []
    columns.need(part for name in names for part in NEEDED.get(name, ()))
    chosen = np.flatnonzero(Conditions(columns).all_of(query.terms))
    bugs = columns.ids[chosen]
    places = np.arange(len(bugs))
    if query.order:
        keys = []
        for name, down in query.order:
            key = _key(columns, name).of(chosen)
            keys.append(np.where(key == NONE, NONE, -key) if down else key)
        places = np.lexsort(keys[::-1])
    groups = None
    if query.group_by:
        group = _key(columns, query.group_by)
        places, groups = _grouped(places, group.of(chosen), group.names)
    by_number = np.empty_like(places)  # the numbers were in order before
    by_number[places] = np.arange(len(places))
    return BugList(bugs[places], groups, by_number)


@dataclass(frozen=True, slots=True)
class _Key:
    """What all bugs are sorted or grouped by."""

    numbers: Numbers
    names: tuple[str, ...] | None = None  # that the numbers stand for, if they do

    def of(self, chosen: Ids) -> Ids:
        """The numbers of some bugs, where what is unknown comes last."""
        key: Ids = self.numbers[chosen].astype(np.int64)
        key[key == UNKNOWN] = NONE
        key[key == INFINITE] = _LARGE
        return key


def _ranks(texts: Iterable[str]) -> tuple[tuple[str, ...], dict[str, int]]:
    """Texts in their order, and their places there; a text that is empty has none."""
    names = tuple(sorted(set(texts) - {""}))
    return names, {text: rank for rank, text in enumerate(names)} | {"": UNKNOWN}


def _ranked(texts: Mapping[int, str], spread: Callable[[Mapping[int, int]], Numbers]) -> _Key:
    """By the texts of units, root causes or the bugs themselves."""
    names, ranks = _ranks(texts.values())
    return _Key(spread({number: ranks[text] for number, text in texts.items()}), names)


def _by_text(words: Words) -> _Key:
    names, ranks = _ranks(words.texts)
    return _Key(np.array([ranks[text] for text in words.texts], dtype=np.int64)[words.codes], names)


def _key(columns: BugColumns, name: str) -> _Key:
    make = _KEYS.get(name)
    return _Key(columns.numbers(name)) if make is None else make(columns)


def _evidence(columns: BugColumns) -> _Key:
    evidence = columns.words("evidence")
    return _Key(np.array([text == "plan" for text in evidence.texts], np.int64)[evidence.codes])


def _loss(columns: BugColumns) -> _Key:
    losses = columns.numbers("loss")
    return _Key(np.where(losses == 0, UNKNOWN, losses))  # of no loss the table shows nothing


def _kind(columns: BugColumns) -> _Key:
    words = columns.words("kind")
    return _by_text(Words(words.codes, tuple(KIND_WORDS[BugKind(text)] for text in words.texts)))


def _schema(columns: BugColumns) -> _Key:
    actions = columns.bad_actions.items()
    schemas = {cause: action.partition(" ")[0] for cause, action in actions}
    return _ranked(schemas, columns.of_cause)


def _of_unit(columns: BugColumns, column: str, table: str) -> _Key:
    names, numbers = columns.names(table), columns.units(column)
    if not names.keys() >= set(numbers.values()):
        raise DamagedRecordError(f"a unit has no {column}")
    units = {unit: names[number] for unit, number in numbers.items()}
    return _ranked(units, columns.of_unit)


_KEYS: dict[str, Callable[[BugColumns], _Key]] = {
    "id": lambda columns: _Key(columns.ids),
    "picture": lambda columns: _Key(np.full(len(columns.ids), UNKNOWN)),
    "evidence": _evidence,
    "loss": _loss,
    "time": lambda columns: _Key(np.clip(columns.numbers("time"), 0, 2**40) * 1_000_000),
    "seed": lambda columns: _Key(columns.of_unit(columns.units("seed"))),
    "campaign": lambda columns: _Key(columns.of_unit(columns.units("campaign"))),
    "problem": lambda columns: _of_unit(columns, "problem", "problems"),
    "policy": lambda columns: _of_unit(columns, "policy", "policies"),
    "pattern": lambda columns: _Key(columns.of_cause(columns.pattern_of_cause)),
    "family": lambda columns: _ranked(columns.family_of_cause, columns.of_cause),
    "action": lambda columns: _ranked(columns.bad_actions, columns.of_cause),
    "schema": _schema,
    "note": lambda columns: _ranked(columns.notes, columns.of_bug),
    "kind": _kind,
    "status": lambda columns: _by_text(columns.words("status")),
    "oracle": lambda columns: _by_text(columns.words("oracle")),
    "worst": lambda columns: _by_text(columns.words("worst")),
}
"""Others are sorted by the numbers that are stored."""


def _grouped(places: Ids, keys: Ids, names: tuple[str, ...] | None) -> tuple[Ids, Groups]:
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


def overview(columns: BugColumns) -> BugOverview:
    """What a table has to know of all bugs."""
    columns.need(("evidence", "region", "noted", "oracle"))
    listed = columns.listed
    total = int(np.count_nonzero(listed))
    seen = slice(None) if total == len(listed) else listed
    evidence, regions = columns.words("evidence"), columns.numbers("region")[seen]
    counts = np.bincount(evidence.codes[seen], minlength=len(evidence.texts))
    proofs = {text == "plan" for text, count in zip(evidence.texts, counts, strict=True) if count}
    silent = {name for name, sql in _SAID.items() if not columns.is_any_localization(sql)}
    if len(proofs) < 2:
        silent.add("evidence")
    if not np.any(regions != regions[:1]):
        silent.add("region")
    if not np.any(columns.numbers("noted")[seen]):
        silent.add("note")
    return BugOverview(total, frozenset(silent), "pattern" not in silent, _values(columns))


_SAID = {
    "worst": "worst_action <> ''",
    "loss": "worst_step IS NOT NULL AND ifnull(loss, 1) <> 0",
    "root": "root_cause IS NOT NULL",
    "pattern": "root_cause IN "
    "(SELECT root_cause FROM witnesses WHERE step IS NULL AND pattern IS NOT NULL)",
}
"""When a localization has something to show in a column."""


def _values(columns: BugColumns) -> dict[str, list[str]]:
    return {
        "status": list(BugStatus),
        "kind": [KIND_WORDS[BugKind.FAILS], KIND_WORDS[BugKind.TOO_EXPENSIVE]],
        "problem": columns.tested("problem"),
        "policy": columns.tested("policy"),
        "oracle": sorted(columns.words("oracle").texts),
        "evidence": ["plan", "dominance"],
        "worst": _schemas(columns.worst_actions),
        "action": _schemas(columns.bad_actions.values()),
    }


def _schemas(actions: Iterable[str]) -> list[str]:
    return sorted({text.partition(" ")[0] for text in set(actions)} - {""})
