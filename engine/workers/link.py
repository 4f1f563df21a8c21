"""What work sees of its caller: where to report, and whether to stop.

A use case is a module-level function whose first parameter is a `Link`. The window runs it in a
process of its own, the command line in its only one; tests record what it says.
"""

from __future__ import annotations

import math
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from engine.errors import CancelledError, LimitReachedError
from engine.native.control import Control
from engine.workers.limits import NO_LIMITS, ProcessLimits, used_megabytes

LOOK_SECONDS = 0.05
"""How often limits are checked."""
AT_LIMIT = "stopped at its limit of"
"""Begins the message of work that has reached a limit."""


@dataclass(frozen=True, slots=True)
class JobProgress:
    """`done` of `total` in whatever unit the work counts; without a total the end is unknown."""

    done: float
    total: float | None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why work failed; `details` is for reading at length and for copying."""

    message: str
    hint: str = ""
    details: str = ""
    expected: bool = True  # False: an internal error, with the traceback in the details

    @property
    def text(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


def unexpected(message: str) -> Failure:
    """The exception that is being handled, as an internal error."""
    return Failure(
        f"internal error: {message}",
        "please report it and include the details",
        traceback.format_exc(),
        expected=False,
    )


_given_up: ContextVar[Callable[[], bool]] = ContextVar("given_up", default=lambda: False)


@contextmanager
def giving_up_when(cancelled: Callable[[], bool]) -> Iterator[None]:
    """Let those give up who wait for a program of others in here, such as a plug-in."""
    token = _given_up.set(cancelled)
    try:
        yield
    finally:
        _given_up.reset(token)


def check_given_up() -> None:
    """Asked again and again by who waits; raises `CancelledError`."""
    if _given_up.get()():
        raise CancelledError


class Link:
    """Safe to use from any thread. This one reports to nothing; subclasses override it."""

    @property
    def control(self) -> Control:
        """Controls running kernels; cancelled as soon as the work is to stop."""
        return Control()

    def emit(self, event: object) -> None:
        """Tell what happened; events arrive in order, several at once."""

    def progress(self, done: float, total: float | None = None, text: str = "") -> None:
        """Tell how far it is; only the newest report of a moment arrives."""

    def cancelled(self) -> bool:
        """Whether the work is to stop; waits while it is paused."""
        return False

    def paused(self) -> bool:
        """Whether the work is to wait."""
        return False

    def check(self) -> None:
        """Raise `CancelledError` if the work is to stop."""
        if self.cancelled():
            raise CancelledError


NULL_LINK = Link()
"""For work that runs to its end without reporting."""


class InnerLink(Link):
    """The link of work within other work: stops and pauses with it, reports what it overrides."""

    def __init__(self, outer: Link) -> None:
        self._outer = outer

    @property
    def control(self) -> Control:
        return self._outer.control

    def cancelled(self) -> bool:
        return self._outer.cancelled()

    def paused(self) -> bool:
        return self._outer.paused()


class TimedLink(InnerLink):
    """The link of work that also stops at an `end` of the monotonic clock."""

    def __init__(self, outer: Link, end: float = math.inf) -> None:
        super().__init__(outer)
        self._end = end

    @property
    def seconds_left(self) -> float | None:
        return None if self._end == math.inf else max(self._end - time.monotonic(), 0.0)

    def part(self, share: float) -> TimedLink:
        """Return a link that ends after a share of the time that is left."""
        left = self.seconds_left
        end = self._end if left is None else time.monotonic() + share * left
        return TimedLink(self._outer, end)

    def cancelled(self) -> bool:
        return super().cancelled() or self.seconds_left == 0

    def check(self) -> None:
        """Raise `LimitReachedError` if the time is over."""
        self._outer.check()
        if self.seconds_left == 0:
            raise LimitReachedError("the time limit was reached")


class WorkerLink(Link):
    """Pauses, stops and limits of work. Time in a pause does not count.

    `stop`, `pause` and `resume` may be called by any thread.
    """

    def __init__(self, limits: ProcessLimits = NO_LIMITS) -> None:
        self.at_limit = threading.Event()
        self.limit = ""  # the one that was reached, in words
        self._control = Control()
        self._open = threading.Event()
        self._open.set()
        self._lock = threading.Lock()
        self._started = time.monotonic()
        self._paused_at: float | None = None
        self._paused_seconds = 0.0
        self._limits = limits
        self._closed = threading.Event()
        if limits.seconds is not None or limits.megabytes is not None:
            threading.Thread(target=self._watch, name="limits", daemon=True).start()

    @property
    def control(self) -> Control:
        return self._control

    @property
    def seconds(self) -> float:
        """How long it has worked."""
        with self._lock:
            now = self._paused_at if self._paused_at is not None else time.monotonic()
            return now - self._started - self._paused_seconds

    def stop(self) -> None:
        self._control.cancel()
        self.resume()

    def pause(self) -> None:
        with self._lock:
            if self._paused_at is None:
                self._paused_at = time.monotonic()
                self._open.clear()

    def resume(self) -> None:
        with self._lock:
            if self._paused_at is not None:
                self._paused_seconds += time.monotonic() - self._paused_at
                self._paused_at = None
            self._open.set()

    def cancelled(self) -> bool:
        self._open.wait()
        return self._control.cancelled

    def paused(self) -> bool:
        return not self._open.is_set()

    def close(self) -> None:
        """The work is over: its limits need no watching."""
        self._closed.set()

    def memory_is_over(self) -> bool:
        """Whether memory was refused because of the limit; to be called when it was."""
        if self._limits.megabytes is None:
            return False
        self._reach(f"{self._limits.megabytes} MB")
        return True

    def _watch(self) -> None:
        seconds, megabytes = self._limits.seconds, self._limits.megabytes
        while not self._closed.wait(LOOK_SECONDS):
            if seconds is not None and self.seconds >= seconds:
                self._reach(f"{seconds:g} s")
                return
            if megabytes is not None and used_megabytes() >= megabytes:
                self._reach(f"{megabytes} MB")
                return

    def _reach(self, limit: str) -> None:
        self.limit = self.limit or f"{AT_LIMIT} {limit}"
        self.at_limit.set()
        self.stop()
