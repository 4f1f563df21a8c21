"""The line to a running kernel: read its progress, ask it to stop, wait for it without going deaf.

A kernel runs outside the interpreter, so a signal such as Ctrl-C is only noticed when it
returns. `Control.run` therefore lets the main thread wait for the kernel instead of being in it,
unless signals are none of Python's business, as in workers.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

Result = TypeVar("Result")

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

WAKE_UP_SECONDS = 0.05
"""How long the main thread may sleep before it looks for signals again."""


class Control:
    """Shared with one kernel call at a time; all properties can be read by any thread."""

    def __init__(self) -> None:
        # Here, because commands that start no kernel are to answer at once.
        from engine.native.library import NativeProgress

        self.progress = NativeProgress()

    def cancel(self) -> None:
        """Ask the kernel to end; it does within milliseconds, and does not start again."""
        self.progress.cancel = 1

    @property
    def cancelled(self) -> bool:
        return bool(self.progress.cancel)

    @property
    def expanded(self) -> int:
        return int(self.progress.expanded)

    @property
    def evaluated(self) -> int:
        return int(self.progress.evaluated)

    @property
    def generated(self) -> int:
        return int(self.progress.generated)

    @property
    def best(self) -> int:
        """The lower bound of an A* search so far, or a greedy search's smallest h."""
        return int(self.progress.best)

    @property
    def peak_bytes(self) -> int:
        return int(self.progress.bytes)

    def run(self, kernel: Callable[[], Result]) -> Result:
        """Call the kernel; an exception in the waiting main thread (Ctrl-C) cancels it."""
        if threading.current_thread() is not threading.main_thread() or not _hears_signals():
            return kernel()
        done: list[Result] = []
        failed: list[BaseException] = []
        # Not `Thread.is_alive`: Python 3.11 takes a thread for ended when a signal comes during
        # `join`, and what the kernel works on would be gone while it works.
        ended = threading.Event()

        def work() -> None:
            try:
                done.append(kernel())
            except BaseException as problem:
                failed.append(problem)
            finally:
                ended.set()

        thread = threading.Thread(target=work, name="kernel", daemon=True)
        try:
            with _no_signals():  # an interrupted start could not be recognized
                thread.start()
            while not ended.wait(WAKE_UP_SECONDS):
                pass
        except BaseException:
            self.cancel()
            while thread.ident is not None and not ended.is_set():
                with suppress(KeyboardInterrupt):
                    ended.wait(WAKE_UP_SECONDS)
            raise
        if failed:
            raise failed[0]
        return done[0]


def _hears_signals() -> bool:
    """Whether Python has to do anything when it is asked to end; workers just end."""
    return any(callable(signal.getsignal(number)) for number in _SIGNALS)


@contextmanager
def _no_signals() -> Iterator[None]:
    """What asks us to end has to wait for a moment."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
