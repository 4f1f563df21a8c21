"""No oracle may say anything false, whatever the task and the policy (ALGORITHMS 16 and 19)."""

from random import Random

import pytest
from reference import fdr
from reference.soundness import Truth, check, optimal_policy, policies, random_task

ORACLES = [
    "astar",
    "gbfs",
    "gbfs:expansions=2",
    "ehc",
    "aras",
    "aras:expansions=3",
    "aras-ehc",
    "lookahead:depth=1",
    "lookahead",
    "lookahead:depth=3",
    "undo",
    "inverse",
]
TASKS = 10


def truths(seed: int, count: int) -> list[Truth]:
    random = Random(seed)
    return [Truth.of(random_task(random)) for _ in range(count)]


@pytest.mark.parametrize("oracle", ORACLES)
def test_everything_an_oracle_says_is_true(oracle: str) -> None:
    random = Random(oracle)
    flagged = 0
    for number, truth in enumerate(truths(1, TASKS)):
        for name, policy in policies(truth, random):
            step_limit = 2 if number % 4 == 3 else None
            checked = check(truth, policy, oracle, step_limit=step_limit, seed=number)
            assert not checked.violations, (number, name, step_limit, checked.violations)
            flagged += len(checked.flagged)
    assert flagged >= 5  # the check is worth something only if the oracle finds bugs


@pytest.mark.parametrize("oracle", ["astar", "ehc", "aras-ehc", "lookahead", "undo"])
def test_goal_reaching_only(oracle: str) -> None:
    random = Random(oracle)
    flagged = 0
    for number, truth in enumerate(truths(2, TASKS)):
        for name, policy in policies(truth, random):
            checked = check(truth, policy, oracle, objective="goal", seed=number)
            assert not checked.violations, (number, name, checked.violations)
            costs = {truth.policy_cost(policy, state) for state in checked.flagged}
            assert costs <= {fdr.INFINITY}
            flagged += len(checked.flagged)
    assert flagged >= 5


@pytest.mark.parametrize("oracle", ORACLES)
def test_an_optimal_policy_is_never_flagged(oracle: str) -> None:
    for number, truth in enumerate(truths(3, TASKS)):
        checked = check(truth, optimal_policy(truth), oracle, seed=number)
        assert not checked.flagged


def test_astar_flags_exactly_the_bugs() -> None:
    random = Random(4)
    for number, truth in enumerate(truths(4, TASKS)):
        for _, policy in policies(truth, random):
            checked = check(truth, policy, "astar", seed=number)
            bugs = {s for s in checked.tested if truth.policy_cost(policy, s) > truth.hstar[s]}
            assert checked.flagged & set(checked.tested) == bugs
