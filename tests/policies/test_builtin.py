"""Built-in policies: greedy on their values, deterministic, and `optimal` is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.amount import amount

from engine.errors import PolicyError
from engine.policies import builtin
from engine.policies.policy import NO_ACTION, open_policy
from engine.policies.runs import PolicyRuns
from engine.records.finding import RunOutcome
from engine.search.heuristics import Evaluator
from engine.task.load import with_unit_costs
from engine.task.states import StateTable
from engine.task.task import Task
from tests.reference import fdr
from tests.reference.adl_tasks import axiom_task
from tests.reference.random_tasks import counter, dials, tasks, with_idle_variables

NAMES = ["random", "gc", "hadd", "hff", "optimal"]


def states_of(task: Task) -> np.ndarray:
    return np.array(fdr.all_states(task), dtype=np.int32)


@settings(max_examples=amount(60, 25))
@given(
    st.one_of(
        tasks(variables=(2, 3), values=(1, 4)),
        tasks(variables=(2, 3), values=(1, 3)).map(with_idle_variables),
        st.integers(0, 10**6).map(axiom_task).map(with_idle_variables),
    ),
    st.sampled_from(["gc", "hadd", "hff"]),
)
def test_greedy_policies_take_the_first_best_successor(task: Task, name: str) -> None:
    heuristic = Evaluator(with_unit_costs(task), {"hff": "ff"}.get(name, name))
    decisions = open_policy(f"builtin:{name}").bind(task).decide(states_of(task))
    for state, chosen in zip(fdr.all_states(task), decisions.tolist(), strict=True):
        successors = fdr.successors(task, state)
        if not successors:
            assert chosen == NO_ACTION
            continue
        values = {o: int(heuristic([after])[0]) for o, after in successors}
        assert chosen == min(values, key=lambda o: (values[o], o))


def test_goal_count_counts_unsatisfied_goals() -> None:
    task = counter(3)
    decisions = open_policy("builtin:gc").bind(task).decide(states_of(task))
    unsatisfied = {state: 3 - sum(state) for state in fdr.all_states(task)}
    for state, chosen in zip(fdr.all_states(task), decisions.tolist(), strict=True):
        best = min((unsatisfied[after] for _, after in fdr.successors(task, state)), default=None)
        if best is None:
            assert chosen == NO_ACTION
        else:
            assert unsatisfied[fdr.apply(task, task.operators[chosen], state)] == best


@settings(max_examples=amount(40, 14))
@given(tasks(variables=(2, 4), values=(1, 4)))
def test_the_optimal_policy_is_optimal(task: Task) -> None:
    """With free actions, too: they must not go in circles."""
    states = fdr.all_states(task)
    table = StateTable(task)
    runs = PolicyRuns(open_policy("builtin:optimal").bind(task), table)
    results = runs.run(table.add(states))
    best = fdr.optimal_costs(task, states)
    for number, state in enumerate(states):
        solvable = best[state] < fdr.INFINITY
        assert results.outcome[number] == (RunOutcome.SOLVED if solvable else RunOutcome.FAILED)
        assert results.cost[number] == best[state]


def test_the_optimal_policy_refuses_large_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtin, "MAX_STATES", 100)
    with pytest.raises(PolicyError, match="too many states"):
        open_policy("builtin:optimal").bind(dials(4, 6))


@settings(max_examples=amount(25, 10))
@given(tasks(variables=(2, 3)), st.sampled_from(NAMES), st.integers(0, 3))
def test_the_same_state_gets_the_same_answer_in_any_batch(task: Task, name: str, seed: int) -> None:
    policy = open_policy(f"builtin:{name}", seed=seed)
    states = states_of(task)
    together = policy.bind(task).decide(states)
    bound = policy.bind(task)
    for number in reversed(range(min(len(states), 12))):
        assert bound.decide(states[number : number + 1])[0] == together[number]
    assert together.dtype == np.int32
    for state, chosen in zip(fdr.all_states(task), together.tolist(), strict=True):
        assert chosen == NO_ACTION or chosen in fdr.applicable(task, state)


def test_random_depends_on_state_and_seed() -> None:
    task = dials(3, 5)
    states = states_of(task)
    first = open_policy("builtin:random", seed=1).bind(task).decide(states)
    second = open_policy("builtin:random", seed=2).bind(task).decide(states)
    assert 0.05 < np.mean(first == second) < 0.4  # six operators in each state
    assert len(np.unique(first)) == len(task.operators)


@pytest.mark.parametrize("name", NAMES)
def test_they_fit_every_domain(name: str, domain) -> None:
    policy = open_policy(f"builtin:{name}", domain)
    assert policy.describe().kind == "builtin"
    assert policy.describe().details["name"] == name
