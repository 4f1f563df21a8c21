"""The line to a running kernel: read its progress, ask it to stop, wait for it without going deaf.

A kernel runs outside the interpreter, so a signal such as Ctrl-C is only noticed when it
returns. `Control.run` therefore lets the main thread wait for the kernel instead of being in it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

import numpy as np

Result = TypeVar("Result")

WAKE_UP_SECONDS = 0.05
"""How long the main thread may sleep before it looks for signals again."""


class Control:
    """Shared with one kernel call at a time; all properties can be read by any thread."""

    def __init__(self) -> None:
        self.progress = np.zeros(6, np.int64)

    def cancel(self) -> None:
        """Ask the kernel to end; it does within milliseconds, and does not start again."""
        self.progress[0] = 1

    @property
    def cancelled(self) -> bool:
        return bool(self.progress[0])

    @property
    def expanded(self) -> int:
        return int(self.progress[1])

    @property
    def evaluated(self) -> int:
        return int(self.progress[2])

    @property
    def generated(self) -> int:
        return int(self.progress[3])

    @property
    def best(self) -> int:
        """The lower bound of an A* search so far, or a greedy search's smallest h."""
        return int(self.progress[4])

    @property
    def peak_bytes(self) -> int:
        return int(self.progress[5])

    def run(self, kernel: Callable[[], Result]) -> Result:
        """Call the kernel; an exception in the waiting main thread (Ctrl-C) cancels it."""
        if threading.current_thread() is not threading.main_thread():
            return kernel()
        done: list[Result] = []
        failed: list[BaseException] = []

        def work() -> None:
            try:
                done.append(kernel())
            except BaseException as problem:
                failed.append(problem)

        thread = threading.Thread(target=work, name="kernel", daemon=True)
        try:
            thread.start()
            while thread.is_alive():
                thread.join(WAKE_UP_SECONDS)
        except BaseException:
            self.cancel()
            while thread.is_alive():
                thread.join(WAKE_UP_SECONDS)
            raise
        if failed:
            raise failed[0]
        return done[0]
