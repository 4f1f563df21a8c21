"""Shows what a kernel does while the main thread waits for it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from engine.console import ProgressBar
from engine.native.control import Control

TICK_SECONDS = 0.2


@contextmanager
def kernel_progress(control: Control, bar: ProgressBar) -> Iterator[None]:
    """Moves the bar as the kernel expands states."""
    done = threading.Event()

    def tick() -> None:
        while not done.wait(TICK_SECONDS):
            bar.update(control.expanded, f"{control.expanded:,} states expanded")

    ticker = threading.Thread(target=tick, name="progress", daemon=True)
    ticker.start()
    try:
        yield
    finally:
        done.set()
        ticker.join()
