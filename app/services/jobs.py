"""Where background work meets Qt, and the only place: worker processes as signals.

`Jobs.start` runs a use case in a process of its own, watched by a thread of its own. What the
thread reports is queued to the window's thread and becomes the signals of a `Job`.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_type_hints

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from app.services.messages import Messages
from engine.workers.channel import Call, Command, End, Events, unpack
from engine.workers.limits import ProcessLimits
from engine.workers.link import Failure, JobProgress
from engine.workers.supervisor import Supervisor

LIMITS = ProcessLimits(niceness=5)
"""Where cores are scarce, jobs let the window go first."""
WINDOW_SECONDS = 30.0
"""Seconds of progress that the estimate uses; older progress says little."""
EARLY_SECONDS, EARLY_SHARE = 5.0, 0.05
"""No estimate before this: work begins with what it does only once."""
ESTIMATE_MILLISECONDS = 1000
"""How often the time left is estimated while no progress is reported."""


class Eta:
    """Estimates the time left from the progress so far."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, float]] = deque()
        self._total: float | None = None

    def update(self, now: float, done: float, total: float | None) -> None:
        shrunk = self._total is not None and (total is None or total < self._total)
        self._total = total
        if shrunk or (self._seen and done < self._seen[-1][1]):
            self._seen.clear()  # a new stage, or less to do: counts from the start
        self._seen.append((now, done))
        while len(self._seen) > 2 and now - self._seen[1][0] > WINDOW_SECONDS:
            self._seen.popleft()

    def seconds(self, now: float) -> float | None:
        if self._total is None or len(self._seen) < 2:
            return None
        (first, before), (_, done) = self._seen[0], self._seen[-1]
        if done <= before or done >= self._total or now <= first:
            return None  # it stands still, or only uncounted work is left
        if now - first < EARLY_SECONDS and done - before < EARLY_SHARE * self._total:
            return None
        return (self._total - done) * (now - first) / (done - before)


def in_words(seconds: float) -> str:
    """Return a short duration: `8 s`, `3 min`, `2 h 10 min`."""
    if seconds < 59.5:
        return f"{max(1, round(seconds))}\u202fs"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes}\u202fmin"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}\u202fh {minutes}\u202fmin" if minutes else f"{hours}\u202fh"


__all__ = ["Failure", "Job", "JobProgress", "Jobs"]


@dataclass(frozen=True, slots=True)
class _Batch:
    events: list[object]
    progress: JobProgress | None


@dataclass(frozen=True, slots=True)
class _Finished:
    result: object


