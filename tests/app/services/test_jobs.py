"""Background work: events in order, every kind of end, and nothing left behind."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Signal
from pytestqt.qtbot import QtBot
from reference import background_work as works
from reference.screens import PATIENCE

from app.services.context import Context
from app.services.jobs import Failure, Job, JobProgress, Jobs
from engine.logs import log_path

pytestmark = pytest.mark.usefixtures("callable_works")


class Heard(QObject):
    """Writes down what a job says."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self.events: list[object] = []
        self.batches = 0
        self.progress: list[JobProgress] = []
        self.end: list[object] = []
        job.events.connect(self.on_events)
        job.progressed.connect(self.progress.append)
        job.finished.connect(lambda result: self.end.append(("finished", result)))
        job.failed.connect(lambda failure: self.end.append(("failed", failure)))
        job.stopped.connect(lambda: self.end.append(("stopped",)))
        job.ended.connect(lambda: self.end.append(("ended",)))

    def on_events(self, events: list[object]) -> None:
        self.events += events
        self.batches += 1

    def failure(self) -> Failure:
        (name, failure), ended = self.end
        assert (name, ended) == ("failed", ("ended",))
        assert isinstance(failure, Failure)
        return failure


def run(qtbot: QtBot, jobs: Jobs, work: object, *arguments: object) -> Heard:
    heard = Heard(jobs.start("Work", work, *arguments))
    qtbot.waitUntil(lambda: ("ended",) in heard.end, timeout=PATIENCE)
    return heard


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_events_come_in_order_and_in_few_batches(qtbot: QtBot, context: Context) -> None:
    heard = run(qtbot, context.jobs, works.count, 2000)
    assert heard.events == list(range(2000))
    assert heard.batches < 500
    assert heard.progress[-1] == JobProgress(2000, 2000, "2000 of 2000")
    assert heard.end == [("finished", 2000), ("ended",)]
    assert not context.jobs.running
    assert not context.messages.history


def test_work_is_stopped_when_it_listens(qtbot: QtBot, context: Context) -> None:
    job = context.jobs.start("Waiting", works.wait_to_be_stopped)
    heard = Heard(job)
    qtbot.waitUntil(lambda: heard.events == ["started"], timeout=PATIENCE)
    job.stop()
    assert job.stopping
    qtbot.waitUntil(lambda: bool(heard.end), timeout=PATIENCE)
    assert heard.end == [("stopped",), ("ended",)]


def test_work_is_killed_with_its_children_when_it_does_not_listen(
    qtbot: QtBot, context: Context
) -> None:
    job = context.jobs.start("Deaf", works.never_listen)
    heard = Heard(job)
    qtbot.waitUntil(lambda: bool(heard.events), timeout=PATIENCE)
    (child,) = heard.events
    assert isinstance(child, int)
    assert is_running(child)
    job.stop()
    qtbot.waitUntil(lambda: bool(heard.end), timeout=PATIENCE)
    assert heard.end == [("stopped",), ("ended",)]
    qtbot.waitUntil(lambda: not is_running(child), timeout=PATIENCE)


def test_a_job_can_be_stopped_before_its_process_runs(qtbot: QtBot, context: Context) -> None:
    job = context.jobs.start("Waiting", works.wait_to_be_stopped)
    heard = Heard(job)
    job.stop()
    qtbot.waitUntil(lambda: bool(heard.end), timeout=PATIENCE)
    assert heard.end == [("stopped",), ("ended",)]


def test_what_cannot_be_cleaned_up_does_not_spoil_the_result(
    qtbot: QtBot, context: Context
) -> None:
    heard = run(qtbot, context.jobs, works.leave_somebody_behind)
    assert heard.end == [("finished", "done"), ("ended",)]


def test_work_that_asks_waits_and_continues(qtbot: QtBot, context: Context) -> None:
    job = context.jobs.start("Waiting", works.wait_while_paused)
    heard, told = Heard(job), []
    job.paused.connect(lambda: told.append(job.is_paused))
    job.pause(True)
    job.pause(True)
    qtbot.waitUntil(lambda: heard.events == ["waits"], timeout=PATIENCE)
    assert job.seconds_left() is None
    assert heard.end == []
    job.pause(False)
    qtbot.waitUntil(lambda: bool(heard.end), timeout=PATIENCE)
    assert told == [True, False]


def test_all_views_show_the_same_time_left(qtbot: QtBot, context: Context) -> None:
    job = context.jobs.start("Stalled", works.stall_half_way)
    told: list[float | None] = []
    job.progressed.connect(lambda _: told.append(job.seconds_left()))
    qtbot.waitUntil(lambda: len(set(told) - {None}) > 3, timeout=PATIENCE)  # it grows
    assert job.seconds_left() == told[-1]  # until all views are told again
    job.stop()
    qtbot.waitUntil(lambda: not context.jobs.running, timeout=PATIENCE)


