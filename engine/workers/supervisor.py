"""One thread that owns one worker: starts it, passes on what it says, ends it. Many: an executor.

Knows nothing of Qt. A worker that is asked to stop and does not is killed with its whole process
group; one that dies by itself is reported, with its last words.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from engine.errors import UsageError
from engine.records.events import ClusterSize
from engine.workers.channel import Call, ChannelError, Command, End, Events, Order, unpack
from engine.workers.launch import Worker, start
from engine.workers.limits import NO_LIMITS, ProcessLimits
from engine.workers.link import Failure, unexpected
from engine.workers.program import signal_name

BATCH_SECONDS = 0.1
GRACE_SECONDS = 1.5
"""How long work may take to stop before it is killed."""
MAX_WAITING = 2
"""Messages of each unit that wait in an inbox."""
_MAX_DETAILS = 4000

Report = Callable[[Events | End], None]


class Supervisor(threading.Thread):
    """Calls `report` from its own thread: events first, then exactly one end."""

    def __init__(
        self,
        call: Call,
        report: Report,
        limits: ProcessLimits = NO_LIMITS,
        *,
        fresh: bool = False,
    ) -> None:
        super().__init__(name=f"supervisor of {call.function}", daemon=True)
        self._call, self._report, self._limits, self._fresh = call, report, limits, fresh
        self._orders: deque[Order] = deque()
        self._kill_at = float("inf")
        self.pid: int | None = None

    def order(self, command: Command) -> None:
        """Tell the work, also before it has begun; a stop gives it a while to end."""
        if command is Command.STOP and not self.stopping:
            self._kill_at = time.monotonic() + GRACE_SECONDS
        self._orders.append(Order(command))

    @property
    def stopping(self) -> bool:
        return self._kill_at < float("inf")

    def kill(self) -> None:
        """End it without asking."""
        self._kill_at = 0.0

    def run(self) -> None:
        try:
            self._report(End(stopped=True) if self.stopping else self._supervise())
        except Exception as error:  # a message that its receiver does not understand, for example
            self._report(End(failure=unexpected(f"{type(error).__name__}: {error}")))
        del self._report  # the receiver must not be kept alive, and deleted, by this thread

    def _supervise(self) -> End:
        try:
            worker = start(self._call, self._limits, fresh=self._fresh)
        except OSError as error:
            message = f"the worker could not be started: {error}"
            return End(failure=Failure(message, "check that memory and disk space are free"))
        self.pid = worker.pid
        try:
            end = self._follow(worker)
        finally:
            return_code = worker.close()
        if self.stopping and (end is None or end.failure is None):
            return End(stopped=True)
        return end or End(failure=_lost(return_code, worker.output.last_lines()))

    def _follow(self, worker: Worker) -> End | None:
        """Follow the work until it ends; None if its process dies or has to be killed."""
        gathered = _Gathered(self._report)
        try:
            while time.monotonic() < self._kill_at:
                while self._orders:
                    worker.post(self._orders.popleft())
                messages = worker.pump(BATCH_SECONDS)
                self.pid = worker.pid
                for message in messages:
                    if isinstance(message, End):
                        worker.wait(GRACE_SECONDS)  # to clean up after itself
                        return message
                    if not isinstance(message, Events):
                        raise ChannelError(f"the worker sent a {type(message).__name__}")
                    gathered.add(message)
                gathered.report_if_due()
        except EOFError:
            worker.wait(GRACE_SECONDS)
        finally:
            gathered.report()
        return None


class _Gathered:
    """What arrived since the last report, so that there are at most ten a second."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._messages: list[Events] = []
        self._due = 0.0

    def add(self, message: Events) -> None:
        self._messages.append(message)

    def report_if_due(self) -> None:
        if time.monotonic() >= self._due:
            self.report()

    def report(self) -> None:
        if self._messages:
            events = tuple(event for message in self._messages for event in message.events)
            progress = [message.progress for message in self._messages if message.progress]
            self._messages = []
            self._report(Events(events, progress[-1] if progress else None))
            self._due = time.monotonic() + BATCH_SECONDS


