"""The network as a policy: ties, probabilities, actions that have no operator, precision."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.errors import PolicyError
from engine.files import resource
from engine.pddl.model import Domain
from engine.policies.policy import NO_ACTION, NO_OPERATION, Probabilistic, notes_of, open_policy
from engine.policies.runs import PolicyRuns
from engine.records.finding import EndReason, RunOutcome
from engine.task.load import load_task
from engine.task.states import StateTable
from engine.task.task import Task
from tests.reference import fdr

Write = Callable[..., Path]


def states_of(task: Task, every: int = 1) -> np.ndarray:
    return np.array(fdr.reachable_states(task)[::every], dtype=np.int32)


def zero(rows: dict) -> None:
    """All logits equal: every applicable operator is as good as any other."""
    for key, (name, blob) in rows.items():
        rows[key] = (name, None if blob is None else bytes(len(blob)))


def test_of_equal_operators_the_first_by_name_wins(
    write_policy: Write, domain: Domain, task: Task
) -> None:
    bound = open_policy(str(write_policy(domain, change=zero))).bind(task)
    states = states_of(task)
    for state, chosen in zip(states.tolist(), bound.decide(states), strict=True):
        names = [task.operators[o].name for o in fdr.applicable(task, tuple(state))]
        assert task.operators[chosen].name == min(names)


@pytest.mark.parametrize("seed", range(3))
def test_decisions_are_applicable_and_the_most_probable(
    write_policy: Write, domain: Domain, task: Task, seed: int
) -> None:
    bound = open_policy(str(write_policy(domain, seed=seed))).bind(task)
    assert isinstance(bound, Probabilistic)
    states = states_of(task, every=3)
    chosen, shares = bound.decide(states), bound.distribution(states)
    for number, state in enumerate(states.tolist()):
        applicable = fdr.applicable(task, tuple(state))
        assert set(np.flatnonzero(shares[number])) <= set(applicable)
        assert chosen[number] in applicable
        assert shares[number, chosen[number]] >= shares[number].max() * (1 - 1e-4)
        assert shares[number].sum() <= 1 + 1e-6


@pytest.mark.parametrize("size", [1, 7, 64])
def test_the_batch_changes_no_bit(
    write_policy: Write, domain: Domain, task: Task, size: int
) -> None:
    bound, states = open_policy(str(write_policy(domain))).bind(task), states_of(task)
    batches = [states[start : start + size] for start in range(0, len(states), size)]
    parts = [bound.decide(batch) for batch in batches]
    assert np.array_equal(np.concatenate(parts), bound.decide(states))
    shares = np.concatenate([bound.distribution(batch) for batch in batches])
    assert np.array_equal(shares, bound.distribution(states))
    assert bound.decide(states[:0]).tolist() == []


@pytest.mark.parametrize("published", [True, False])
def test_nothing_of_torch_is_imported_to_test_a_policy(
    write_policy: Write, domain: Domain, domain_path: Path, problem_path: Path, published: bool
) -> None:
    ferry = resource("examples/ferry")
    files = [ferry / "domain.pddl", ferry / "problems" / "p03.pddl"]
    policy = ferry / "policies" / "policy.pt"
    if published:
        files, policy = [domain_path, problem_path], write_policy(domain)
    task, pool = [str(path) for path in files], str(domain_path.with_name("pool"))
    test = ["test", *task, "--policy", str(policy), "--pool", pool, "--oracle", "lookahead"]
    program = (
        "import sys; from engine import cli;"
        f"assert cli.main({['fuzz', *task, '--size', '5', '--out', pool]!r}) == 0;"
        f"assert cli.main({test!r}) == 0;"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60, capture_output=True)


def test_an_action_without_an_operator_changes_nothing(
    write_policy: Write, domain: Domain, task: Task
) -> None:
    poorer = replace(
        task, operators=tuple(o for o in task.operators if not o.name.startswith("go"))
    )
    bound = open_policy(str(write_policy(domain, change=zero))).bind(poorer)
    assert "(go ada hub north)" in notes_of(bound)[0]
    state = np.array([task.init], dtype=np.int32)
    assert bound.decide(state).tolist() == [NO_OPERATION]
    table = StateTable(poorer)
    result = PolicyRuns(bound, table).run(table.add(poorer.init))
    assert (result.outcome[0], result.reason[0]) == (RunOutcome.FAILED, EndReason.LOOP)


def test_no_action_where_nothing_is_applicable(
    write_policy: Write, domain: Domain, domain_path: Path, problem_path: Path
) -> None:
    problem_path.write_text(
        """(define (problem stuck) (:domain couriers) (:objects ada - rider box - parcel
             far - place)
           (:init (at ada hub) (idle ada) (link hub far)) (:goal (at ada far)))"""
    )
    stuck = load_task(domain_path, problem_path)
    bound = open_policy(str(write_policy(domain))).bind(stuck)
    states = states_of(stuck)
    assert bound.decide(states).tolist() == [0, NO_ACTION]


def test_a_task_without_operators(
    write_policy: Write, domain: Domain, domain_path: Path, problem_path: Path
) -> None:
    problem_path.write_text(
        """(define (problem empty) (:domain couriers) (:objects ada - rider)
           (:init (at ada hub)) (:goal (idle ada)))"""
    )
    empty = load_task(domain_path, problem_path)
    bound = open_policy(str(write_policy(domain))).bind(empty)
    assert bound.decide(np.array([empty.init], dtype=np.int32)).tolist() == [NO_ACTION]


def test_a_task_without_pddl_is_refused(write_policy: Write, domain: Domain, task: Task) -> None:
    with pytest.raises(PolicyError, match="needs the PDDL files"):
        open_policy(str(write_policy(domain))).bind(replace(task, source=None))
