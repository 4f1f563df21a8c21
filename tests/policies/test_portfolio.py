"""Portfolios: which policies, in which order, by which names."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from engine.errors import PolicyError
from engine.policies.policy import open_policy
from engine.policies.portfolio import MAX_MEMBERS, Portfolio, named_policies, open_portfolio
from engine.task.load import load_task
from engine.task.states import StateTable
from engine.task.task import Task

EXAMPLES = Path(__file__).resolve().parents[2] / "resources" / "examples"
FERRY = EXAMPLES / "ferry"
CHECKPOINTS = FERRY / "policies" / "checkpoints"


@pytest.fixture(scope="module")
def task() -> Task:
    return load_task(FERRY / "domain.pddl", FERRY / "problems" / "p01.pddl")


def names(portfolio: Portfolio) -> list[str]:
    return [member.name for member in portfolio.members]


def details(path: Path) -> Mapping[str, Any]:
    return open_policy(str(path)).describe().details


def test_checkpoints_are_ranked_by_their_validation(task: Task) -> None:
    table = StateTable(task)
    portfolio = open_portfolio(named_policies([str(CHECKPOINTS)]), table)
    assert len(portfolio.members) == 10
    success = {path.name: details(path)["success"] for path in CHECKPOINTS.iterdir()}
    ranked = [success[name] for name in names(portfolio)]
    assert ranked == sorted(ranked, reverse=True)
    assert ranked[0] > ranked[-1] == 0
    assert all(member.runs.table is table for member in portfolio.members)


def test_without_records_the_initial_state_decides(task: Task) -> None:
    specs = ["builtin:random", str(CHECKPOINTS / "epoch-001.pt"), "builtin:hff", "builtin:optimal"]
    portfolio = open_portfolio(named_policies(specs), StateTable(task), seed=1)
    assert set(names(portfolio)) == {"builtin:random", "epoch-001.pt", "builtin:hff", specs[-1]}
    costs = [int(member.runs.run([0]).cost[0]) for member in portfolio.members]
    assert costs == sorted(costs)
    assert costs[0] < costs[-1]


def test_only_the_best_are_kept(task: Task, tmp_path: Path) -> None:
    for number in range(MAX_MEMBERS + 2):
        source = "epoch-001.pt" if number < 4 else "epoch-008.pt"
        shutil.copy(CHECKPOINTS / source, tmp_path / f"{number:02}.pt")
    portfolio = open_portfolio(named_policies([str(tmp_path)]), StateTable(task))
    expected = [f"{number:02}.pt" for number in (*range(4, MAX_MEMBERS + 2), 0, 1)]
    assert names(portfolio) == expected


def test_every_policy_is_named_once_and_can_be_told_apart(task: Task, tmp_path: Path) -> None:
    file = CHECKPOINTS / "epoch-007.pt"
    copy = shutil.copy(file, tmp_path)
    named = named_policies([str(file), str(tmp_path), str(file)])
    assert named == {str(file): str(file), str(copy): str(copy)}
    assert names(open_portfolio(named, StateTable(task))) == [str(file), str(copy)]


def test_a_directory_without_policies(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="no policy files"):
        named_policies([str(tmp_path)])


def test_policies_of_another_domain(task: Task) -> None:
    other = EXAMPLES / "workshop" / "policies" / "checkpoints"
    with pytest.raises(PolicyError, match="does not fit"):
        open_portfolio(named_policies([str(other)]), StateTable(task))


def test_policies_are_closed_even_if_another_cannot_be_opened(
    task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[object] = []
    monkeypatch.setattr("engine.policies.portfolio.close_policy", closed.append)
    with pytest.raises(PolicyError):
        open_portfolio(named_policies(["builtin:gc", "builtin:nobody"]), StateTable(task))
    assert len(closed) == 1
    portfolio = open_portfolio(named_policies(["builtin:gc"]), StateTable(task))
    assert len(closed) == 1
    portfolio.close()
    assert len(closed) == 3
