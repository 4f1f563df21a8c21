"""Limits of a worker: seconds, and the memory of its process with everything that it started.

A worker checks them twenty times a second and ends in order when it has reached one. What grows too
fast for that meets the bound that the system keeps for each process: there memory is refused, which
is an end in order, too. Address space would be the wrong measure, because libraries map far more
than they use.
"""

from __future__ import annotations

import os
import resource
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

SLACK_MEGABYTES = 256
"""How far a process may go beyond its limit, since the system also counts what is never used."""


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """What a worker may use; None means no limit."""

    seconds: float | None = None
    megabytes: int | None = None
    niceness: int = 0  # how much it lets others go first where cores are scarce

    def apply(self) -> None:
        """Let the system hold this process to them, as far as it can."""
        if self.niceness:
            os.nice(self.niceness)
        if self.megabytes is not None:
            bound_process(self.megabytes)


NO_LIMITS = ProcessLimits()

_PAGE = os.sysconf("SC_PAGE_SIZE")


def used_megabytes() -> float:
    """Of this process and its descendants, without what they share with each other and with files.

    Where the system does not tell, the most that this process ever used.
    """
    if sys.platform != "linux":
        return peak_megabytes()
    return sum(map(_own_bytes, _with_descendants(os.getpid()))) / 2**20


def peak_megabytes() -> float:
    """The most that this process ever used.

    Linux tells it of a program; what it tells of a process begins with who started it.
    """
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 2**10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def bound_process(megabytes: int) -> None:
    """Let this process, and each that it starts, not grow far beyond a limit."""
    limit = (megabytes + SLACK_MEGABYTES) * 2**20
    with suppress(ValueError, OSError):  # not every system has such a bound
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def _with_descendants(pid: int) -> list[int]:
    found = [pid]
    for process in found:  # grows while it is read
        with suppress(OSError):  # it has ended meanwhile
            for thread in Path(f"/proc/{process}/task").iterdir():
                found += map(int, (thread / "children").read_text().split())
    return found


def _own_bytes(pid: int) -> int:
    try:
        _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text().split()
    except OSError:
        return 0  # it has ended meanwhile
    return (int(resident) - int(shared)) * _PAGE