def test_a_users_error_is_reported_with_its_place_and_hint(qtbot: QtBot, context: Context) -> None:
    failure = run(qtbot, context.jobs, works.use_wrong_pddl).failure()
    assert failure.expected
    assert failure.message == "domain.pddl:3:7: unknown predicate 'onn'"
    assert failure.hint == "did you mean 'on'?"
    (message,) = context.messages.history
    assert message.level == "error"
    assert message.text.startswith("Work: domain.pddl:3:7")


def test_a_defect_is_reported_with_its_traceback(qtbot: QtBot, context: Context) -> None:
    failure = run(qtbot, context.jobs, works.meet_a_defect).failure()
    assert not failure.expected
    assert "ZeroDivisionError" in failure.message
    assert "in meet_a_defect" in failure.details
    (message,) = context.messages.history
    assert message.details == failure.details
    logged = log_path().read_text()
    assert "engine.workers.worker: internal error in meet_a_defect" in logged
    assert "ZeroDivisionError: a defect" in logged


def test_a_result_that_cannot_be_sent_is_a_failure(qtbot: QtBot, context: Context) -> None:
    failure = run(qtbot, context.jobs, works.return_a_function).failure()
    assert "cannot be sent" in failure.message


def test_who_handles_failures_gets_no_banner(qtbot: QtBot, context: Context) -> None:
    heard = Heard(context.jobs.start("Work", works.use_wrong_pddl, banner=False))
    qtbot.waitUntil(lambda: bool(heard.end), timeout=PATIENCE)
    assert heard.failure().details
    assert not context.messages.history


def test_a_worker_killed_from_outside_is_reported(qtbot: QtBot, context: Context) -> None:
    job = context.jobs.start("Deaf", works.never_listen)
    heard = Heard(job)
    qtbot.waitUntil(lambda: bool(heard.events), timeout=PATIENCE)
    (child,) = heard.events
    assert isinstance(child, int)
    assert job.pid is not None
    os.kill(job.pid, signal.SIGKILL)
    qtbot.waitUntil(lambda: bool(heard.end), timeout=PATIENCE)
    assert "killed" in heard.failure().message
    assert "Deaf: the worker was killed" in context.messages.history[0].text
    qtbot.waitUntil(lambda: not is_running(child), timeout=PATIENCE)


def test_a_worker_that_dies_leaves_its_last_words(qtbot: QtBot, context: Context) -> None:
    failure = run(qtbot, context.jobs, works.print_and_die).failure()
    assert "exit code 7" in failure.message
    assert failure.details == "my last words"


def test_a_full_disk_is_reported(qtbot: QtBot, context: Context) -> None:
    path = context.document.path
    failure = run(qtbot, context.jobs, works.fill_the_disk, path).failure()
    assert failure.expected
    assert "disk" in failure.message
    assert context.document.store.log() == []  # all or nothing
    assert context.document.store.damage() == ""


def test_workers_use_one_thread_for_torch(qtbot: QtBot, context: Context) -> None:
    heard = run(qtbot, context.jobs, works.threads_of_torch)
    assert heard.end[0] == ("finished", 1)


def test_several_jobs_run_at_once(qtbot: QtBot, context: Context) -> None:
    changes: list[int] = []
    context.jobs.changed.connect(lambda: changes.append(len(context.jobs.running)))
    jobs = [context.jobs.start(f"Work {n}", works.wait_to_be_stopped) for n in range(2)]
    assert context.jobs.running == jobs
    context.jobs.stop_all(wait=True)
    qtbot.waitUntil(lambda: not context.jobs.running, timeout=PATIENCE)
    assert changes == [1, 2, 1, 0]


def test_emitting_keeps_the_references_of_true(qapp: object) -> None:
    """One version of PySide6 lost one per signal and then took the interpreter down with it."""

    class Sender(QObject):
        fired = Signal(bool)

    sender = Sender()
    before = sys.getrefcount(True)
    for _ in range(100):
        sender.fired.emit(True)
    assert sys.getrefcount(True) > before - 50


def test_arguments_that_cannot_be_sent_are_a_defect(context: Context) -> None:
    with pytest.raises(TypeError, match="cannot be sent to another process"):
        context.jobs.start("Work", works.count, lambda: 3)
    assert not context.jobs.running


def test_arguments_of_a_wrong_type_are_a_defect(qtbot: QtBot, context: Context) -> None:
    failure = run(qtbot, context.jobs, works.count, "many").failure()
    assert not failure.expected
    assert "the call cannot be made" in failure.message


@pytest.mark.parametrize("name", ["nobody", "system"])
def test_only_declared_functions_are_called(
    qtbot: QtBot, context: Context, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither what is not there, nor what a module has imported from elsewhere."""
    monkeypatch.setattr(works.count, "__qualname__", name)
    failure = run(qtbot, context.jobs, works.count, 1).failure()
    assert "is not a function to call from another process" in failure.message


def test_an_event_that_cannot_be_sent_is_a_defect(qtbot: QtBot, context: Context) -> None:
    failure = run(qtbot, context.jobs, works.emit_a_function).failure()
    assert not failure.expected
    assert "an event cannot be sent" in failure.message