class Job(QObject):
    """One piece of work under way. After `stop` it ends with `stopped`, unless it fails first."""

    events = Signal(list)  # what the work emitted since the last batch, ten times a second at most
    progressed = Signal(object)  # JobProgress, or only the time left has changed
    finished = Signal(object)  # what the work returned
    failed = Signal(object)  # Failure
    paused = Signal()  # or resumed
    stop_requested = Signal()
    stopped = Signal()
    ended = Signal()  # always the last, after one of the three above

    _reported = Signal(object)

    def __init__(
        self,
        title: str,
        work: Callable[..., object],
        arguments: tuple[object, ...],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.title = title
        self.progress: JobProgress | None = None
        self.is_paused = False
        self._eta = Eta()
        self._seconds_left: float | None = None
        self._clock = QTimer(self)
        self._clock.setInterval(ESTIMATE_MILLISECONDS)
        self._clock.timeout.connect(self._estimate)
        self._reported.connect(self._take, Qt.ConnectionType.QueuedConnection)
        report = _decoding(get_type_hints(work).get("return", Any), self._reported.emit)
        self._supervisor = Supervisor(Call.of(work, *arguments), report, LIMITS)

    def begin(self) -> None:
        self._supervisor.start()
        self._clock.start()

    def stop(self) -> None:
        """Ask it to stop; after 1.5 s kill its process group."""
        self._supervisor.order(Command.STOP)
        self.stop_requested.emit()

    @property
    def stopping(self) -> bool:
        return self._supervisor.stopping

    def pause(self, paused: bool) -> None:
        """Pause or resume it; works only for work that asks its link."""
        if paused != self.is_paused:
            self.is_paused = paused
            self._eta = Eta()  # progress before the pause must not count the pause
            self._seconds_left = None
            self._supervisor.order(Command.PAUSE if paused else Command.RESUME)
            self.paused.emit()

    def seconds_left(self) -> float | None:
        """Return the time left as it was estimated last, so that all views show the same."""
        return None if self.is_paused else self._seconds_left

    @property
    def pid(self) -> int | None:
        """The number of the worker process, once it has been started."""
        return self._supervisor.pid

    def join(self) -> None:
        """Block until the process has ended, at the very end of the program."""
        self._supervisor.join()

    @Slot(object)
    def _take(self, report: object) -> None:
        match report:
            case _Batch(events, progress):
                if events:
                    self.events.emit(events)
                if progress is not None:
                    self.progress = progress
                    self._eta.update(time.monotonic(), progress.done, progress.total)
                    self._estimate()
                return
            case _Finished(result):
                self.finished.emit(result)
            case Failure():
                self.failed.emit(report)
            case _:
                self.stopped.emit()
        self._clock.stop()
        self._supervisor.join()  # it has nothing left to do
        self.ended.emit()

    @Slot()
    def _estimate(self) -> None:
        """Estimate the time left and tell all views at once."""
        if self.progress is not None:
            self._seconds_left = self._eta.seconds(time.monotonic())
            self.progressed.emit(self.progress)


def _decoding(
    result: Any, report: Callable[[_Batch | _Finished | Failure | None], None]
) -> Callable[[Events | End], None]:
    """Decode messages in the thread that receives them, to keep the window's thread free."""

    def receive(message: Events | End) -> None:
        if isinstance(message, Events):
            report(_Batch(list(map(unpack, message.events)), message.progress))
        elif message.result is not None:
            report(_Finished(unpack(message.result, plain=result)))
        else:
            report(message.failure)

    return receive


class Jobs(QObject):
    """The jobs of one window."""

    changed = Signal()  # a job began or ended

    def __init__(self, messages: Messages, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._messages = messages
        self._quiet: set[Job] = set()
        self.running: list[Job] = []
        self._ended_pids: set[int] = set()

    def start(
        self, title: str, work: Callable[..., object], *arguments: object, banner: bool = True
    ) -> Job:
        """Start work. With `banner` a failure is shown; without it, the caller shows it."""
        job = Job(title, work, arguments, self)
        if not banner:
            self._quiet.add(job)
        job.failed.connect(self._tell_failure)
        job.ended.connect(self._remove)
        self.running.append(job)
        job.begin()
        self.changed.emit()
        return job

    @property
    def pids(self) -> set[int]:
        """Of all jobs, also of those that have ended: what is known of them may be older."""
        return self._ended_pids | {job.pid for job in self.running if job.pid is not None}

    def stop_all(self, wait: bool = False) -> None:
        """Stop all jobs; with `wait`, return when their processes are gone (after 2 s at most)."""
        for job in self.running:
            job.stop()
        if wait:
            for job in self.running:
                job.join()

    @Slot(object)
    def _tell_failure(self, failure: Failure) -> None:
        job = self.sender()
        if isinstance(job, Job) and job not in self._quiet:
            self._messages.error(f"{job.title}: {failure.text}", failure.details)

    @Slot()
    def _remove(self) -> None:
        job = self.sender()
        assert isinstance(job, Job)
        self.running.remove(job)
        if job.pid is not None:
            self._ended_pids.add(job.pid)
        self._quiet.discard(job)
        job.setParent(None)  # it lives as long as it is referenced
        self.changed.emit()
