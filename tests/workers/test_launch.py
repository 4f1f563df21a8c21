"""Processes and executors that do not do as they are told: a campaign ends nevertheless."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pytest
from reference.recording_link import RecordingLink

from engine.records.config import CampaignConfig
from engine.records.events import CampaignEvent, UnitStarted
from engine.usecases.campaign import run
from engine.workers.channel import Events, Take, pack
from engine.workers.launch import worker_environment
from engine.workers.server import RemoteExecutor, WorkerAddress, make_call
from engine.workers.supervisor import make_executor
from engine.workspace.workspace import Workspace

Configure = Callable[..., CampaignConfig]


def statuses(store: Workspace) -> list[str]:
    return [unit.status for unit in store.units()]


def test_a_process_that_never_takes_its_call_is_ended(
    configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be suspended, or hang while it is loaded."""
    sign = tmp_path / "begun"
    text = f"import time\nopen({str(sign)!r}, 'w').close()\ntime.sleep(1e6)\n"
    (tmp_path / "sleeper.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr("engine.workers.launch.WORKER", "sleeper")
    with Workspace.create(tmp_path / "w.plumb") as store:
        executor = make_executor("local:1")
        assert not run(
            configure(), store, RecordingLink(cancelled=sign.exists), executor=executor
        ).finished
        assert statuses(store) == ["stopped"]


def test_code_of_others_sees_no_secrets(tmp_path: Path) -> None:
    harmless = {
        "PATH": "/bin",
        "HOME": "/home/me",
        "LANG": "C",
        "LC_ALL": "C",
        "XDG_CACHE_HOME": "/c",
        "PLUMBLINE_CACHE_DIR": "/c",
        "OMP_NUM_THREADS": "3",
    }
    secret = {
        "AWS_SECRET_ACCESS_KEY": "x",
        "GITHUB_TOKEN": "x",
        "SSH_AUTH_SOCK": "x",
        "DASK_GATEWAY__AUTH__PASSWORD": "x",
        "MY_PATH": "x",
        "PATH_TO_KEY": "x",
    }
    seen = worker_environment({**harmless, **secret}, tmp_path, confined=True)
    assert seen.keys() - {"PYTHONPATH", "TMPDIR"} == harmless.keys()
    assert {name: seen[name] for name in harmless} == harmless
    assert seen["TMPDIR"] == str(tmp_path)
    assert (
        secret.items()
        <= worker_environment({**harmless, **secret}, tmp_path, confined=False).items()
    )


class Elsewhere(RemoteExecutor):
    """As with Dask, what runs can be cancelled, which ends nothing."""

    def __init__(self, work: Callable[[WorkerAddress, Future[str]], None]) -> None:
        super().__init__(("127.0.0.1", 0))
        self._work = work

    def _send_away(self, address: WorkerAddress) -> Future[str]:
        future: Future[str] = Future()
        threading.Thread(target=self._work, args=(address, future), daemon=True).start()
        return future


def test_a_unit_that_is_stopped_without_a_word_counts_as_stopped(
    configure: Configure, tmp_path: Path
) -> None:
    def work(address: WorkerAddress, future: Future[str]) -> None:
        del future
        with address.connect() as connection:
            connection.send(Take(address.number))
            connection.receive()
            connection.send(Events((pack(UnitStarted(1, "p", "y", 0)),)))
            connection.receive()  # that it is to stop

    seen: list[CampaignEvent] = []

    def has_started() -> bool:
        return any(isinstance(event, UnitStarted) for event in seen)

    with Workspace.create(tmp_path / "w.plumb") as store:
        run(
            configure(),
            store,
            RecordingLink(hear=seen.append, cancelled=has_started),
            executor=Elsewhere(work),
        )
        assert statuses(store) == ["stopped"]


def test_a_unit_that_has_reported_its_end_is_done_even_if_others_stay_silent(
    configure: Configure, tmp_path: Path
) -> None:
    """A scheduler may be lost or hang just then."""

    def hang(address: WorkerAddress, future: Future[str]) -> None:
        del future
        make_call(address)

    def lose(address: WorkerAddress, future: Future[str]) -> None:
        make_call(address)
        future.cancel()

    for work in (hang, lose):
        with Workspace.create(tmp_path / f"{work.__name__}.plumb") as store:
            assert run(configure(), store, executor=Elsewhere(work)).finished
            assert statuses(store) == ["finished"]
