"""The gate a unit passes between two steps: there it is paused, stopped, or out of time.

Stopping reaches into running kernels through the `Control`. Time in a pause does not count.
"""

from __future__ import annotations

import threading
import time

from engine.errors import CancelledError
from engine.native.control import Control


class Gate:
    """Used by the unit's thread; `stop`, `pause` and `go_on` may be called by any other."""

    def __init__(self, seconds_limit: float | None = None) -> None:
        self.control = Control()
        self.expired = False
        self._open = threading.Event()
        self._open.set()
        self._lock = threading.Lock()
        self._started = time.monotonic()
        self._paused_at: float | None = None
        self._paused_seconds = 0.0
        self._limit = seconds_limit
        if seconds_limit is not None:
            self._watch(seconds_limit)

    @property
    def seconds(self) -> float:
        with self._lock:
            now = self._paused_at if self._paused_at is not None else time.monotonic()
            return now - self._started - self._paused_seconds

    def stop(self) -> None:
        self.control.cancel()
        self.go_on()

    def pause(self) -> None:
        with self._lock:
            if self._paused_at is None:
                self._paused_at = time.monotonic()
                self._open.clear()

    def go_on(self) -> None:
        with self._lock:
            if self._paused_at is not None:
                self._paused_seconds += time.monotonic() - self._paused_at
                self._paused_at = None
            self._open.set()

    def cancelled(self) -> bool:
        """Whether to stop; waits here while paused."""
        self._open.wait()
        return self.control.cancelled

    def check(self) -> None:
        if self.cancelled():
            raise CancelledError

    def _watch(self, seconds: float) -> None:
        timer = threading.Timer(seconds, self._time_is_up)
        timer.daemon = True
        timer.start()

    def _time_is_up(self) -> None:
        assert self._limit is not None
        left = self._limit - self.seconds
        if left > 0:  # there was a pause
            self._watch(max(left, 0.05))
        else:
            self.expired = True
            self.stop()
