"""Signals that ask us to end: Ctrl-C, SIGTERM, and SIGHUP of a terminal that was closed.

Commands that keep what they have found stop in good order at the first; the second, and all
others, end at once, but not without cleaning up.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

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
    with _handled_by(interrupt, _ENDS):
        yield


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
