"""Regions and totals follow from rows; a unit that was interrupted may have more rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs
from reference.random_tasks import make_task

from engine.records.events import OracleStatistics, UnitStatistics
from engine.records.verification import HOLDS
from engine.task.task import Operator
from engine.verify.statistics import UnitRows, check_regions, check_statistics
from engine.workspace.rows import BugRow
from engine.workspace.workspace import Workspace

STEPS = tuple(Operator(f"step {n}", ((0, n),), ((0, n + 1),), 1) for n in (0, 1, 3))
TASK = make_task((5,), STEPS, (0,), ((0, 4),))


@pytest.fixture
def rows(bug_workspace: Path) -> UnitRows:
    """All about a unit of a real campaign."""
    with Workspace.open(bug_workspace) as store:
        unit = store.unit(1)
        return UnitRows(
            unit,
            store.campaign(unit.campaign).config,
            store.pool(1),
            store.answers(1, 0, 10**6),
            store.flags(1),
            [row for row in store.bugs() if row.unit == 1],
            0,
            None,
            was_interrupted=False,
        )


def counted(rows: UnitRows, **changes: object) -> UnitRows:
    statistics: UnitStatistics = structs.replace(rows.unit.statistics, **changes)
    return replace(rows, unit=replace(rows.unit, statistics=statistics))


def test_totals_are_those_of_the_rows(rows: UnitRows) -> None:
    assert check_statistics(rows) == HOLDS
    more = counted(rows, bugs=len(rows.bugs) + 1)
    assert check_statistics(more).standing == "false"
    fewer = counted(rows, bugs=len(rows.bugs) - 1)
    assert check_statistics(fewer).standing == "false"


def test_an_interrupted_unit_may_have_found_more(rows: UnitRows) -> None:
    fewer = replace(counted(rows, bugs=len(rows.bugs) - 1), was_interrupted=True)
    assert check_statistics(fewer).standing == "undecided"
    more = replace(counted(rows, bugs=len(rows.bugs) + 1), was_interrupted=True)
    assert check_statistics(more).standing == "false"


def test_a_unit_that_is_at_work_has_the_totals_of_a_moment_before(rows: UnitRows) -> None:
    before = counted(rows, bugs=0, states=1, oracles=(OracleStatistics("bmo", examined=1),))
    running = replace(before, unit=replace(before.unit, status="running"))
    assert check_statistics(running) == HOLDS
    assert check_statistics(before).standing == "false"


def test_answers_are_about_tested_states_by_oracles_of_the_campaign(rows: UnitRows) -> None:
    first, *others = rows.answers
    for changed in (
        [*others],
        [replace(first, oracle="another"), *others],
        [replace(first, number=10**6), *others],
    ):
        assert check_statistics(replace(rows, answers=changed)).standing == "false"


def bug(number: int, region: int | None, rows: UnitRows) -> BugRow:
    return replace(rows.bugs[0], id=number, region=region)


@pytest.mark.parametrize(
    ("regions", "standing"),
    [
        ((1, 1, 1, 4), "holds"),
        ((2, 2, 2, 4), "holds"),
        ((1, 1, 3, 4), "false"),  # 3 is a neighbor of 2
        ((1, 1, 1, 1), "false"),  # nothing leads from the others to 4
        ((1, 1, 1, 9), "false"),  # no such bug
        ((1, 1, 1, None), "false"),
    ],
)
def test_regions_are_connected(
    regions: tuple[int | None, ...], standing: str, rows: UnitRows
) -> None:
    """Bugs 1, 2 and 3 are in a row, bug 4 is elsewhere."""
    bugs = [(bug(number, region, rows), (number - 1,)) for number, region in enumerate(regions, 1)]
    assert check_regions(bugs, TASK, is_final=True).standing == standing


def test_regions_grow_while_a_unit_works(rows: UnitRows) -> None:
    regions = (1, 1, 3, None)
    bugs = [(bug(number, region, rows), (number - 1,)) for number, region in enumerate(regions, 1)]
    assert check_regions(bugs, TASK, is_final=False) == HOLDS
    apart = [(bug(1, 1, rows), (0,)), (bug(2, 1, rows), (3,))]
    assert check_regions(apart, TASK, is_final=False).standing == "false"
