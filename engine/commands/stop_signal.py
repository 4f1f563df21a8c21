"""Signals that ask us to end: Ctrl-C, SIGTERM, and SIGHUP of a terminal that was closed.

Commands that keep what they have found stop in good order at the first; the second, and all
others, end at once, but not without cleaning up.
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
    """For those who look at the event themselves."""


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
    """Whoever ends us by another signal than Ctrl-C wants the same tidy end."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with _handled_by(interrupt, _ENDS), _never_lost():
        yield


@contextmanager
def _never_lost() -> Iterator[None]:
    """What is raised while an object is deleted, or a module has just been imported, goes nowhere:
    Python prints it and goes on. A wish to end is said again a moment later."""
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
    """`nohup` asks to go on after the terminal is gone."""
    return number is signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN
