"""What checking a dominance function may take: so many additions, and no longer than it is wanted.

Whoever checks spends before every larger step, and so notices soon that it is to stop.
"""

from __future__ import annotations

from engine.errors import CancelledError
from engine.native.control import Control

MAX_STEPS = 10_000_000_000
"""Additions that one check may take."""


class TooLargeError(Exception):
    """More additions than a check may take."""


class Budget:
    """Counts additions."""

    def __init__(self, control: Control | None = None, steps: int = MAX_STEPS) -> None:
        self.left = steps
        self._control = control

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise TooLargeError
        self.look()

    def look(self) -> None:
        """For steps that are limited otherwise: only whether it is to stop."""
        if self._control is not None and self._control.cancelled:
            raise CancelledError
