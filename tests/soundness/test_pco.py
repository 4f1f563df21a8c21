"""Policy comparison is sound with any portfolio, and as strong as the portfolio is."""

from pathlib import Path
from random import Random

import pytest
from reference import fdr
from reference.amount import amount
from reference.soundness import (
    Truth,
    check,
    comparing,
    imperfect,
    optimal_policy,
    policies,
    random_task,
)

from engine.dominance.checker import DominanceChecker

ORACLES = [
    "pco-p",
    "pco-p:runs=1",
    "pco-p:bounds=false",
    "pco-e",
    "pco-e:runs=2,probability=1,seed=3",
    "pco-e:bounds=false,along=5,ranking=together",
]
TASKS = amount(6, 2)


def truths(seed: int) -> list[Truth]:
    random = Random(seed)
    return [Truth.of(random_task(random)) for _ in range(TASKS)]


@pytest.mark.parametrize("oracle", ORACLES)
def test_everything_said_is_true(oracle: str) -> None:
    random = Random(oracle)
    flagged = 0
    for number, truth in enumerate(truths(11)):
        make = comparing(imperfect(truth, random))
        for name, policy in policies(truth, random):
            step_limit = 2 if number % 4 == 1 else None
            checked = check(truth, policy, oracle, step_limit=step_limit, seed=number, make=make)
            assert not checked.violations, (number, name, step_limit, checked.violations)
            assert name != "optimal" or not checked.flagged
            flagged += len(checked.flagged)
    assert flagged >= 5


@pytest.mark.parametrize("oracle", ["pco-e"])
def test_goal_reaching_only(oracle: str) -> None:
    random = Random(oracle)
    flagged = 0
    for number, truth in enumerate(truths(12)[:2]):
        make = comparing(imperfect(truth, random))
        for name, policy in policies(truth, random):
            checked = check(truth, policy, oracle, objective="goal", seed=number, make=make)
            assert not checked.violations, (number, name, checked.violations)
            assert {truth.policy_cost(policy, s) for s in checked.flagged} <= {fdr.INFINITY}
            flagged += len(checked.flagged)
    assert flagged >= 5


@pytest.mark.parametrize("oracle", ["pco-p:runs=9", "pco-e:runs=9"])
def test_a_perfect_rival_finds_every_bug(oracle: str) -> None:
    random = Random(oracle)
    for number, truth in enumerate(truths(13)[:2]):
        rivals = [*imperfect(truth, random)[:3], ("optimal", optimal_policy(truth))]
        for name, policy in policies(truth, random):
            checked = check(truth, policy, oracle, seed=number, make=comparing(rivals))
            bugs = {s for s in checked.tested if truth.policy_cost(policy, s) > truth.hstar[s]}
            assert checked.flagged & set(checked.tested) == bugs, (number, name)


def test_pieces_of_runs_miss_nothing_that_whole_runs_prove() -> None:
    """Where there are no more rivals than runs, so that all of them are run on every state."""
    random = Random(5)
    proven = 0
    for number, truth in enumerate(truths(14)):
        make = comparing(imperfect(truth, random)[:3])
        for name, policy in policies(truth, random):
            by_runs = check(truth, policy, "pco-p", seed=number, make=make)
            by_pieces = check(truth, policy, "pco-e", seed=number, make=make)
            bugs = by_runs.flagged & set(by_runs.tested)
            assert bugs <= by_pieces.flagged, (number, name)
            proven += len(bugs)
    assert proven > 0


def test_the_composite_oracle_says_nothing_false(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLUMBLINE_CACHE_DIR", str(tmp_path))
    random = Random(6)
    flagged = 0
    for number in range(2):
        truth = Truth.of(random_task(random), everything=True)
        make = comparing(imperfect(truth, random)[:4])
        dominance = DominanceChecker(truth.task)
        for name, policy in policies(truth, random):
            checked = check(
                truth,
                policy,
                "composite:expansions=20",
                seed=number,
                make=make,
                dominance=dominance,
            )
            assert not checked.violations, (number, name, checked.violations)
            assert name != "optimal" or not checked.flagged
            flagged += len(checked.flagged)
    assert flagged >= 5
