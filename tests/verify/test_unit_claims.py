"""What the table and the history of a bug say follows from its finding."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from engine.records.config import OracleSettings
from engine.records.finding import BugKind
from engine.verify.unit_claims import check_history, find_row_problem
from engine.workspace.rows import Bug
from engine.workspace.workspace import Workspace

TESTING = OracleSettings(("bmo", "lookahead:depth=2", "astar:expansions=2000"))


@pytest.fixture
def bugs(bug_workspace: Path) -> dict[str, Bug]:
    """A failure, and a run that is too expensive."""
    with Workspace.open(bug_workspace) as store:
        return {row.kind: store.bug(row.id) for row in store.bugs()}


def test_true_rows_hold(bugs: dict[str, Bug]) -> None:
    assert set(bugs) >= {BugKind.FAILS, BugKind.TOO_EXPENSIVE}
    for bug in bugs.values():
        assert find_row_problem(bug.row, bug.finding, TESTING) == ""


@pytest.mark.parametrize(
    ("kind", "change", "reason"),
    [
        (BugKind.FAILS, {"policy_cost": 5}, "costs None, not 5"),
        (BugKind.TOO_EXPENSIVE, {"policy_cost": 10**6}, "not 1000000"),
        (BugKind.TOO_EXPENSIVE, {"gap": 10**6}, "its gap does not follow"),
        (BugKind.FAILS, {"gap": 1}, "its gap does not follow"),
        (BugKind.FAILS, {"evidence_kind": "word"}, "not a word"),
        (BugKind.FAILS, {"found_by": "nobody"}, "found by nobody, which the campaign did not use"),
        (BugKind.FAILS, {"retrospective": True, "pool_number": None}, "not in the pool"),
    ],
)
def test_other_rows_do_not(
    kind: BugKind, change: dict[str, object], reason: str, bugs: dict[str, Bug]
) -> None:
    bug = bugs[kind]
    assert reason in find_row_problem(replace(bug.row, **change), bug.finding, TESTING)


def test_the_objective_says_what_a_bug_is(bugs: dict[str, Bug]) -> None:
    goal = structs.replace(TESTING, objective="goal")
    fails, costly = bugs[BugKind.FAILS], bugs[BugKind.TOO_EXPENSIVE]
    assert find_row_problem(fails.row, fails.finding, goal) == ""
    assert "the goal alone" in find_row_problem(costly.row, costly.finding, goal)


def test_a_history_leads_to_the_present_bound(bugs: dict[str, Bug]) -> None:
    bug = bugs[BugKind.TOO_EXPENSIVE]
    row, cost = bug.row, bug.row.policy_cost or 0
    end = row.bound, row.gap, row.seconds
    before = row.bound + 1, cost - row.bound - 1, row.seconds
    costly = replace(row, gap=cost - row.bound)
    if before[1] > 0:
        assert check_history([before, end], costly, bug.finding, is_whole=True).standing == "holds"
    assert check_history([end], costly, bug.finding, is_whole=True).standing == "holds"
    for history in (
        [],
        [before],
        [end, (row.bound - 1, row.gap, 9.0)],
        [(row.bound + 1, None, row.seconds), end],
        [(row.bound + 1, cost, row.seconds), end],
        [(*end[:2], row.seconds + 1)],
    ):
        assert check_history(history, costly, bug.finding, is_whole=True).standing == "false"


def test_a_run_that_was_stopped_first_had_a_smaller_gap(bugs: dict[str, Bug]) -> None:
    bug = bugs[BugKind.FAILS]
    row = bug.row
    end = row.bound, None, row.seconds
    stopped = row.bound + 1, 3, row.seconds
    assert check_history([stopped, end], row, bug.finding, is_whole=False).standing == "holds"
    assert check_history([stopped, end], row, bug.finding, is_whole=True).standing == "false"
