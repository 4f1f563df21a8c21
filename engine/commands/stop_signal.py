"""Signals that ask us to end: Ctrl-C, SIGTERM, and SIGHUP of a terminal that was closed.

Commands that keep results stop in good order at the first signal. The second signal, and any signal
for other commands, ends them at once, but after cleaning up.
"""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

MOMENT_SECONDS = 0.02

Handler = Callable[[int, FrameType | None], object]


def _nothing() -> None:
    """Do nothing; the caller looks at the event itself."""


@contextmanager
def stop_signal(on_stop: Callable[[], None] = _nothing) -> Iterator[threading.Event]:
    """An event that a signal sets, after which it calls `on_stop`."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def on_signal(number: int, frame: FrameType | None) -> None:
        del number, frame
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        on_stop()

    with _handled_by(on_signal, (signal.SIGINT, *_ENDS)):
        yield stop


@contextmanager
def ended_like_interrupted() -> Iterator[None]:
    """End in the same way on other signals as on Ctrl-C."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with _handled_by(interrupt, _ENDS), _never_lost():
        yield


@contextmanager
def _never_lost() -> Iterator[None]:
    """Python prints and ignores what is raised while an object is deleted or a module imported. The
    request to end is therefore repeated a moment later.
    """
    before = sys.unraisablehook

    def say_again(lost: sys.UnraisableHookArgs) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            # Not here, where it would be lost as well; SIGTERM, unlike Ctrl-C, is never ignored.
            again = threading.Timer(MOMENT_SECONDS, _thread.interrupt_main, (signal.SIGTERM,))
            again.daemon = True
            again.start()
        else:
            before(lost)

    sys.unraisablehook = say_again
    try:
        yield
    finally:
        sys.unraisablehook = before


_ENDS = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def _handled_by(handler: Handler, numbers: Sequence[signal.Signals]) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number in numbers if not _waived(number)}
    try:
        yield
    finally:
        for number, known in before.items():
            signal.signal(number, known)


def _waived(number: signal.Signals) -> bool:
    """Whether `nohup` asked to continue without the terminal."""
    return number is signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN
