"""The first Ctrl-C stops in good order, so that nothing found is lost; the second at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


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

    before = {number: signal.signal(number, on_signal) for number in _SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
