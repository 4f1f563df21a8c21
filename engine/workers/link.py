"""What background work sees of the window: a place to report to and to ask whether to stop.

A work function is a module-level function whose first parameter is a `Link`; its other arguments
and its result must be picklable. It runs in a process of its own (`process.py`).
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from engine.native.control import Control


@dataclass(frozen=True, slots=True)
class JobProgress:
    """`done` of `total` in whatever unit the work counts; without a total nobody knows the end."""

    done: float
    total: float | None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why work came to nothing; `details` is for reading at length and for copying."""

    message: str
    hint: str = ""
    details: str = ""
    expected: bool = True  # False: a defect of Plumbline, with the traceback in the details

    @property
    def text(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


def unexpected(message: str) -> Failure:
    """The exception that is being handled, as a defect of Plumbline."""
    return Failure(
        f"internal error: {message}",
        "this is a defect of Plumbline; the details help to mend it",
        traceback.format_exc(),
        expected=False,
    )


class Link(Protocol):
    """Safe to use from any thread of the worker process."""

    def emit(self, event: object) -> None:
        """Tell the window; events arrive in order, several at once."""

    def progress(self, done: float, total: float | None = None, text: str = "") -> None:
        """Tell how far it is; only the newest report of a moment arrives."""

    def cancelled(self) -> bool:
        """Whether the user wants it to stop; work that does not ask is killed after a while."""

    def paused(self) -> bool:
        """Whether the user wants it to wait; work that cannot wait does not ask."""


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
