"""What can go wrong with a cluster: said before a campaign begins, survived when it runs."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from reference.bug_workspace import InThreads
from reference.dask_cluster import Cluster
from reference.recording_link import RecordingLink
from reference.slow_policy import write_slow_policy

from engine.errors import UsageError, WorkerLostError
from engine.records.config import CampaignConfig
from engine.records.events import (
    CampaignEvent,
    ClusterChanged,
    ClusterSize,
    StateTested,
    UnitStarted,
    Warned,
)
from engine.usecases.campaign import run
from engine.workers import cluster as cluster_module
from engine.workers.cluster import look_at, problem_with_address
from engine.workers.supervisor import make_executor
from engine.workspace.workspace import Workspace

Contents = Callable[[Workspace], dict[str, list[Any]]]

HOARDER = """
class Hoarder:
    def __init__(self, task):
        self.task, self.hoard = task, []

    def decide(self, states):
        self.hoard.append(bytearray(b"x" * 20_000_000))
        return [next(iter(self.task.applicable(state)), -1) for state in states]


def factory(task):
    return Hoarder(task)
"""


@pytest.fixture
def hold(tmp_path: Path) -> Path:
    """While this file is there, units with the policy `slow.py` do not come to their end."""
    hold = tmp_path / "hold"
    hold.touch()
    write_slow_policy(tmp_path / "slow.py", hold)
    return hold


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A scheduler without workers."""
    with Cluster(tmp_path / "cluster") as cluster:
        yield cluster


@pytest.mark.parametrize("address", ["tcp://host:8786", "10.0.0.7:8786", "tls://[::1]:1"])
def test_addresses(address: str) -> None:
    assert problem_with_address(address) == ""


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("", "name the address"),
        ("tcp://host", "has no port; write tcp://host:8786"),
        ("http://host:8786", "'http' is not a protocol"),
        ("tcp://host:99999", "99999 is not a port"),
        ("tcp://ho st:1", "is not an address"),
    ],
)
def test_what_is_not_an_address_is_refused_without_asking(address: str, problem: str) -> None:
    assert problem in problem_with_address(address)
    with pytest.raises(UsageError) as caught:
        look_at(address)
    assert problem in caught.value.message


def test_the_package_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match="need the package 'distributed'") as caught:
        look_at("tcp://127.0.0.1:1")
    assert "pip install 'plumbline[cluster]'" in caught.value.hint


def test_an_unknown_client_that_takes_the_connection_and_stays_silent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another kind of server, or a scheduler that hangs."""
    monkeypatch.setattr(cluster_module, "PATIENCE", "0.3s")
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        pytest.raises(UsageError, match="no Dask scheduler answers"),
    ):
        look_at(f"tcp://127.0.0.1:{server.getsockname()[1]}")


def test_a_scheduler_that_wants_certificates() -> None:
    with pytest.raises(UsageError, match=r"at 'tls://127\.0\.0\.1:1' cannot be used"):
        look_at("tls://127.0.0.1:1")


def test_a_cluster_is_looked_at_before_it_is_used(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="the cluster has no workers"):
        look_at(cluster.address)
    cluster.add_worker()
    assert look_at(cluster.address) == ClusterSize(workers=1, places=1)
    with monkeypatch.context() as unreachable:
        unreachable.setattr(cluster_module, "can_reach", lambda address: False)
        with pytest.raises(UsageError, match=r"1 of 1 workers, .*, cannot reach this machine"):
            look_at(cluster.address)
    monkeypatch.setattr(cluster_module, "ANSWER_SECONDS", 0.3)  # now the worker hangs
    cluster.workers[0].send_signal(signal.SIGSTOP)
    with pytest.raises(UsageError, match="not all workers of the cluster answered") as caught:
        look_at(cluster.address)
    assert "end the workers that hang" in caught.value.hint


def test_a_lost_worker_is_reported_and_its_unit_begins_again(
    cluster: Cluster, configure: Callable[..., CampaignConfig], tmp_path: Path, hold: Path
) -> None:
    """The only one there is; another one comes later."""
    cluster.add_worker()
    (victim,) = cluster.workers
    seen: list[CampaignEvent] = []

    def emit(event: CampaignEvent) -> None:
        seen.append(event)
        if isinstance(event, StateTested) and victim.poll() is None:
            os.kill(victim.pid, signal.SIGKILL)
            victim.wait()
        if event == ClusterChanged(ClusterSize(workers=0, places=0)):
            cluster.workers.append(cluster.start_worker())
        elif isinstance(event, ClusterChanged) and victim.poll() is not None:
            hold.unlink()

    with Workspace.create(tmp_path / "w.plumb") as store:
        executor = make_executor(f"dask:{cluster.address}")
        config = configure(policies='"slow.py:factory"')
        assert run(config, store, RecordingLink(hear=emit), executor=executor).finished
        assert [unit.status for unit in store.units()] == ["finished"]
    sizes = [event.size.workers for event in seen if isinstance(event, ClusterChanged)]
    assert sizes == [1, 0, 1]
    assert sum(isinstance(event, UnitStarted) for event in seen) == 2
    (warning,) = (event for event in seen if isinstance(event, Warned))
    assert "its worker was lost; it was restarted on another one" in warning.text


def test_without_its_scheduler_a_campaign_stops_and_is_resumed_here(
    cluster: Cluster,
    configure: Callable[..., CampaignConfig],
    tmp_path: Path,
    contents: Contents,
    hold: Path,
) -> None:
    cluster.add_worker()
    config = configure(policies='"slow.py:factory"', more="seeds = [1, 2]\n")

    def emit(event: CampaignEvent) -> None:
        if isinstance(event, StateTested) and cluster.scheduler.poll() is None:
            cluster.scheduler.kill()
            cluster.scheduler.wait()

    with Workspace.create(tmp_path / "w.plumb") as store:
        executor = make_executor(f"dask:{cluster.address}")
        with pytest.raises(WorkerLostError, match="all results so far are kept") as caught:
            run(config, store, RecordingLink(hear=emit), executor=executor)
        assert "resume there or on this machine" in caught.value.hint
        (campaign,) = store.campaigns()
        assert campaign.status == "stopped"
        assert store.pool_states(campaign.id) > 0
        hold.unlink()
        assert run(config, store, executor=make_executor("local:2"), resume=True).finished
        resumed = contents(store)
    with Workspace.create(tmp_path / "local.plumb") as store:
        assert run(config, store, executor=InThreads(2)).finished
        assert contents(store) == resumed


def test_limits_hold_on_a_cluster_as_well(
    cluster: Cluster, configure: Callable[..., CampaignConfig], tmp_path: Path
) -> None:
    cluster.add_worker()
    (tmp_path / "hoarder.py").write_text(HOARDER)
    more = "[fuzzing]\nsize = 100000\n[limits]\nunit_megabytes = 160\n"
    config = configure(problems='"p3.pddl"', policies='"hoarder.py:factory"', more=more)
    with Workspace.create(tmp_path / "w.plumb") as store:
        assert run(config, store, executor=make_executor(f"dask:{cluster.address}")).finished
        (unit,) = store.units()
    assert unit.status == "finished"
    assert unit.statistics.limit == "stopped at its limit of 160 MB"
