"""Limits of a worker: seconds, and the memory of its process with everything that it started.

A worker checks them twenty times a second and ends in order when it has reached one. What grows too
fast for that meets the bound that the system keeps for each process: there memory is refused, which
is an end in order, too. Address space would be the wrong measure, because libraries map far more
than they use.
"""

from __future__ import annotations

import errno
import os
import resource
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from engine.errors import LimitReachedError

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
    """Memory of this process and its descendants, without what they share or map from files.

    Where the system does not tell, the most that this process ever used.
    """
    if sys.platform != "linux":
        return peak_megabytes()
    return sum(map(_own_bytes, _with_descendants(os.getpid()))) / 2**20


def peak_megabytes() -> float:
    """The most that this process ever used.

    From /proc, because `ru_maxrss` of a started process includes that of its parent.
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


READING_MEGABYTES, READING_SECONDS = 1024, 30
"""What reading any file may take, libraries that are loaded for it included."""
READING_FACTOR = 32
"""How many times its own size a file may take more; as many seconds for 16 MB."""

_one_reader = threading.RLock()
_SIGNS = ("allocate memory", "failed to map segment", "can't start new thread")


def address_space() -> int:
    """What a shell allows this process (`ulimit -v`), in bytes; -1 if it is not limited."""
    return resource.getrlimit(resource.RLIMIT_AS)[0]


def require_address_space(megabytes: int) -> None:
    """Begin nothing that the shell leaves too little room for.

    Large libraries that run out of it while they are loaded end the process without an error.
    """
    if 0 <= address_space() < megabytes * 2**20:
        raise MemoryError


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory was refused; libraries report it in many ways."""
    if isinstance(error, ModuleNotFoundError):
        return False  # there is nothing to be loaded
    return (
        isinstance(error, MemoryError)
        or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
        or any(sign in str(error) for sign in _SIGNS)
        or (isinstance(error, ImportError | SystemError) and address_space() >= 0)
    )


class ReadingLimitError(Exception):
    """A file takes more to be read than one of its size may."""


@contextmanager
def bounded_reading(size: int) -> Iterator[None]:
    """Hold this process to what reading a file of `size` bytes may take, memory and CPU time.

    A second line: readers have bounds of their own. The limits end with the reading. Time is
    bounded in the main thread only, where workers and commands do their work.
    """
    with _one_reader, _reading_memory(size), _bounded_time(size):
        try:
            yield
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            if address_space() >= 0:  # not ours, but that of the user's shell
                raise MemoryError from None
            raise ReadingLimitError("it takes too much memory") from None


@contextmanager
def bounded_memory(megabytes: int | None) -> Iterator[None]:
    """Let the system refuse this process memory far beyond a limit, as long as the block runs.

    Raises `LimitReachedError` if it does.
    """
    if megabytes is None:
        yield
        return
    try:
        with _bounded_data((megabytes + SLACK_MEGABYTES) * 2**20):
            yield
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        raise LimitReachedError("the memory limit was reached", hint="raise it") from None


@contextmanager
def _reading_memory(size: int) -> Iterator[None]:
    if sys.platform != "linux":
        yield
        return
    used = int(Path("/proc/self/statm").read_text().split()[5]) * _PAGE
    with _bounded_data(used + READING_MEGABYTES * 2**20 + READING_FACTOR * size):
        yield


@contextmanager
def _bounded_data(most: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (min(most, soft) if soft >= 0 else most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


@contextmanager
def _bounded_time(size: int) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: object) -> None:
        raise ReadingLimitError("it takes too long")

    before = signal.signal(signal.SIGVTALRM, end)
    # Again and again: an exception can be lost in a call from C.
    signal.setitimer(signal.ITIMER_VIRTUAL, READING_SECONDS + READING_FACTOR * size / 2**24, 0.1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


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
