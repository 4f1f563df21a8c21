"""What work takes, CPU time and wall-clock time, and a limit on the former.

Processor time is that of this process with all its threads, and of the programs that it started
and that have ended. What a policy server or a plug-in computes in a process of its own shows in
the wall-clock time only.
"""

from __future__ import annotations

import resource
import threading
import time
from dataclasses import dataclass

from engine.native.control import Control

LOOK_SECONDS = 0.02
"""How often a limit is checked."""


@dataclass(frozen=True, slots=True)
class Effort:
    cpu: float = 0.0
    seconds: float = 0.0  # on the wall clock

    def __add__(self, other: Effort) -> Effort:
        return Effort(self.cpu + other.cpu, self.seconds + other.seconds)

    def since(self, before: Effort) -> Effort:
        return Effort(max(self.cpu - before.cpu, 0.0), max(self.seconds - before.seconds, 0.0))


NO_EFFORT = Effort()


def effort_so_far() -> Effort:
    """Return the effort so far; only differences mean something."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Effort(time.process_time() + children.ru_utime + children.ru_stime, time.perf_counter())


class CpuLimit:
    """Cancels work that has used up its CPU time, or is cancelled from outside."""

    def __init__(self, outer: Control, until: float) -> None:
        self.control = Control()
        self.reached = False
        self._outer, self._until = outer, until
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._look, name="CPU time", daemon=True)
        if effort_so_far().cpu >= until:
            self._reach()
        else:
            self._thread.start()

    def close(self) -> None:
        self._closed.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _look(self) -> None:
        while not self._closed.wait(LOOK_SECONDS):
            if self._outer.cancelled:
                self.control.cancel()
                return
            if effort_so_far().cpu >= self._until:
                self._reach()
                return

    def _reach(self) -> None:
        self.reached = True
        self.control.cancel()
