"""Running another program so that it can be stopped at any moment.

The program gets its own process group, which is killed as a whole when the time is up, when the
user cancels, or when something here fails. On Linux it also dies with the process that started
it, so that a killed job leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import IO

from engine.plain_text import printable
from engine.workers.link import NULL_LINK

POLL_SECONDS = 0.05
_PR_SET_CHILD_SUBREAPER = 36
_KILL_ROUNDS = 100
KEPT_LINES = 200

# Runs in a small interpreter of its own and then becomes the program: a `preexec_fn` would do the
# same but may deadlock when the caller has threads.
_LAUNCHER = """
import ctypes, os, resource, signal, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != int(sys.argv[2]):
        sys.exit(1)
if int(sys.argv[1]):
    limit, (_, most) = int(sys.argv[1]), resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limit if most < 0 else min(limit, most),) * 2)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Ending(Enum):
    EXITED = auto()
    TIME_LIMIT = auto()
    MEMORY_LIMIT = auto()  # it was at its limit and did not end by itself
    CANCELLED = auto()


@dataclass(frozen=True, slots=True)
class ProcessResult:
    ending: Ending
    return_code: int  # negative: the signal that ended it
    output: tuple[str, ...]  # the last lines of stdout and stderr together
    seconds: float


def run_process(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str] | None = None,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    cancelled: Callable[[], bool] = NULL_LINK.cancelled,
    on_line: Callable[[str], None] | None = None,
    input_file: Path | None = None,
) -> ProcessResult:
    """Run `command` (its first word an absolute path) in `folder` to its end or ours.

    `time_limit` in seconds, `memory_limit` in bytes of address space. `cancelled` is asked about
    every 50 ms. `on_line` gets every line of output while the program runs. The program reads
    `input_file`, or nothing, from its standard input.
    """
    started = time.monotonic()
    deadline = None if time_limit is None else started + time_limit
    launcher = [sys.executable, "-I", "-S", "-c", _LAUNCHER]
    with open(input_file or os.devnull, "rb") as standard_input:
        process = subprocess.Popen(
            [*launcher, str(memory_limit or 0), str(os.getpid()), *command],
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stdin=standard_input,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,
        )
    output = Output(on_line)
    try:
        ending = _follow(process, output, deadline, cancelled)
    finally:
        kill_group(process)
        assert process.stdout is not None
        process.stdout.close()
    return ProcessResult(
        ending, process.returncode, output.last_lines(), time.monotonic() - started
    )


def signal_name(return_code: int) -> str:
    """The name of the signal that ended a process; real-time signals have only numbers."""
    try:
        return signal.Signals(-return_code).name
    except ValueError:
        return f"signal {-return_code}"


def name_process(name: str) -> None:
    """What `ps` and `top` call this process; at most 15 characters."""
    with contextlib.suppress(OSError):
        Path("/proc/self/comm").write_text(name)


FOLDER = "plumbline-worker-"
"""How the names of folders for temporary files of our processes begin."""


def remove_folder(folder: Path | None) -> None:
    """Remove temporary files; files that are still being written there must not cause an error."""
    if folder is not None and folder.name.startswith(FOLDER):
        shutil.rmtree(folder, ignore_errors=True)


