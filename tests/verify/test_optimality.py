"""What oracles say about tested states: held against the bugs that are there, and against h*."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from reference.random_tasks import make_task

from engine.records.events import OracleVerdict
from engine.task.task import Operator
from engine.verify.cost_to_go import CostToGo
from engine.verify.optimality import check_answer
from engine.workspace.rows import AnswerRow, BugRow, PoolRow
from engine.workspace.workspace import Workspace

# From 0 a step of cost 2 leads to 1 and on to the goal 2; a jump costs 3. Nothing leads from 3.
OPERATORS = (
    Operator("step 0", ((0, 0),), ((0, 1),), 2),
    Operator("step 1", ((0, 1),), ((0, 2),), 2),
    Operator("jump", ((0, 0),), ((0, 2),), 3),
)
TASK = make_task((4,), OPERATORS, (0,), ((0, 2),))
OPTIMAL, BUG, NOT_REFUTED = OracleVerdict.OPTIMAL, OracleVerdict.BUG, OracleVerdict.NOT_REFUTED


@pytest.fixture
def costs() -> CostToGo:
    return CostToGo(TASK, 100)


def solved(value: int, cost: int) -> PoolRow:
    return PoolRow(0, (value,), -1, (), 0.0, "solved", "goal", cost, tested=True)


def failed(value: int) -> PoolRow:
    return PoolRow(0, (value,), -1, (), 0.0, "failed", "no-action", None, tested=True)


STOPPED = replace(solved(0, 2), outcome="aborted", reason="step-limit")


def said(verdict: str, bound: int | None = None) -> AnswerRow:
    return AnswerRow(0, "astar", verdict, bound, 0.0)


@pytest.mark.parametrize(
    ("answer", "row", "claim", "standing"),
    [
        (said(OPTIMAL), solved(0, 3), "optimal", "holds"),
        (said(OPTIMAL), solved(0, 4), "optimal", "false"),
        (said(OPTIMAL), failed(3), "optimal", "holds"),
        (said(OPTIMAL), failed(0), "optimal", "false"),
        (said(OPTIMAL), STOPPED, "optimal", "false"),
        (said(BUG, 3), solved(0, 4), "bugs", "false"),  # there is none
        (said(NOT_REFUTED, 3), solved(0, 3), "bounds", "holds"),
        (said(NOT_REFUTED, 2), solved(0, 3), "bounds", "false"),
        (said(NOT_REFUTED, 3), STOPPED, "bounds", "holds"),
        (said(NOT_REFUTED, 2), STOPPED, "bounds", "false"),
    ],
)
def test_answers(
    answer: AnswerRow, row: PoolRow, claim: str, standing: str, costs: CostToGo
) -> None:
    checked = check_answer(answer, row, None, costs)
    assert checked is not None
    assert (checked[0], checked[1].standing) == (claim, standing)


def test_what_was_not_refuted_claims_nothing(costs: CostToGo) -> None:
    assert check_answer(said(NOT_REFUTED), solved(0, 4), None, costs) is None


def test_within_no_states_nothing_is_decided() -> None:
    checked = check_answer(said(OPTIMAL), solved(0, 4), None, CostToGo(TASK, 0))
    assert checked is not None
    assert checked[1].standing == "undecided"


def test_a_bug_stands_behind_the_verdict(bug_workspace: Path, costs: CostToGo) -> None:
    with Workspace.open(bug_workspace) as store:
        bug: BugRow = replace(store.bugs()[0], bound=3, policy_cost=4, gap=1)
    for answer, standing in (
        (said(BUG, 3), "holds"),
        (said(BUG, 2), "false"),  # better than what is proven
        (said(BUG, 4), "false"),  # no bug
        (said(BUG), "false"),
        (said(OPTIMAL), "false"),
    ):
        checked = check_answer(answer, solved(0, 4), bug, costs)
        assert checked is not None
        assert checked[1].standing == standing
