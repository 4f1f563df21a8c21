"""A plug-in policy that does not come to its end while a file is there."""

from __future__ import annotations

from pathlib import Path

_TEXT = """
import os
import time


class Slow:
    def __init__(self, task):
        self.task, self.calls = task, 0

    def decide(self, states):
        if len(states) > 1:
            raise ValueError("one state at a time")  # so that states are tested one by one
        self.calls += 1
        end = time.monotonic() + 20  # before a plug-in is given up
        while self.calls > 20 and os.path.exists({hold!r}) and time.monotonic() < end:
            time.sleep(0.02)
        return [next(iter(self.task.applicable(state)), -1) for state in states]


def factory(task):
    return Slow(task)
"""


def write_slow_policy(path: Path, hold: Path) -> None:
    """Decides twenty times, then hardly ever for as long as `hold` exists."""
    path.write_text(_TEXT.format(hold=str(hold)))
