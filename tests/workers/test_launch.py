"""Executors that do not do as they are told: a campaign comes to its end nevertheless."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

from engine.campaign.config_reader import CampaignConfig
from engine.records.events import Event, UnitStarted
from engine.usecases.campaign import run
from engine.workers.channel import Hello, Report, Ticket
from engine.workers.launch import WorkerEnd, make_executor
from engine.workers.worker import serve
from engine.workspace.workspace import Workspace

Configure = Callable[..., CampaignConfig]


def statuses(store: Workspace) -> list[str]:
    return [unit.status for unit in store.units()]


def test_a_process_that_never_says_hello_is_ended(
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
        assert not run(configure(), store, cancelled=sign.exists, executor=executor).finished
        assert statuses(store) == ["stopped"]


class Elsewhere(Executor):
    """As with Dask, what runs can be cancelled, which ends nothing."""

    def __init__(self, work: Callable[[Ticket, Future[WorkerEnd]], None]) -> None:
        self._work = work

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        threading.Thread(target=self._work, args=(*args, future), daemon=True).start()
        return future


def test_a_unit_that_is_stopped_without_a_word_counts_as_stopped(
    configure: Configure, tmp_path: Path
) -> None:
    def work(ticket: Ticket, future: Future[WorkerEnd]) -> None:
        del future
        with ticket.connect() as connection:
            connection.send(Hello(ticket.unit))
            connection.recv()
            connection.send(Report((UnitStarted(ticket.unit, "p", "y", 0),)))
            connection.recv()  # that it is to stop

    seen: list[Event] = []

    def has_started() -> bool:
        return any(isinstance(event, UnitStarted) for event in seen)

    with Workspace.create(tmp_path / "w.plumb") as store:
        run(configure(), store, seen.append, has_started, executor=Elsewhere(work))
        assert statuses(store) == ["stopped"]


def test_a_unit_that_has_told_its_end_is_done_whoever_else_does_not_tell(
    configure: Configure, tmp_path: Path
) -> None:
    """A scheduler may be lost or hang just then."""

    def hang(ticket: Ticket, future: Future[WorkerEnd]) -> None:
        del future
        serve(ticket)

    def lose(ticket: Ticket, future: Future[WorkerEnd]) -> None:
        serve(ticket)
        future.cancel()

    for work in (hang, lose):
        with Workspace.create(tmp_path / f"{work.__name__}.plumb") as store:
            assert run(configure(), store, executor=Elsewhere(work)).finished
            assert statuses(store) == ["finished"]
