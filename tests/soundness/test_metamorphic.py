"""Oracles that compare states may say nothing false either: their claims, bounds and evidence."""

import os
from pathlib import Path
from random import Random

import pytest
from reference import fdr
from reference.amount import amount
from reference.random_tasks import make_task
from reference.soundness import TablePolicy, Truth, check, optimal_policy, policies, random_task

from engine.dominance.checker import DominanceChecker
from engine.oracles.objective import OBJECTIVES
from engine.oracles.registry import make_oracle
from engine.oracles.session import OracleSession
from engine.policies.runs import PolicyRuns
from engine.records.config import Factorization
from engine.records.evidence import Morph
from engine.task.states import StateTable
from engine.task.task import Operator, Task

ORACLES = [
    "smo",
    "smo:maxsize=3,local=none",
    "smo:factors=merged:40,maxsize=50,local=first",
    "smo:morphs=random,local=none",
    "smo:morphs=random,factors=merged:40,maxsize=50,seed=5",
    "bmo:lookahead=0,local=none,intermediate=false",
    "bmo:lookahead=0,local=first",
    "bmo",
    "bmo:factors=merged:40,lookahead=5",
    "bmo:visited=all,lookahead=10,local=none",
    "combined:lookahead=3",
    "combined:factors=merged,lookahead=0,expansions=20",
    "undo:dominance=true",
    "undo:dominance=true,factors=merged:40,expansions=30",
]
TASKS = amount(6, 2)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLUMBLINE_CACHE_DIR", os.fspath(tmp_path))


def truths(seed: int, count: int = TASKS) -> list[Truth]:
    random = Random(seed)
    return [Truth.of(random_task(random), everything=True) for _ in range(count)]


def checker(truth: Truth, oracle: str) -> DominanceChecker:
    options = dict(part.split("=") for part in oracle.partition(":")[2].split(",") if part)
    return DominanceChecker(truth.task, [Factorization.parse(options.get("factors", "atomic"))])


@pytest.mark.parametrize("oracle", ORACLES)
def test_everything_an_oracle_says_is_true(oracle: str) -> None:
    random = Random(oracle)
    flagged = 0
    for number, truth in enumerate(truths(11)):
        dominance = checker(truth, oracle)
        for name, policy in policies(truth, random):
            step_limit = 2 if number % 4 == 1 else None
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
    """P22"""
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


# Pitfalls by hand: a line of places with a pit, and a switch that only costs.


def line(costs: tuple[int, ...] = (1, 1, 1)) -> Task:
    """Places 0-3, the goal at 3; from 1 one can fall into 4, from where 5 is all there is."""
    ahead = [Operator(f"ahead {x}", ((0, x),), ((0, x + 1),), costs[x]) for x in range(3)]
    back = [Operator(f"back {x}", ((0, x + 1),), ((0, x),), costs[x]) for x in range(2)]
    pit = [Operator("fall", ((0, 1),), ((0, 4),), 1), Operator("on", ((0, 4),), ((0, 5),), 1)]
    flip = [Operator(f"flip {x}", ((1, x),), ((1, 1 - x),), 1) for x in range(2)]
    return make_task((6, 2), (*ahead, *back, *pit, *flip), (0, 0), ((0, 3),))


AHEAD, BACK, FALL, ON, FLIP = 0, 3, 5, 6, 7


def bench_of(task: Task, policy: dict[tuple[int, ...], int]) -> tuple[OracleSession, StateTable]:
    table = StateTable(task)
    return OracleSession(PolicyRuns(TablePolicy(policy), table), OBJECTIVES["any"]), table


def flagged(session: OracleSession) -> set[tuple[int, ...]]:
    return {session.values(state) for state in session.findings}


@pytest.mark.parametrize("oracle", ["bmo:lookahead=0", "bmo:lookahead=0,factors=merged"])
def test_comparing_unsolvable_states_proves_nothing(oracle: str) -> None:
    """P13, P28: finite dominance values, but no bound to start from."""
    session, table = bench_of(line(), {})
    working = make_oracle(oracle, session)
    for state in table.add([(x, y) for x in range(3) for y in range(2)]).tolist():
        session.test(state, working)
    assert not session.findings


@pytest.mark.parametrize("oracle", ["bmo", "combined"])
def test_only_what_lies_before_the_pit_is_a_bug(oracle: str) -> None:
    """P27: the policy fails in the pit too, but there nothing can be done."""
    policy = {(0, 0): AHEAD, (1, 0): FALL, (4, 0): ON, (2, 0): AHEAD + 2}
    session, table = bench_of(line(), policy)
    working = make_oracle(oracle, session)
    for state in table.add([(2, 0), (0, 0), (4, 0), (5, 0)]).tolist():
        session.test(state, working)
    assert flagged(session) == {(0, 0), (1, 0)}


def test_bounds_go_back_along_the_run_at_the_price_of_each_step() -> None:
    """P23, P24: every state of a run gets a bound of its own, with its own costs."""
    policy = {(0, 0): AHEAD, (1, 0): FLIP, (1, 1): AHEAD + 1, (2, 1): AHEAD + 2}
    task = line((5, 1, 2))
    session, table = bench_of(task, policy)
    (state,) = table.add([(0, 0)]).tolist()
    session.test(state, make_oracle("bmo:lookahead=0", session))
    bounds = {session.values(s): finding.bound for s, finding in session.findings.items()}
    assert bounds == {(0, 0): 8, (1, 0): 3}
    evidence = session.findings[state].evidence
    assert any(isinstance(step, Morph) for step in evidence.steps)


def test_the_local_test_looks_as_far_as_its_option_says() -> None:
    policy = {(0, 0): AHEAD, (1, 0): FLIP, (1, 1): AHEAD + 1, (2, 1): AHEAD + 2}
    found = {}
    for mode in ("none", "first", "all"):
        session, table = bench_of(line(), policy)
        oracle = make_oracle(f"smo:maxsize=1,local={mode}", session)
        (state,) = table.add([(1, 0)]).tolist()
        found[mode] = session.test(state, oracle).bound
    assert found["first"] == found["all"] == 2
