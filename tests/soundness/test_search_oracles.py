"""No oracle may say anything false, whatever the task and the policy.

See docs/theory/evidence.md, "What tests compare with the truth".
"""

from random import Random

import pytest
from reference import fdr
from reference.amount import amount
from reference.random_tasks import dials, make_task
from reference.soundness import TablePolicy, Truth, check, optimal_policy, policies, random_task

from engine.oracles.objective import OBJECTIVES
from engine.oracles.registry import make_oracle
from engine.oracles.session import OracleSession, Origin
from engine.policies.runs import PolicyRuns
from engine.search.heuristics import Evaluator
from engine.task.states import StateTable
from engine.task.task import Operator, Task

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
TASKS = amount(10, 3)


def truths(seed: int, count: int) -> list[Truth]:
    random = Random(seed)
    return [Truth.of(random_task(random)) for _ in range(count)]


@pytest.mark.parametrize("oracle", ORACLES)
def test_everything_an_oracle_says_is_true(oracle: str) -> None:
    random = Random(oracle)
    flagged = 0
    for number, truth in enumerate(truths(1, TASKS)):
        for name, policy in policies(truth, random):
            step_limit = 2 if number % 4 == 1 else None
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
    """P22"""
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


# Pitfalls by hand.


def bench_of(task: Task, policy: dict[fdr.State, int]) -> OracleSession:
    return OracleSession(PolicyRuns(TablePolicy(policy), StateTable(task)), OBJECTIVES["any"])


def ids_of(session: OracleSession, *states: fdr.State) -> list[int]:
    ids: list[int] = session.table.add(states).tolist()
    return ids


@pytest.mark.parametrize("oracle", [*ORACLES, "smo", "bmo", "combined"])
def test_a_finite_estimate_is_no_plan(oracle: str) -> None:
    """P28, P29: no relaxation notices that this has no plan, and the policy does nothing."""
    task = dials(2, 3, solvable=False)
    assert max(Evaluator(task, "hmax")(fdr.all_states(task)[:1])) < fdr.INFINITY
    session = bench_of(task, {})
    working = make_oracle(oracle, session)
    states = ids_of(session, *fdr.reachable_states(task))
    for state, before in zip(states[1:], states, strict=False):
        session.origins[state] = Origin(before, None)
        examination = session.test(state, working)
        assert examination.bound == fdr.INFINITY
    assert not session.findings


FORTH, BACK, END = 0, 1, 2


def there_and_back(back: Operator, goal_cost: int = 2) -> Task:
    """From 0 to 1 and, with luck, back; from 0 to the goal at 2. A light that is on or off."""
    forth = Operator("forth", ((0, 0),), ((0, 1),), 1)
    end = Operator("end", ((0, 0),), ((0, 2),), goal_cost)
    return make_task((3, 2), (forth, back, end), (0, 0), ((0, 2),))


def undone(task: Task, start: fdr.State, oracle: str = "inverse") -> tuple[int, OracleSession]:
    """What going back from state 1, where the policy has nothing to do, proves about it."""
    session = bench_of(task, {start: END})
    reference, state = ids_of(session, start, fdr.apply(task, task.operators[FORTH], start))
    session.origins[state] = Origin(reference, (FORTH,))
    return session.test(state, make_oracle(oracle, session)).bound, session


def test_the_way_back_has_its_own_price() -> None:
    """P39: there for 1, back for 5."""
    bound, session = undone(there_and_back(Operator("back", ((0, 1),), ((0, 0),), 5)), (0, 0))
    assert bound == 5 + 2
    assert [finding.bound for finding in session.findings.values()] == [7]


def test_the_way_back_may_need_what_the_way_there_does_not() -> None:
    """P40: back only where the light is on."""
    task = there_and_back(Operator("back", ((0, 1), (1, 1)), ((0, 0),), 1))
    dark, session = undone(task, (0, 0))
    assert (dark, session.findings) == (fdr.INFINITY, {})
    light, session = undone(task, (0, 1))
    assert light == 1 + 2
    assert len(session.findings) == 1


def test_a_step_that_forgets_cannot_be_taken_back() -> None:
    """P41: from wherever it was reset, one only gets back to where one is known to have been."""
    reset = Operator("reset", (), ((0, 1),), 1)
    back = Operator("back", ((0, 1),), ((0, 0),), 1)
    far = Operator("far", ((0, 3),), ((0, 2),), 1)
    task = make_task((4, 2), (reset, back, far), (3, 0), ((0, 2),))
    session = bench_of(task, {(3, 0): 2})
    reference, state = ids_of(session, (3, 0), (1, 0))
    session.origins[state] = Origin(reference, (0,))
    for oracle in ("inverse", "undo"):
        assert session.test(state, make_oracle(oracle, session)).bound == fdr.INFINITY
    assert not session.findings


@pytest.mark.parametrize("oracle", ["undo", "inverse"])
def test_going_back_to_where_there_is_no_plan_proves_nothing(oracle: str) -> None:
    """P42: all steps can be taken back, but the goal is out of reach from the first state on."""
    forth = Operator("forth", ((0, 0),), ((0, 1),), 1)
    back = Operator("back", ((0, 1),), ((0, 0),), 1)
    task = make_task((3, 2), (forth, back), (0, 0), ((0, 2),))
    session = bench_of(task, {})
    reference, state = ids_of(session, (0, 0), (1, 0))
    session.origins[state] = Origin(reference, (FORTH,))
    assert session.test(state, make_oracle(oracle, session)).bound == fdr.INFINITY
    assert not session.findings
