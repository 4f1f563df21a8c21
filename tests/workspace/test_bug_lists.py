"""Lists of any bugs, by columns in memory, are those that single rows make in plain Python."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.amount import amount
from reference.bug_filter import fits
from reference.bug_order import SORTED, grouped, in_order
from reference.forging import forging
from reference.listed_bugs import store_bugs

from engine.records.finding import BugKind, BugStatus
from engine.workspace import bug_columns
from engine.workspace.bug_list import GROUPS, BugQuery
from engine.workspace.filter import COLUMNS, TEXTS, Term, parse_terms
from engine.workspace.rows import BugRow
from engine.workspace.workspace import Workspace

# What comes between values, means something in a filter, or has another length in lower case.
TEXT = st.sampled_from(["", "a", "A b", "a\x1fb", ",", "\n", "'", "ß", "İ", "x\x00y", "1", "none"])
COUNT = st.one_of(st.integers(0, 3), st.sampled_from([2**31 - 1, 2**31, 2**53, 2**62 - 1]))
NUMBER = st.one_of(st.integers(1, 20), st.sampled_from([2**31, 2**62 - 1]))
WITNESS = "witness"
"""The problem whose bugs belong to no list."""
BUGS = st.builds(
    BugRow,
    id=NUMBER,
    campaign=st.integers(1, 2),
    unit=st.none(),
    kind=st.sampled_from(BugKind),
    problem=st.one_of(TEXT, st.just(WITNESS)),
    policy=TEXT,
    seed=COUNT,
    policy_cost=st.none() | COUNT,
    bound=COUNT,
    gap=st.none() | COUNT,
    found_by=TEXT,
    evidence_kind=st.sampled_from(["plan", "dominance"]),
    region=st.none() | NUMBER,
    root_cause=st.none() | NUMBER,
    status=st.sampled_from(BugStatus),
    note=TEXT,
    seconds=st.sampled_from([0.0, 0.5, 1e-6, 3.25, 1e9]),
    pool_number=st.none() | COUNT,
    retrospective=st.booleans(),
    bad_action=TEXT,
    worst_step=st.none() | COUNT,
    worst_action=TEXT,
    loss=st.none() | COUNT,
    duplicate_of=st.none() | NUMBER,
    pattern=st.none() | NUMBER,
    family=TEXT,
)
VALUES = (
    "0",
    "3",
    "none",
    "any",
    "inf",
    "-1",
    "-2",
    "1..3",
    "..2",
    "2..",
    str(2**31),
    "0.5",
    "1|3",
)
WORDS = ("", "a", "b", "ß", "i", "none", "any", "new", "yes", "plan", "fail", "\x1f", "\x00", "zzz")


@st.composite
def conditions(draw: st.DrawFn) -> str:
    name = draw(st.sampled_from([*COLUMNS, ""]))
    minus = draw(st.sampled_from(["", "-"]))
    if name in TEXTS:
        return f'{minus}{name}:"{draw(st.sampled_from(WORDS))}"'
    if not name:
        return f'{minus}"{draw(st.sampled_from(WORDS))}"'
    sign = draw(st.sampled_from(["<", "<=", ">", ">=", "="]))
    value = draw(st.sampled_from(VALUES))
    is_single = value not in ("none", "any") and ".." not in value
    return f"{minus}{name}{sign if is_single else ':'}{value}"


QUERIES = st.tuples(
    st.lists(conditions(), max_size=2).map(lambda found: parse_terms(" ".join(found))),
    st.sampled_from(sorted(SORTED)),
    st.booleans(),
    st.sampled_from(["", *GROUPS]),
)
Query = tuple[tuple[Term, ...], str, bool, str]


@contextmanager
def stored(bugs: list[BugRow]) -> Iterator[Workspace]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "bugs.plumb"
        store_bugs(path, bugs)
        with forging(path) as connection:
            connection.execute("UPDATE problems SET origin = id WHERE name = ?", (WITNESS,))
        with Workspace.open(path) as store:
            yield store


@settings(max_examples=amount(300, 60))
@given(
    bugs=st.lists(BUGS, max_size=10, unique_by=lambda bug: bug.id),
    queries=st.lists(QUERIES, min_size=20, max_size=20),
    portion=st.sampled_from([1, 3, bug_columns.PORTION]),
    words=st.sampled_from([0, 1, 64]),
)
def test_lists_are_those_of_plain_python(
    bugs: list[BugRow], queries: list[Query], portion: int, words: int
) -> None:
    with stored(bugs) as store, pytest.MonkeyPatch.context() as changes:
        changes.setattr(bug_columns, "PORTION", portion)
        changes.setattr(bug_columns, "_MOST_WORDS", words)
        rows = [row for row in store.bug_rows([b.id for b in bugs]) if row.problem != WITNESS]
        for terms, name, down, group in queries:
            expected = in_order([row for row in rows if fits(row, terms)], name, down)
            found = store.bug_list(BugQuery(terms, ((name, down),), group))
            numbers = [row.id for row in expected]
            if group:
                groups = grouped(expected, group)
                numbers = [bug for members in groups.values() for bug in members]
                assert found.groups is not None
                keys = [found.groups.key(place) for place in range(len(found.groups.keys))]
                assert dict(zip(keys, found.groups.counts.tolist(), strict=True)) == {
                    key: len(members) for key, members in groups.items()
                }
            assert found.bugs.tolist() == numbers
            assert store.count_bugs(terms) == len(numbers)
            assert [row.id for row in store.bugs(terms=terms)] == sorted(numbers)
            causes = {row.root_cause for row in expected} - {None}
            assert set(store.root_cause_numbers(terms=terms)) == causes
