"""Pool states are where their walks lead, and other bugs where something leads."""

from __future__ import annotations

from dataclasses import replace

import pytest
from reference.random_tasks import make_task

from engine.records.evidence import Evidence, Morph, Walk
from engine.records.verification import HOLDS, Standing
from engine.task.task import Operator
from engine.verify.cost_to_go import CostToGo
from engine.verify.reachability import Reached, check_bug_state, check_complete, check_pool
from engine.workspace.rows import PoolRow

# One variable 0..4: "step" adds 1, nothing leads to 4.
STEPS = tuple(Operator(f"step {n}", ((0, n),), ((0, n + 1),), 1) for n in range(3))
TASK = make_task((5,), STEPS, (0,), ((0, 3),))


def row(number: int, value: int, reference: int = -1, walk: tuple[int, ...] = ()) -> PoolRow:
    return PoolRow(number, (value,), reference, walk, 0.0, None, None, None, tested=False)


POOL = (row(0, 0), row(1, 2, 0, (0, 1)), row(2, 1, 0, (0,)))


def test_true_walks_hold() -> None:
    assert check_pool(POOL, TASK, 5, None) == [HOLDS] * 3


@pytest.mark.parametrize(
    ("number", "change", "reason"),
    [
        (0, {"state": (1,)}, "the first state of the pool is not the initial state"),
        (1, {"state": (3,)}, "leads to another state"),
        (1, {"state": (9,)}, "variable 0 has no value 9"),
        (1, {"state": (2, 0)}, "a state of 2 values"),
        (1, {"walk": (1,)}, "(step 1) needs"),
        (1, {"walk": (7,)}, "unknown operator 7"),
        (1, {"walk": ()}, "walks have 1 to 5"),
        (1, {"walk": (0,) * 6}, "walks have 1 to 5"),
        (1, {"reference": 2}, "which comes after it"),
        (1, {"reference": -1}, "which comes after it"),
        (2, {"number": 3}, "state 2 of the pool is missing"),
        (2, {"state": (2,), "walk": (0, 1)}, "the pool has this state twice"),
    ],
)
def test_other_walks_are_false(number: int, change: dict[str, object], reason: str) -> None:
    pool = [replace(item, **change) if item.number == number else item for item in POOL]
    verdicts = check_pool(pool, TASK, 5, None)
    assert verdicts[number].standing is Standing.FALSE
    assert reason in verdicts[number].reason


def test_a_complete_pool_lacks_only_goals_and_dead_ends() -> None:
    costs = CostToGo(TASK)
    assert check_complete([(0,), (1,), (2,)], TASK, costs) == HOLDS
    for missing in ([(0,), (2,)], [(1,), (2,)], [(0,), (1,), (9,)], []):
        assert check_complete(missing, TASK, costs).standing is Standing.FALSE
    trap = Operator("fall", ((0, 0),), ((0, 4),), 1)
    task = make_task((5,), (*STEPS, trap), (0,), ((0, 3),))
    assert check_complete([(0,), (1,), (2,)], task, CostToGo(task)) == HOLDS
    assert check_complete([(0,)], task, CostToGo(task, 0)).standing is Standing.UNDECIDED


def test_an_imported_pool_is_that_of_its_file() -> None:
    pool = [row(0, 4), row(1, 0)]
    assert check_pool(pool, TASK, 5, [(4,), (0,)]) == [HOLDS, HOLDS]
    wrong = check_pool([*pool, row(2, 1, 0, (0,)), row(3, 3)], TASK, 5, [(4,), (1,), (1,)])
    assert [verdict.standing for verdict in wrong] == ["holds", "false", "false", "false"]


def test_what_leads_to_a_state() -> None:
    reached = Reached(TASK, ())
    reached.add_walk((0,), (0,))
    assert (1,) in reached
    reached.add_walk((4,), ())
    assert (4,) not in reached
    reached.add_evidence(Evidence((1,), (Walk((1,), "x"), Morph((4,), 0, "y")), 1))
    assert (2,) in reached
    assert (4,) not in reached


def test_a_bug_outside_the_pool_has_to_be_reachable() -> None:
    explored, blind = CostToGo(TASK), CostToGo(TASK, 0)
    explored.explore([TASK.init])
    blind.explore([TASK.init])
    nothing = Reached(TASK, ())
    assert check_bug_state((3,), nothing, explored, has_morphs=False) == HOLDS
    assert check_bug_state((4,), nothing, explored, has_morphs=False).standing == "false"
    assert check_bug_state((4,), nothing, explored, has_morphs=True).standing == "undecided"
    assert check_bug_state((3,), nothing, blind, has_morphs=False).standing == "undecided"
    assert check_bug_state((3,), Reached(TASK, [(3,)]), blind, has_morphs=False) == HOLDS
