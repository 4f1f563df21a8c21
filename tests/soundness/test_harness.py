"""The harness must notice a broken rule: each test breaks one and expects violations."""

from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from reference.soundness import Truth, check, policies, random_task

from engine.dominance.function import DominanceFunction
from engine.oracles import undo
from engine.oracles.bounds import Bounds
from engine.oracles.inverse import InverseOracle
from engine.oracles.objective import AnyBug
from engine.oracles.session import OracleSession, Proof
from engine.records.evidence import Evidence
from engine.records.finding import INFINITY, BugKind, RunOutcome


def violations(oracle: str, step_limit: int | None = None, tasks: int = 12) -> list[str]:
    """Those of the first policy that has any."""
    random = Random(7)
    for number in range(tasks):
        truth = Truth.of(random_task(random))
        for _, policy in policies(truth, random):
            found = check(truth, policy, oracle, step_limit=step_limit, seed=number).violations
            if found:
                return found
    return []


def test_a_correct_engine_has_none() -> None:
    assert not violations("inverse", step_limit=2, tasks=6)


def test_costs_of_steps_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """P19, P24: a bound must grow by the cost of the operator that leads to it."""
    _change_bounds(monkeypatch, lambda bound: bound if bound == INFINITY else 0)
    assert violations("astar")


def _change_bounds(monkeypatch: pytest.MonkeyPatch, change: Callable[[int], int]) -> None:
    one, many = Bounds.u, Bounds.all
    monkeypatch.setattr(Bounds, "u", lambda self, state: change(one(self, state)))
    monkeypatch.setattr(
        Bounds, "all", lambda self, states: np.array([*map(change, many(self, states).tolist())])
    )


def test_flagging_without_strictness(monkeypatch: pytest.MonkeyPatch) -> None:
    """P22: a plan as expensive as the policy's run proves nothing."""

    def lenient(self, outcome: RunOutcome, policy_cost: int, bound: int) -> BugKind | None:
        limit = self.needs_less_than(outcome, policy_cost)
        if limit is None or bound > limit or bound == INFINITY:
            return None
        return BugKind.FAILS if outcome is RunOutcome.FAILED else BugKind.TOO_EXPENSIVE

    monkeypatch.setattr(AnyBug, "bug_kind", lenient)
    assert violations("lookahead")


def test_a_failing_policy_is_taken_for_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    """P28: that the policy fails is a bug only where the goal can be reached."""
    _change_bounds(monkeypatch, lambda bound: min(bound, 10**6))
    monkeypatch.setattr(Bounds, "evidence", _no_evidence)
    assert violations("gbfs")


def _no_evidence(bounds: Bounds, state: int) -> Evidence:
    return Evidence(tuple(bounds.table.values([state])[0].tolist()), (), 10**6)


def test_a_stopped_run_is_taken_for_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """P15: a run that was stopped may still reach the goal."""
    known = OracleSession.policy_result

    def pessimistic(self, state: int) -> tuple[RunOutcome, int]:
        outcome, cost = known(self, state)
        return (RunOutcome.FAILED, 2**63 - 1) if outcome is RunOutcome.ABORTED else (outcome, cost)

    monkeypatch.setattr(OracleSession, "policy_result", pessimistic)
    assert violations("astar", step_limit=1)


def test_going_back_is_taken_to_cost_what_coming_did(monkeypatch: pytest.MonkeyPatch) -> None:
    """P39: the way back may be more expensive than the way here."""

    def forward_costs(self, state: int) -> Proof:
        origin = self.session.origins.get(state)
        if origin is None:
            return Proof()
        self.session.run_policy(origin.reference)
        known = self.session.bounds.u(origin.reference)
        cost = sum(self.session.task.operators[o].cost for o in origin.operators)
        return Proof(min(known, 2**62) + cost)

    monkeypatch.setattr(InverseOracle, "examine", forward_costs)
    assert violations("inverse")


def test_going_back_to_a_worse_state_is_taken_for_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo replays the plan it knows; here its rule has to be right without that."""

    def trusting(self, state, origin, plan, limit) -> int:
        way = self._search_back(state, origin.reference, limit)
        if way is None:
            return INFINITY
        return int(self.session.operator_costs[[*way, *plan]].sum())

    monkeypatch.setattr(undo.UndoOracle, "_through", trusting)
    assert not violations("undo", tasks=8)
    monkeypatch.setattr(undo, "asked_facts", lambda task: frozenset(task.goal))
    assert violations("undo")


def test_a_state_that_the_start_dominates_is_taken_for_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """D(s, t) >= 0 makes t the better one; undo must not go to a worse one."""
    oracle = "undo:dominance=true"
    assert not any("is below h*" in text for text in violations(oracle))
    monkeypatch.setattr(DominanceFunction, "from_one", DominanceFunction.to_one)
    assert any("is below h*" in text for text in violations(oracle))
