"""Columns of all bugs in memory: they are those of the file, however they are read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from reference.forging import forge
from reference.listed_bugs import store_bugs

from engine.records.finding import BugKind, BugStatus
from engine.workspace import bug_columns
from engine.workspace.bug_list import BugQuery
from engine.workspace.filter import parse_terms
from engine.workspace.rows import BugRow
from engine.workspace.workspace import Workspace

BUG = BugRow(
    *(1, 1, 0, BugKind.TOO_EXPENSIVE, "p1", "ferry.pt", 4, 24, 17, 7, "bmo", "plan"),
    *(2, None, BugStatus.NEW, "", 1.5, 0, False),
)
BUGS = [
    replace(
        BUG,
        id=number,
        found_by=f"oracle{number % 7}",
        note="seen" if number % 5 == 0 else "",
        root_cause=number if number % 2 else None,
        worst_step=3 if number % 2 else None,
        worst_action=f"load c{number % 9}" if number % 2 else "",
        bad_action=f"sail c{number}" if number % 2 else "",
        gap=number,
    )
    for number in (*range(1, 40), *range(90, 70, -1), 1000)
]
QUERIES = [
    BugQuery(parse_terms(text), ((order, down),), group)
    for text in ("", "oracle:oracle3|oracle5", "worst:c4|c5", "note:any", "-gap>20", "id>30")
    for order, down in (("worst", False), ("oracle", True), ("gap", True), ("note", False))
    for group in ("", "oracle", "schema")
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Workspace]:
    path = tmp_path / "bugs.plumb"
    store_bugs(path, BUGS)
    with Workspace.open(path) as found:
        yield found


def listed(store: Workspace, text: str) -> list[int]:
    found: list[int] = store.bug_list(BugQuery(parse_terms(text))).bugs.tolist()
    assert [row.id for row in store.bugs(terms=parse_terms(text))] == found
    assert store.count_bugs(parse_terms(text)) == len(found)
    return found


def answers(path: Path) -> list[object]:
    with Workspace.open(path) as store:
        overview = store.bug_overview()
        lists = [store.bug_list(query) for query in QUERIES]
    return [
        (overview.total, overview.silent, overview.values),
        *((found.bugs.tolist(), found.groups and found.groups.counts.tolist()) for found in lists),
    ]


@pytest.mark.parametrize(("portion", "words", "samples"), [(1, 64, 256), (7, 2, 1), (100, 0, 3)])
def test_columns_can_be_read_in_any_portions(
    store: Workspace, monkeypatch: pytest.MonkeyPatch, portion: int, words: int, samples: int
) -> None:
    expected = answers(store.path)
    monkeypatch.setattr(bug_columns, "PORTION", portion)
    monkeypatch.setattr(bug_columns, "_MOST_WORDS", words)
    monkeypatch.setattr(bug_columns, "_SAMPLES", samples)
    assert answers(store.path) == expected
    assert len({str(answer) for answer in expected}) > len(QUERIES) // 3, "they differ"


def test_own_changes_are_seen_at_once(store: Workspace) -> None:
    """Even if the file keeps its time of change, as within one tick of the clock."""
    assert listed(store, "status:confirmed") == listed(store, "note:wrong") == []
    before = store.path.stat()
    store.set_status([5, 1000], BugStatus.CONFIRMED)
    os.utime(store.path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert listed(store, "status:confirmed") == [5, 1000]
    store.set_note([7], "wrong car")
    assert listed(store, "note:wrong") == [7]


def test_changes_of_others_are_seen_at_once(store: Workspace) -> None:
    """Even if the file keeps its size and its time of change."""
    assert listed(store, "gap:77") == [77]
    before = store.path.stat()
    forge(store.path, "UPDATE findings SET gap = 78 WHERE id = 77")
    os.utime(store.path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert store.path.stat().st_size == before.st_size
    assert listed(store, "gap:77") == []
    assert listed(store, "gap:78") == [77, 78]
    store_bugs(store.path, [replace(BUG, id=2000, gap=78)])
    assert listed(store, "gap:78") == [77, 78, 2000]
    forge(store.path, "DELETE FROM findings WHERE id = 78")
    assert listed(store, "gap:78") == [77, 2000]


def test_an_action_may_hold_what_separates_actions(store: Workspace) -> None:
    store_bugs(store.path, [replace(BUGS[0], worst_action="load\x1fsail a,b\n'\x00")])
    assert listed(store, 'worst:"sail a,b"') == [1]
    assert listed(store, "worst:c1") == [row.id for row in BUGS if "c1" in row.worst_action][1:]


def test_witnesses_are_in_no_list(store: Workspace) -> None:
    number = len(BUGS)
    assert len(listed(store, "")) == number
    forge(
        store.path,
        "INSERT INTO problems (id, name, path, problem_file, unit_costs, origin) "
        "VALUES (99, 'w', '', 'w', 0, 1)",
    )
    store_bugs(store.path, [replace(BUG, id=50, problem="w", root_cause=78, worst_step=1)])
    assert len(listed(store, "")) == number
    assert store.bug_overview().total == number
    assert 78 not in store.root_cause_numbers()


def test_what_was_read_ahead_is_not_read_again(store: Workspace) -> None:
    while store.read_ahead():
        pass
    asked: list[str] = []
    store._connection._sqlite.set_trace_callback(asked.append)
    for query in QUERIES:
        store.bug_list(query)
    assert asked
    assert not [statement for statement in asked if "group_concat" in statement]
    forge(store.path, "UPDATE findings SET gap = 78 WHERE id = 77")
    store.bug_list(QUERIES[-1])
    assert [statement for statement in asked if "group_concat" in statement]


def decide(store: Workspace, bug: int) -> None:
    """All that a user can change."""
    undo = store.set_status([bug], BugStatus.DUPLICATE, "wrong car", duplicate_of=1)
    store.set_note([7], "later")
    store.undo(undo)
    store.set_status([bug], BugStatus.DUPLICATE, "wrong car", duplicate_of=1)


DECIDED = ("status:duplicate", "note:wrong", "note:later", "original:1", "-status:new", "note:none")


def test_a_decision_in_the_window_leaves_its_other_thread_the_columns(store: Workspace) -> None:
    reading = store.for_another_thread()
    for bug in (5, 1000):
        while reading.read_ahead():
            pass
        for text in DECIDED:
            reading.count_bugs(parse_terms(text))  # reads what is not read ahead
        asked: list[str] = []
        reading._connection._sqlite.set_trace_callback(asked.append)
        decide(store, bug)
        for query in QUERIES:
            reading.bug_list(query)
        read = [statement for statement in asked if "group_concat" in statement]
        assert read
        assert not [statement for statement in read if "gap" in statement or "worst" in statement]
        for text in DECIDED:
            found = reading.bug_list(BugQuery(parse_terms(text))).bugs.tolist()
            assert found == listed(store, text)
        assert bug in listed(store, "original:1")
    reading.close()


def test_a_decision_between_two_portions_is_read(
    store: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bug_columns, "PORTION", 7)
    reading = store.for_another_thread()
    reading.read_ahead()
    store.set_status([1], BugStatus.CONFIRMED, "mine")
    while reading.read_ahead():
        pass
    for text in ("status:confirmed", "note:mine"):
        assert reading.bug_list(BugQuery(parse_terms(text))).bugs.tolist() == [1]
    reading.close()


@pytest.mark.parametrize("order", ["before", "between", "after"])
def test_what_others_change_around_a_decision_is_read(store: Workspace, order: str) -> None:
    def other() -> None:
        forge(store.path, "UPDATE findings SET gap = 500 WHERE id = 77")

    reading = store.for_another_thread()
    assert reading.count_bugs(parse_terms("gap:77")) == 1
    if order == "before":
        other()
    store.set_status([5], BugStatus.CONFIRMED)
    if order == "between":
        other()
    store.set_status([7], BugStatus.CONFIRMED)
    if order == "after":
        other()
    for text, expected in (("status:confirmed", [5, 7]), ("gap:500", [77]), ("gap:77", [])):
        assert reading.bug_list(BugQuery(parse_terms(text))).bugs.tolist() == expected
    reading.close()


def test_another_program_may_write_as_soon_as_a_decision_is_stored(store: Workspace) -> None:
    """It does not know our lock, so what the file is after a decision may be its work."""
    reading = store.for_another_thread()
    assert reading.count_bugs(parse_terms("gap:77")) == 1
    before = store._connection.version()
    store.set_note([5], "seen")
    forge(store.path, "UPDATE findings SET gap = 500 WHERE id = 77")
    store._decisions.add(before, store._connection.version())
    assert reading.count_bugs(parse_terms("gap:77")) == 0
    reading.close()


def test_a_backup_that_is_put_in_place_is_read(store: Workspace, tmp_path: Path) -> None:
    """Even one with the same count of changes."""
    backup = tmp_path / "backup.plumb"
    backup.write_bytes(store.path.read_bytes())
    reading = store.for_another_thread()
    forge(store.path, "UPDATE findings SET gap = 500 WHERE id = 77")
    assert reading.count_bugs(parse_terms("gap:500")) == 1
    store.set_note([5], "mine")
    forge(backup, "UPDATE findings SET gap = 600 WHERE id = 77")
    forge(backup, "UPDATE findings SET note = 'older' WHERE id = 9")
    store.path.write_bytes(backup.read_bytes())
    for text, expected in (("gap:500", 0), ("gap:600", 1), ("note:mine", 0), ("note:older", 1)):
        assert reading.count_bugs(parse_terms(text)) == expected
    reading.close()


def test_bugs_without_a_root_cause_have_no_action(store: Workspace) -> None:
    without = sorted(row.id for row in BUGS if row.root_cause is None)
    for name in ("action", "worst"):
        assert listed(store, f"{name}:none") == without
    assert len(listed(store, "family:none")) == len(BUGS)


def test_a_word_is_looked_for_only_where_it_can_be(store: Workspace) -> None:
    asked: list[str] = []
    store._connection._sqlite.set_trace_callback(asked.append)
    assert store.count_bugs(parse_terms("zzz")) == 0
    read = " ".join(statement for statement in asked if "group_concat" in statement)
    assert "oracle" in read
    left_out = ("status", "CASE kind", "pool_number", "worst_action", "root_cause")
    assert not [name for name in left_out if name in read]
    assert store.count_bugs(parse_terms("load")) == sum("load" in bug.worst_action for bug in BUGS)
    assert any("worst_action" in statement for statement in asked if "group_concat" in statement)
