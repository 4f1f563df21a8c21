"""What work sees of whoever started it: a place to report to and to ask whether to stop.

A use case is a module-level function whose first parameter is a `Link`. The window runs it in a
process of its own, the command line in its only one; tests record what it says.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass

from engine.errors import CancelledError
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


class Link:
    """Safe to use from any thread. This one has nobody at its other end; others override it."""

    @property
    def control(self) -> Control:
        """Reaches into running kernels; cancelled as soon as the work is to stop."""
        return Control()

    def emit(self, event: object) -> None:
        """Tell what happened; events arrive in order, several at once."""

    def progress(self, done: float, total: float | None = None, text: str = "") -> None:
        """Tell how far it is; only the newest report of a moment arrives."""

    def cancelled(self) -> bool:
        """Whether the work is to stop; work that does not ask is killed after a while."""
        return False

    def paused(self) -> bool:
        """Whether the work is to wait; work that cannot wait does not ask."""
        return False

    def check(self) -> None:
        """Raise `CancelledError` if the work is to stop."""
        if self.cancelled():
            raise CancelledError


NULL_LINK = Link()
"""For work that runs to its end and reports to nobody."""