def adopt_orphans() -> None:
    """Become the parent of whatever our children leave behind, so that it can be ended."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def kill_descendants(pid: int) -> None:
    """End everything that a process started, even outside its group and session."""
    for _ in range(_KILL_ROUNDS):  # what is started meanwhile is found in the next one
        descendants = _descendants(pid)
        if not descendants:
            return
        for one in descendants:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(one, signal.SIGKILL)


def kill_strays(folder: Path) -> None:
    """End what a killed process left behind: all processes with its folder for temporary files.

    Nothing else tells where it came from, since its parents are gone. A process that changes its
    environment to escape is not found.
    """
    mark = b"TMPDIR=" + os.fsencode(folder)
    for _ in range(_KILL_ROUNDS):
        strays = [pid for pid in _all_processes() if mark in _environment(pid)]
        if not strays:
            return
        for one in strays:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(one, signal.SIGKILL)


def _all_processes() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").glob("[0-9]*")]


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:  # it has ended, or is not ours
        return []


def _descendants(pid: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            if state not in "ZX":
                children.setdefault(int(parent), []).append(int(folder.name))
    found: list[int] = []
    waiting = [pid]
    while waiting:
        born = children.get(waiting.pop(), [])
        found += born
        waiting += born
    return found


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """End a process that was started in its own group, with all it started, and reap it."""
    if process.returncode is None:  # once it is reaped its number may belong to another process
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _follow(
    process: subprocess.Popen[bytes],
    output: Output,
    deadline: float | None,
    cancelled: Callable[[], bool],
) -> Ending:
    assert process.stdout is not None
    stream = process.stdout
    memory = MemoryWatch(process.pid)
    os.set_blocking(stream.fileno(), False)
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while True:
            selector.select(POLL_SECONDS)
            at_end = output.read(stream) is Chunk.END
            if has_exited(process):
                while output.read(stream) is Chunk.DATA:
                    pass
                return Ending.EXITED
            if cancelled():
                return Ending.CANCELLED
            if deadline is not None and time.monotonic() > deadline:
                return Ending.TIME_LIMIT
            if memory.is_stuck():
                return Ending.MEMORY_LIMIT
            if at_end:  # select no longer waits
                time.sleep(POLL_SECONDS / 5)


def has_exited(process: subprocess.Popen[bytes]) -> bool:
    """Looks without reaping, so that the group can still be killed safely."""
    flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, process.pid, flags) is not None


class MemoryWatch:
    """Notices a program that is out of memory and neither ends nor makes progress.

    Python 3.11 may try forever to raise a MemoryError for which there is no memory.
    """

    LOOK_SECONDS = 0.25
    PATIENT_LOOKS = 12
    CLOSE = 2 * 2**20  # less than what allocators ask the system for

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._folder = Path(f"/proc/{pid}")
        self._next = 0.0
        self._looks = 0

    def is_stuck(self) -> bool:
        """Whether it has been at a limit of its memory for a while."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + self.LOOK_SECONDS
            self._looks = self._looks + 1 if self._is_at_limit() else 0
        return self._looks >= self.PATIENT_LOOKS

    def _is_at_limit(self) -> bool:
        try:
            limits = dict(_LIMIT.findall((self._folder / "limits").read_text()))
            pages = list(map(int, (self._folder / "statm").read_text().split()))
        except (OSError, ValueError):
            return False  # gone, or another kind of system
        used = {"address space": pages[0], "data size": pages[5]}
        return any(
            used[name] * _PAGE_BYTES > int(limit) - self.CLOSE for name, limit in limits.items()
        )


_LIMIT = re.compile(r"^Max (address space|data size) +([0-9]+) ", re.MULTILINE)
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Chunk(Enum):
    DATA = auto()
    NOTHING = auto()
    END = auto()


class Output:
    """Cuts what a program prints into lines and keeps the last ones."""

    def __init__(self, on_line: Callable[[str], None] | None = None) -> None:
        self._on_line = on_line
        self._rest = b""
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)

    def read(self, stream: IO[bytes]) -> Chunk:
        """Take some of what is there."""
        try:
            data = os.read(stream.fileno(), _CHUNK)
        except BlockingIOError:
            return Chunk.NOTHING
        if not data:
            return Chunk.END
        *lines, self._rest = (self._rest[-_CHUNK:] + data).split(b"\n")
        for line in lines:
            self._add(line)
        return Chunk.DATA

    def last_lines(self) -> tuple[str, ...]:
        if self._rest:
            self._add(self._rest)
            self._rest = b""
        return tuple(self._lines)

    def _add(self, line: bytes) -> None:
        text = printable(line.decode("utf-8", "replace").rstrip())
        if text:
            self._lines.append(text)
            if self._on_line is not None:
                self._on_line(text)


_CHUNK = 1 << 16