def _lost(return_code: int, printed: tuple[str, ...]) -> Failure:
    """Why a process ended before its work did."""
    if return_code == -signal.SIGKILL:
        message = "the worker was killed from outside, or the machine ran out of memory"
    elif return_code < 0:
        message = f"the worker was terminated by {signal_name(return_code)}"
    else:
        message = f"the worker ended with exit code {return_code}"
    hint = "everything saved so far is safe; start it again"
    return Failure(message, hint, "\n".join(printed)[-_MAX_DETAILS:])


class Executor(Protocol):
    """Makes calls in processes of their own, several at a time, here or elsewhere."""

    lost: bool  # the connection to the workers

    @property
    def size(self) -> ClusterSize | None:
        """How many workers there are now, if that is not for us to decide."""

    def submit(self, call: Call, limits: ProcessLimits, report: Report) -> None:
        """Make a call when there is a place for it; `report` may be called from any thread."""

    def order(self, command: Command) -> None:
        """Tell all calls, those that have not begun included."""

    def close(self) -> None:
        """End everything at once."""


class LocalExecutor:
    """Calls on this machine, at most `places` at a time."""

    lost = False
    size = None

    def __init__(self, places: int) -> None:
        self._pool = ThreadPoolExecutor(places, thread_name_prefix="supervisor")
        self._supervisors: dict[Supervisor, Future[None]] = {}

    def submit(self, call: Call, limits: ProcessLimits, report: Report) -> None:
        supervisor = Supervisor(call, report, limits)
        self._supervisors = {one: run for one, run in self._supervisors.items() if not run.done()}
        self._supervisors[supervisor] = self._pool.submit(supervisor.run)

    def order(self, command: Command) -> None:
        for supervisor in self._supervisors:
            supervisor.order(command)

    def close(self) -> None:
        for supervisor in self._supervisors:
            supervisor.kill()
        self._pool.shutdown()


class Inbox:
    """What many workers say, decoded by the threads that receive it.

    What is not taken soon enough waits in the workers. Each unit has a few places of its own, so
    that all are served in turn, however many there are and however fast one of them sends.
    """

    def __init__(self, kinds: frozenset[type]) -> None:
        self._kinds = kinds
        self._messages: SimpleQueue[tuple[int, list[Any] | End]] = SimpleQueue()
        self._places: defaultdict[int, threading.Semaphore] = defaultdict(
            lambda: threading.Semaphore(MAX_WAITING)
        )
        self._closed = False

    def put(self, unit: int, message: Events | End) -> None:
        if isinstance(message, End):
            self._messages.put((unit, message))
            return
        events = [unpack(event, self._kinds) for event in message.events]
        if any(event.unit not in (unit, None) for event in events):
            raise ChannelError("a unit sent an event of another one")
        while not self._places[unit].acquire(timeout=BATCH_SECONDS):
            if self._closed:
                return
        self._messages.put((unit, events))

    def take(self, seconds: float) -> Iterator[tuple[int, list[Any] | End]]:
        """Wait a while for the first."""
        with suppress(Empty):
            first = self._messages.get(timeout=seconds)
            rest = [self._messages.get_nowait() for _ in range(self._messages.qsize())]
            for unit, told in (first, *rest):
                if isinstance(told, End):
                    self._places.pop(unit, None)
                else:
                    self._places[unit].release()
                yield unit, told

    def close(self) -> None:
        self._closed = True


def usable_cores() -> int:
    """Those that this process may use, which may be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def make_executor(text: str) -> Executor:
    """The executor a user asks for: `local`, `local:N` or `dask:ADDRESS`."""
    if found := re.fullmatch(r"local(?::([1-9][0-9]{0,3}))?", text):
        return LocalExecutor(int(found[1] or usable_cores()))
    if found := re.fullmatch(r"dask:(\S+)", text):
        from engine.workers.cluster import ClusterExecutor

        return ClusterExecutor(found[1])
    raise UsageError(
        f"unknown executor '{text}'",
        hint="write local, local:N for N processes on this machine, or dask:ADDRESS for a cluster",
    )
