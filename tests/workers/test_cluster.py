"""Campaigns and experiments on a Dask cluster on the loopback: what they find is the same as here.

Also when a worker is killed, and when they are stopped and taken up again.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from reference.bug_workspace import InThreads
from reference.dask_cluster import Cluster, wait_for
from reference.recording_link import RecordingLink

from engine.errors import UsageError
from engine.experiments.config_reader import preset_experiment
from engine.experiments.results import experiment_results
from engine.policies.consent import Consent
from engine.records.config import CampaignConfig, UnitLimits
from engine.records.events import (
    CampaignEvent,
    CampaignStatus,
    ExperimentAdvanced,
    StateTested,
    UnitFailed,
    UnitStopped,
)
from engine.records.experiment import Suite
from engine.usecases.campaign import run
from engine.usecases.experiment import resume_experiment, run_experiment
from engine.workers.supervisor import make_executor
from engine.workspace.workspace import Workspace

Contents = Callable[[Workspace], dict[str, list[Any]]]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("dask") / "cluster") as cluster:
        cluster.add_worker()
        cluster.add_worker()
        yield cluster


@pytest.fixture
def cluster_of_two(cluster: Cluster) -> str:
    """Its address."""
    return f"dask:{cluster.address}"


@pytest.fixture
def config(configure: Callable[..., CampaignConfig]) -> CampaignConfig:
    return configure(problems='"p1.pddl", "p2.pddl"', more="seeds = [1, 2]\n")


@pytest.fixture
def as_here(
    config: CampaignConfig,
    tmp_path: Path,
    contents: Contents,
    in_threads: Callable[[], InThreads],
) -> Callable[[Workspace], None]:
    """Asserts that a workspace holds what this machine alone finds."""
    with Workspace.create(tmp_path / "local.plumb") as store:
        assert run(config, store, executor=in_threads()).finished
        expected = contents(store)

    def check(store: Workspace) -> None:
        found = contents(store)
        assert {name: found[name] for name in expected} == expected

    return check


def test_a_cluster_finds_the_same_even_if_a_worker_dies(
    cluster: Cluster,
    cluster_of_two: str,
    config: CampaignConfig,
    tmp_path: Path,
    as_here: Callable[[Workspace], None],
) -> None:
    victim = cluster.workers.pop()
    seen: list[CampaignEvent] = []

    def emit(event: CampaignEvent) -> None:
        seen.append(event)
        if isinstance(event, StateTested) and victim.poll() is None:
            os.kill(victim.pid, signal.SIGKILL)
            victim.wait()

    with Workspace.create(tmp_path / "killed.plumb") as store:
        assert run(
            config, store, RecordingLink(hear=emit), executor=make_executor(cluster_of_two)
        ).finished
        assert victim.returncode == -signal.SIGKILL
        assert not [event for event in seen if isinstance(event, UnitFailed | UnitStopped)]
        as_here(store)
    cluster.add_worker()


def test_stopping_reaches_the_units_of_the_cluster(
    cluster: Cluster, cluster_of_two: str, configure: Callable[..., CampaignConfig], tmp_path: Path
) -> None:
    endless = configure(problems='"many-states.pddl"', more="[fuzzing]\nsize = 100000000\n")
    seen: list[CampaignEvent] = []

    def cancelled() -> bool:
        return any(isinstance(event, StateTested) for event in seen)

    with Workspace.create(tmp_path / "w.plumb") as store:
        end = run(
            endless,
            store,
            RecordingLink(hear=seen.append, cancelled=cancelled),
            executor=make_executor(cluster_of_two),
        )
        assert not end.finished
        assert [unit.status for unit in store.units()] == ["stopped"]
    wait_for(lambda: not _unit_processes(cluster))


def test_an_experiment_is_stopped_and_resumed_on_the_cluster(
    cluster_of_two: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problems = tuple(str(folder / name) for name in ("p1.pddl", "p2.pddl"))
    suite = Suite("loads", str(folder / "domain.pddl"), problems, ("builtin:hadd",))
    config = preset_experiment(
        "eisenhut-2023", [suite], scale=40, tables={"oracles": {"A*": "astar", "BMO": "bmo"}}
    )
    config = replace(config, only_solved=False, limits=UnitLimits())
    trust = Consent(to_all=True)
    path, local = tmp_path / "w.plumb", tmp_path / "local.plumb"
    for workspace in (path, local):
        with Workspace.create(workspace):
            pass
    link = RecordingLink(stops_at=lambda event: isinstance(event, ExperimentAdvanced))
    end = run_experiment(link, path, config, cluster_of_two, trust)
    assert end.status is CampaignStatus.STOPPED
    end = resume_experiment(RecordingLink(), path, end.experiment, cluster_of_two, trust)
    assert end.status is CampaignStatus.FINISHED
    monkeypatch.setattr("engine.usecases.experiment.make_executor", lambda _: InThreads(2))
    run_experiment(RecordingLink(), local, config, "local:2", trust)
    recalls = []
    for workspace in (path, local):
        with Workspace.open(workspace) as store:
            recalls.append(experiment_results(store, 1).tables[0])
    assert recalls[0] == recalls[1]
    assert recalls[0].rows[0][-1]  # something was found


def _unit_processes(cluster: Cluster) -> list[str]:
    """Of this cluster: other tests have theirs."""
    workers = {str(worker.pid) for worker in cluster.workers}
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace").split("\0")
            parent = path.with_name("stat").read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue  # it has ended meanwhile
        if "engine.workers.worker" in words and parent in workers:
            found.append(path.parent.name)
    return found


def test_no_scheduler_at_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.workers.cluster.PATIENCE", "0.3s")
    with pytest.raises(UsageError, match=r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:1'"):
        make_executor("dask:tcp://127.0.0.1:1")


def test_another_version_on_the_cluster_is_refused(
    cluster_of_two: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.workers.cluster.__version__", "99.0")
    with pytest.raises(UsageError, match=r"the cluster runs Plumbline .*, this machine runs 99\.0"):
        make_executor(cluster_of_two)
