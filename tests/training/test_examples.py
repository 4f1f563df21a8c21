"""The policies that come with the examples are what their folders say."""

import json
from pathlib import Path

import numpy as np
import pytest

from engine.pddl import read_domain
from engine.policies.policy import open_policy
from engine.policies.runs import PolicyRuns
from engine.records.finding import RunOutcome
from engine.task.load import load_task
from engine.task.states import StateTable

EXAMPLES = Path(__file__).parents[2] / "resources" / "examples"
FOLDERS = sorted(path.parent for path in EXAMPLES.glob("*/domain.pddl"))


@pytest.fixture(params=FOLDERS, ids=lambda folder: folder.name)
def example(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_the_policies_are_good_but_not_perfect(example: Path) -> None:
    record = json.loads((example / "policies" / "training.json").read_text())
    by_file = {epoch["checkpoint"]: epoch for epoch in record["epochs"]}
    assert 0.7 <= by_file[record["best"]]["success"] <= 0.99
    assert len(by_file) <= 10
    files = sorted((example / "policies").rglob("*.pt"))
    assert len(files) == len(by_file) + 1
    assert all(path.stat().st_size < 300_000 for path in files)
    best = (example / "policies" / record["best"]).read_bytes()
    assert (example / "policies" / "policy.pt").read_bytes() == best


def test_every_checkpoint_fits_its_domain(example: Path) -> None:
    domain = read_domain(example / "domain.pddl")
    for path in sorted((example / "policies" / "checkpoints").iterdir()):
        details = open_policy(str(path), domain).describe().details
        assert f"epoch-{details['epoch']:03}.pt" == path.name


def test_the_smallest_problem_is_solved(example: Path) -> None:
    task = load_task(example / "domain.pddl", example / "problems" / "p01.pddl")
    table = StateTable(task)
    policy = open_policy(str(example / "policies" / "policy.pt")).bind(task)
    results = PolicyRuns(policy, table).run(table.add(task.init), step_limit=100)
    assert results.outcome.tolist() == [RunOutcome.SOLVED]


def test_a_state_is_decided_alone_as_in_batches(example: Path) -> None:
    task = load_task(example / "domain.pddl", example / "problems" / "p01.pddl")
    table, random = StateTable(task), np.random.default_rng(1)
    walk = [int(table.add(task.init)[0])]
    for _ in range(600):
        _, successors = table.successors(walk[-1])
        walk.append(int(random.choice(successors)) if len(successors) else walk[0])
    states = table.values(np.unique(walk)[:512])
    bound = open_policy(str(example / "policies" / "policy.pt")).bind(task)
    alone = [int(bound.decide(state[None])[0]) for state in states[::5]]
    for size in (16, 128, 512):
        parts = [bound.decide(states[i : i + size]) for i in range(0, len(states), size)]
        assert np.concatenate(parts)[::5].tolist() == alone
