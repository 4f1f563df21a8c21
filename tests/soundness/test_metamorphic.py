"""Oracles that compare states may say nothing false either: their claims, bounds and evidence."""

import os
from pathlib import Path
from random import Random

import pytest
from reference import fdr
from reference.soundness import Truth, check, optimal_policy, policies, random_task

from engine.dominance.check import DominanceChecker
from engine.dominance.compute import Factorisation

ORACLES = [
    "smo",
    "smo:maxsize=3,local=none",
    "smo:factors=merged:40,maxsize=50,local=first",
    "bmo:lookahead=0,local=none,intermediate=false",
    "bmo:lookahead=0,local=first",
    "bmo",
    "bmo:factors=merged:40,lookahead=5",
    "combined:lookahead=3",
    "combined:factors=merged,lookahead=0,expansions=20",
]
TASKS = 3


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLUMBLINE_CACHE_DIR", os.fspath(tmp_path))


def truths(seed: int, count: int = TASKS) -> list[Truth]:
    random = Random(seed)
    return [Truth.of(random_task(random), everything=True) for _ in range(count)]


def checker(truth: Truth, oracle: str) -> DominanceChecker:
    options = dict(part.split("=") for part in oracle.partition(":")[2].split(",") if part)
    return DominanceChecker(truth.task, [Factorisation.parse(options.get("factors", "atomic"))])


@pytest.mark.parametrize("oracle", ORACLES)
def test_everything_an_oracle_says_is_true(oracle: str) -> None:
    random = Random(oracle)
    flagged = 0
    for number, truth in enumerate(truths(11)):
        dominance = checker(truth, oracle)
        for name, policy in policies(truth, random):
            step_limit = 2 if number % 4 == 3 else None
            checked = check(
                truth, policy, oracle, step_limit=step_limit, seed=number, dominance=dominance
            )
            assert not checked.violations, (number, name, step_limit, checked.violations)
            flagged += len(checked.flagged)
    assert flagged  # the check is worth something only if the oracle finds bugs


@pytest.mark.parametrize("oracle", ["smo", "bmo", "combined:lookahead=3"])
def test_goal_reaching_only(oracle: str) -> None:
    """Only failures count, and a failure only where there is a plan (P27, P28)."""
    random = Random(oracle)
    flagged = 0
    for number, truth in enumerate(truths(12)):
        dominance = checker(truth, oracle)
        for name, policy in policies(truth, random):
            checked = check(
                truth, policy, oracle, objective="goal", seed=number, dominance=dominance
            )
            assert not checked.violations, (number, name, checked.violations)
            costs = {truth.policy_cost(policy, state) for state in checked.flagged}
            assert costs <= {fdr.INFINITY}
            flagged += len(checked.flagged)
    assert flagged


@pytest.mark.parametrize("oracle", ORACLES)
def test_an_optimal_policy_is_never_flagged(oracle: str) -> None:
    for number, truth in enumerate(truths(13)):
        checked = check(truth, optimal_policy(truth), oracle, seed=number)
        assert not checked.flagged


def test_evidence_by_dominance_is_not_accepted_without_a_check() -> None:
    random = Random(14)
    refused = 0
    for number, truth in enumerate(truths(14)):
        for _, policy in policies(truth, random):
            checked = check(truth, policy, "smo:local=none", seed=number)
            assert all("there is no dominance function" in text for text in checked.violations)
            refused += len(checked.violations)
    assert refused
