"""Look-ahead: other first steps, then the policy itself."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.amount import amount
from reference.oracle_sessions import PIT, examine, proven, road

from engine.errors import UsageError
from engine.native.control import Control
from engine.oracles.objective import OBJECTIVES
from engine.oracles.registry import parse_oracle
from engine.oracles.solo import SoloOracle, Terms
from engine.policies.policy import BoundPolicy, open_policy
from engine.policies.runs import PolicyRuns
from engine.records.config import Factorization, UnitLimits
from engine.records.events import OracleVerdict
from engine.records.finding import BugKind
from engine.task.states import StateTable
from engine.task.task import Task
from tests.reference import fdr
from tests.reference.adl_tasks import axiom_task
from tests.reference.drawn_tasks import example_task
from tests.reference.random_tasks import dials, tasks, with_idle_variables


def test_another_first_step_is_better() -> None:
    session = road("direct on home")
    examination = examine(session, "lookahead:depth=1", 0)
    assert (examination.verdict, examination.bound) == (OracleVerdict.BUG, 6)
    assert session.findings[0].kind is BugKind.TOO_EXPENSIVE
    assert proven(session, 0) == [("lookahead:depth=1", "walk"), ("policy", "on home")]


def test_it_reaches_as_far_as_its_depth() -> None:
    session = road("direct home")
    assert examine(session, "lookahead:depth=1", 0).verdict is OracleVerdict.NOT_REFUTED
    assert not session.findings
    assert examine(session, "lookahead", 0).verdict is OracleVerdict.BUG
    assert proven(session, 0) == [("lookahead", "walk on"), ("policy", "home")]


@pytest.mark.parametrize(("policy", "state"), [("walk on home", 0), ("crawl turn", PIT)])
def test_where_no_plan_is_cheaper_there_is_no_bug(policy: str, state: int) -> None:
    session = road(policy)
    assert examine(session, "lookahead:depth=3", state).verdict is OracleVerdict.NOT_REFUTED
    assert not session.findings


def test_it_declines_to_look_nowhere() -> None:
    with pytest.raises(UsageError, match="lookahead: '0' is not a positive number; write depth=10"):
        parse_oracle("lookahead:depth=0")


@dataclass
class Outside:
    """A policy of the kernels, asked by Python: there is no faster look."""

    inside: BoundPolicy

    def decide(self, states: np.ndarray) -> np.ndarray:
        return self.inside.decide(states)


def answers(
    policy: BoundPolicy,
    task: Task,
    states: list[tuple[int, ...]],
    depth: int,
    *,
    step_limit: int | None = None,
    objective: str = "any",
) -> tuple[list[tuple[OracleVerdict, int, object]], int]:
    """All that look-ahead by itself says about states, and how many it put to the policy."""
    runs = PolicyRuns(policy, StateTable(task))
    ids = runs.table.add(states).tolist()
    runs.run(ids, step_limit)
    terms = Terms(
        *(runs, {}, OBJECTIVES[objective], step_limit),
        *(Factorization(), None, UnitLimits(), Control()),
    )
    oracle = SoloOracle(f"lookahead:depth={depth}", terms)
    examined = [oracle.examine(state) for state in ids]
    said = [(one.verdict, one.bound, one.findings) for one in examined if one is not None]
    assert len(said) == len(ids)
    cpu = oracle.clock.setup.cpu + sum(one.effort.cpu for one in examined if one is not None)
    assert cpu == pytest.approx(oracle.clock.spent.cpu)  # all that it took belongs to a state
    return said, oracle.policy_states


@settings(max_examples=amount(200, 40))
@given(
    st.one_of(
        tasks(variables=(2, 4), values=(1, 4)),
        tasks(variables=(2, 3), values=(1, 4)).map(with_idle_variables),
        st.integers(0, 10**6).map(axiom_task).map(with_idle_variables),
    ),
    st.sampled_from(["random", "gc", "hadd"]),
    st.integers(1, 3),
    st.sampled_from([None, 1, 2, 5]),
    st.sampled_from(["any", "goal"]),
)
def test_a_faster_look_changes_no_answer(
    task: Task, name: str, depth: int, limit: int | None, objective: str
) -> None:
    policy = open_policy(f"builtin:{name}", seed=1)
    states = fdr.all_states(task)[:30]
    inside = policy.bind(task)
    fast, slow = (
        answers(bound, task, states, depth, step_limit=limit, objective=objective)[0]
        for bound in (inside, Outside(inside))
    )
    assert fast == slow


def test_a_faster_look_saves_questions() -> None:
    task = example_task("ferry")
    states = fdr.reachable_states(task)[:200]
    policy = open_policy("builtin:hadd")
    fast, asked = answers(policy.bind(task), task, states, 2)
    slow, asked_outside = answers(Outside(policy.bind(task)), task, states, 2)
    assert fast == slow
    assert {verdict for verdict, _, _ in fast} == {OracleVerdict.BUG, OracleVerdict.NOT_REFUTED}
    assert 2 * asked < asked_outside


def test_a_faster_look_overlooks_what_no_condition_mentions() -> None:
    plain = dials(2, 5)
    states = fdr.all_states(plain)
    alike = [(*state, x, y) for state in states for x in range(3) for y in range(2)]
    policy = open_policy("builtin:hadd")
    said, asked = answers(policy.bind(plain), plain, states, 2)
    task = with_idle_variables(plain)
    of_alike, asked_of_alike = answers(policy.bind(task), task, alike, 2)
    assert {verdict for verdict, _, _ in said + of_alike} == {OracleVerdict.NOT_REFUTED}
    assert asked_of_alike == asked
