"""h* of all states against the plain-Python one."""

from __future__ import annotations

import pytest
from hypothesis import given
from reference import fdr
from reference.random_tasks import dials, tasks

from engine.errors import CancelledError, LimitReachedError
from engine.search.exhaustive import hstar_all
from engine.search.forward import Control, SearchLimits
from engine.task.task import Task


@given(tasks())
def test_reachable_states(task: Task) -> None:
    table, costs = hstar_all(task)
    states = [tuple(row) for row in table.values(range(len(table))).tolist()]
    assert sorted(states) == sorted(fdr.reachable_states(task))
    assert dict(zip(states, costs.tolist(), strict=True)) == fdr.optimal_costs(task, states)


@given(tasks())
def test_all_states(task: Task) -> None:
    table, costs = hstar_all(task, "product")
    states = fdr.all_states(task)
    assert [tuple(row) for row in table.values(range(len(table))).tolist()] == states
    assert dict(zip(states, costs.tolist(), strict=True)) == fdr.optimal_costs(task, states)


def test_another_goal() -> None:
    table, costs = hstar_all(dials(2, 6), goal=[(0, 1)])
    for (x, _), cost in zip(table.values(range(len(table))).tolist(), costs, strict=True):
        assert cost == min((1 - x) % 6, (x - 1) % 6)


def test_too_many_states() -> None:
    with pytest.raises(LimitReachedError, match="too many states"):
        hstar_all(dials(12, 8), limits=SearchLimits(expansions=1000))


def test_cancelled() -> None:
    control = Control()
    control.cancel()
    with pytest.raises(CancelledError):
        hstar_all(dials(3, 3), control=control)
