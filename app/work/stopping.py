"""Lets the user's wish to stop reach a kernel, which asks nobody while it works."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from app.work.link import Link
from engine.native.control import Control

LOOK_SECONDS = 0.05


@contextmanager
def stoppable(link: Link) -> Iterator[Control]:
    """A control that is cancelled as soon as the work is to stop."""
    control, done = Control(), threading.Event()

    def watch() -> None:
        while not done.wait(LOOK_SECONDS):
            if link.cancelled():
                control.cancel()
                return

    thread = threading.Thread(target=watch, name="stopping", daemon=True)
    thread.start()
    try:
        yield control
    finally:
        done.set()
        thread.join()
