"""Finding a concrete plan below the policy's cost."""

from __future__ import annotations

import pytest
from reference.random_tasks import make_task

from engine.oracles.better_plan import better_plan
from engine.task.task import Operator
from engine.task.validate import validate_operators

# A long way round at cost 2 + 2 + 2, a short cut at 5, and a state without a way out.
TASK = make_task(
    (5,),
    (
        Operator("step 0", ((0, 0),), ((0, 1),), 2),
        Operator("step 1", ((0, 1),), ((0, 2),), 2),
        Operator("step 2", ((0, 2),), ((0, 3),), 2),
        Operator("cut", ((0, 0),), ((0, 3),), 5),
        Operator("fall", ((0, 0),), ((0, 4),), 0),
    ),
    (0,),
    ((0, 3),),
)


@pytest.mark.parametrize(("policy_cost", "expected"), [(None, 5), (7, 5), (6, 5), (5, None)])
def test_below_the_policys_cost_or_not_at_all(
    policy_cost: int | None, expected: int | None
) -> None:
    plan = better_plan(TASK, (0,), policy_cost)
    cost = None if plan is None else validate_operators(TASK, plan, (0,)).cost
    assert cost == expected


def test_no_plan_from_a_dead_end() -> None:
    assert better_plan(TASK, (4,), None) is None


def test_the_goal_needs_no_step() -> None:
    assert better_plan(TASK, (3,), 1) == ()


def test_lama_helps_where_astar_gives_up() -> None:
    plan = better_plan(TASK, (0,), 6, expansions=1, lama_seconds=20)
    assert plan is not None
    assert validate_operators(TASK, plan, (0,)).cost == 5
