"""The gate a unit passes between two steps: there it is paused, stopped, or at its limit.

Stopping reaches into running kernels through the `Control`. Time in a pause does not count.
"""

from __future__ import annotations

import threading
import time

from engine.errors import CancelledError
from engine.native.control import Control
from engine.workers.limits import used_megabytes

LOOK_SECONDS = 0.05
"""How often the limits are looked at."""
AT_LIMIT = "stopped at its limit of"
"""What a unit says that has reached one begins like this."""


class Gate:
    """Used by the unit's thread; `stop`, `pause` and `resume` may be called by any other."""

    def __init__(
        self, seconds_limit: float | None = None, megabytes_limit: int | None = None
    ) -> None:
        self.control = Control()
        self.at_limit = threading.Event()
        self.limit = ""  # the one that was reached, in words
        self._open = threading.Event()
        self._open.set()
        self._lock = threading.Lock()
        self._started = time.monotonic()
        self._paused_at: float | None = None
        self._paused_seconds = 0.0
        self._seconds_limit, self._megabytes_limit = seconds_limit, megabytes_limit
        self._over = threading.Event()
        if seconds_limit is not None or megabytes_limit is not None:
            threading.Thread(target=self._watch, name="limits", daemon=True).start()

    @property
    def seconds(self) -> float:
        with self._lock:
            now = self._paused_at if self._paused_at is not None else time.monotonic()
            return now - self._started - self._paused_seconds

    def stop(self) -> None:
        self.control.cancel()
        self.resume()

    def close(self) -> None:
        """Nobody passes any more: the limits need no watching."""
        self._over.set()

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
        """Whether to stop; waits here while paused."""
        self._open.wait()
        return self.control.cancelled

    def check(self) -> None:
        if self.cancelled():
            raise CancelledError

    def memory_is_over(self) -> bool:
        """To be told when memory was refused; whether that is because of the limit."""
        if self._megabytes_limit is None:
            return False
        self._reach(f"{self._megabytes_limit} MB")
        return True

    def _watch(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            limit = self._seconds_limit
            if limit is not None and self.seconds >= limit:
                self._reach(f"{limit:g} s")
                return
            if self._megabytes_limit is not None and used_megabytes() >= self._megabytes_limit:
                self._reach(f"{self._megabytes_limit} MB")
                return

    def _reach(self, limit: str) -> None:
        self.limit = self.limit or f"{AT_LIMIT} {limit}"
        self.at_limit.set()
        self.stop()
