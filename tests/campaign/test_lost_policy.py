"""A policy server that goes away while a campaign asks it: said, nothing lost, taken up again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.native.library import Int32Array
from engine.policies.policy import BoundPolicy, open_policy
from engine.policies.remote import policy as remote
from engine.policies.remote.server import PolicyServer
from engine.records.config import CampaignConfig
from engine.task.load import load_task
from engine.task.task import Task
from engine.usecases.campaign import run
from engine.workspace.workspace import Workspace

STATES_BEFORE = 20
HASTY = partial(remote.RemoteSettings, reconnect_seconds=0.3)


@pytest.fixture
def task(folder: Path) -> Task:
    return load_task(folder / "domain.pddl", folder / "p2.pddl")


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "RemoteSettings", HASTY)


class Mortal:
    """Decides as another does, about this many states."""

    def __init__(self, policy: BoundPolicy, states: int) -> None:
        self._policy, self._left = policy, states
        self.die: Callable[[], None] = lambda: None

    def decide(self, states: Int32Array) -> Int32Array:
        self._left -= len(states)
        if self._left < 0:
            self.die()
        return np.asarray(self._policy.decide(states))


@contextmanager
def serving(task: Task, address: str, states: int) -> Iterator[None]:
    policy = Mortal(open_policy("builtin:hadd").bind(task), states)
    server = PolicyServer(policy, task, address)
    policy.die = lambda: server._server.stop(0)
    try:
        yield
    finally:
        server.stop()


def test_a_server_that_goes_away_is_no_end(
    configure: Callable[..., CampaignConfig],
    contents: Callable[[Workspace], dict[str, list[Any]]],
    in_threads: Callable[[], Any],
    task: Task,
    tmp_path: Path,
) -> None:
    address = f"unix:{tmp_path}/policy.sock"
    testing = '[testing]\noracles = ["lookahead:depth=1", "astar"]\n'
    config = configure(policies=f'"grpc://{address}"', more=testing)
    with Workspace.create(tmp_path / "w.plumb") as store:
        with serving(task, address, STATES_BEFORE):
            assert run(config, store, executor=in_threads()).status == "incomplete"
        (unit,) = store.units()
        assert unit.status == "lost"
        assert "the connection to" in unit.error
        assert "was lost" in unit.error
        kept = len(store.bugs()), store.pool_states()
        assert 0 < kept[1] < 24
        assert run(config, store, executor=in_threads(), resume=True).status == "incomplete"
        (unit,) = store.units()
        assert "no server answers" in unit.error
        assert (len(store.bugs()), store.pool_states()) >= kept
        with serving(task, address, 10**6):
            assert run(config, store, executor=in_threads(), resume=True).finished
        found = contents(store)
    with Workspace.create(tmp_path / "other.plumb") as store:
        with serving(task, address, 10**6):
            run(config, store, executor=in_threads())
        assert contents(store) == found
    assert found["units"][0][-1] == "finished"
    assert found["findings"]
