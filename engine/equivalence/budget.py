"""What a comparison may spend: time and states, with a cheap, frequent look at the stop button."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from engine.errors import CancelledError

TICKS_PER_LOOK = 128
SECONDS_BETWEEN_LOOKS = 0.05


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a whole comparison; `None` means no limit."""

    seconds: float | None = 300.0
    states: int | None = 20_000_000


class LimitExceededError(Exception):
    """Internal: a limit ended the work; the text says which one."""


class Budget:
    """Counts states, looks at the clock and at `cancelled` every few hundred of them."""

    def __init__(self, limits: Limits, cancelled: Callable[[], bool]) -> None:
        self._limits = limits
        self._cancelled = cancelled
        self._start = time.monotonic()
        self._until_look = 0
        self.states = 0

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._start

    def tick(self, states: int = 0) -> None:
        """Called in every inner loop; `states` new states were stored since the last call."""
        self.states += states
        self._until_look -= 1
        if self._until_look <= 0:
            self.look()

    def look_for_stop(self) -> None:
        if self._cancelled():
            raise CancelledError

    def look(self) -> None:
        self._until_look = TICKS_PER_LOOK
        self.look_for_stop()
        if self._limits.seconds is not None and self.seconds > self._limits.seconds:
            raise LimitExceededError(f"the time limit of {self._limits.seconds:g} s was reached")
        if self._limits.states is not None and self.states > self._limits.states:
            raise LimitExceededError(f"the limit of {self._limits.states} states was reached")

    def check(self, solver: Any, *assumptions: Any) -> Any:
        """Run Z3 in this thread; another thread interrupts it when the budget is spent."""
        self.look()
        finished = threading.Event()

        def watch() -> None:
            while not finished.wait(SECONDS_BETWEEN_LOOKS):
                try:
                    self.look()
                except (CancelledError, LimitExceededError):
                    solver.interrupt()
                    return

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            answer = solver.check(*assumptions)
        finally:
            finished.set()
            watcher.join()
        self.look()
        return answer


def no_budget() -> Budget:
    return Budget(Limits(None, None), lambda: False)
