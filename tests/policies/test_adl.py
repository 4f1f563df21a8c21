"""Every kind of policy on a domain with conditional effects, quantifiers or derived predicates.

A policy that cannot have such a domain says so by name and place; all others decide in states
whose derived values are right, and what they decide leads where the definition says.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from reference import fdr
from reference.adl_domains import DOMAINS, PROBLEM
from reference.policy_files import gnn_contents

from engine.errors import UnsupportedError
from engine.pddl import parse_domain
from engine.policies.asnets.relatedness import relate
from engine.policies.builtin import NAMES
from engine.policies.policy import BoundPolicy, open_policy
from engine.policies.remote.policy import open_remote
from engine.policies.remote.server import PolicyServer
from engine.policies.runs import PolicyRuns
from engine.records.finding import RunOutcome
from engine.task.load import load_task
from engine.task.states import StateTable
from engine.task.task import Task

PLUGIN = """
class Greedy:
    def __init__(self, task):
        self.task = task

    def missing(self, state):
        return sum(state[variable] != value for variable, value in self.task.goal)

    def decide(self, states):
        answers = []
        for state in states:
            choices = self.task.applicable(state)
            after = [self.missing(self.task.successor(state, choice)) for choice in choices]
            answers.append(choices[after.index(min(after))] if choices else -1)
        return answers

def make(task):
    return Greedy(task)
"""


@pytest.fixture(params=DOMAINS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def task(kind: str, tmp_path: Path) -> Task:
    (tmp_path / "domain.pddl").write_text(DOMAINS[kind])
    (tmp_path / "problem.pddl").write_text(PROBLEM)
    return load_task(tmp_path / "domain.pddl", tmp_path / "problem.pddl")


def states_of(task: Task) -> np.ndarray:
    return np.array(fdr.reachable_states(task), np.int32)


def check_decisions(task: Task, policy: BoundPolicy) -> list[int]:
    """Every decision is applicable and its run is one of the task."""
    states = states_of(task)
    decisions = policy.decide(states).tolist()
    for state, choice in zip(map(tuple, states.tolist()), decisions, strict=True):
        if choice >= 0:
            assert choice in fdr.applicable(task, state)
    table = StateTable(task)
    runs = PolicyRuns(policy, table)
    starts = table.add(states)
    runs.run(starts)
    for run in map(runs.trace, starts.tolist()):
        path = [tuple(row) for row in table.values(run.states).tolist()]
        for before, operator, after in zip(path, run.operators, path[1:], strict=False):
            assert fdr.apply(task, task.operators[operator], before) == after
        if run.outcome is RunOutcome.SOLVED:
            assert fdr.holds(task.goal, path[-1])
    return decisions


def test_the_translator_makes_what_the_test_is_about(kind: str, task: Task) -> None:
    assert bool(task.n_conditional_effects) == (kind != "quantifiers")
    assert bool(task.axioms) == (kind in ("quantifiers", "derived predicates"))


@pytest.mark.parametrize("name", NAMES)
def test_built_in_policies(name: str, task: Task) -> None:
    check_decisions(task, open_policy(f"builtin:{name}").bind(task))


def test_the_optimal_policy_is_optimal(task: Task) -> None:
    table = StateTable(task)
    runs = PolicyRuns(open_policy("builtin:optimal").bind(task), table)
    states = fdr.reachable_states(task)
    best = fdr.optimal_costs(task, states)
    starts = table.add(states)
    runs.run(starts)
    for state, run in zip(states, map(runs.trace, starts.tolist()), strict=True):
        assert (run.outcome is RunOutcome.SOLVED) == (best[state] < fdr.INFINITY)
        assert run.outcome is not RunOutcome.SOLVED or run.cost == best[state]


def test_plug_ins(task: Task, tmp_path: Path) -> None:
    path = tmp_path / "plugin.py"
    path.write_text(PLUGIN)
    policy = open_policy(f"{path}:make").bind(task)
    try:
        decisions = check_decisions(task, policy)
    finally:
        policy.close()
    assert decisions == open_policy("builtin:gc").bind(task).decide(states_of(task)).tolist()


def test_policy_servers(task: Task) -> None:
    policy = open_policy("builtin:hff").bind(task)
    with (
        PolicyServer(policy, task, "127.0.0.1:0") as server,
        open_remote(server.address) as remote,
    ):
        assert check_decisions(task, remote.bind(task)) == check_decisions(task, policy)


def test_graph_networks(kind: str, task: Task, tmp_path: Path) -> None:
    torch.save(gnn_contents(parse_domain(DOMAINS[kind])), tmp_path / "net.ckpt")
    policy = open_policy(str(tmp_path / "net.ckpt"))
    if kind == "derived predicates":
        with pytest.raises(UnsupportedError, match=r"derived predicate.*safe"):
            policy.bind(task)
    else:
        decisions = check_decisions(task, policy.bind(task))
        assert max(decisions) >= 0


REFUSED = {
    "conditional effects": "action schema networks cannot handle a quantified effect",
    "quantifiers": "action schema networks cannot handle a condition of kind 'forall'",
    "derived predicates": "action schema networks cannot handle derived predicates",
    "many cases": "action schema networks cannot handle a quantified effect",
}


def test_action_schema_networks_decline_by_name(kind: str, task: Task) -> None:
    assert task.source is not None
    with pytest.raises(UnsupportedError, match=REFUSED[kind]) as caught:
        relate(task.source.domain)
    assert caught.value.location is not None
    assert caught.value.location.line in (7, 8, 9)
