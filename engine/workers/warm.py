"""Workers that start at once: forks of a warm process, which has imported the engine.

Importing takes longer than most units do. The window, which has Qt and threads, starts the warm
process as a program of its own (`warm_process.py`); a command with nothing but its main thread
forks it. One that is not ready yet is waited for, because a program would have to import as much;
where there is none, workers are started as programs.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

from engine.workers.program import kill_descendants

NUMBER = struct.Struct("<i")
"""The warm process sends each worker's pid and, at the end, its return code."""
UNSAFE = ("torch", "grpc", "PySide6", "distributed")
"""Packages with threads and locks of their own: a process that has them must not fork."""
READY_SECONDS = 2.0
"""How long to wait for the warm process before a worker is started as a program."""
END_SECONDS = 5.0
"""How long the warm process may take to end a worker."""

_AT_START = re.compile("PYTHON.*|LD_.*|LANG|LC_.*|MALLOC_.*|([A-Z]+_)+NUM_THREADS")
"""Environment variables that are read when a program starts, and never again."""


def is_safe_to_fork() -> bool:
    """Whether this process has one thread and nothing that might have had others."""
    threads = len(os.listdir("/proc/self/task"))
    return threads == 1 and not any(package in sys.modules for package in UNSAFE)


class Warmth:
    """How this process reaches a warm one, if there is one; may be used by any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: socket.socket | None = None
        self._is_ready = False
        self._environment: dict[str, str] = {}

    def prepare(self, environment: Mapping[str, str], *, fork: bool) -> None:
        """Start a warm process, unless there is one; returns before it is ready.

        `fork` makes it out of this process, which spares importing everything again, if it is safe.
        """
        with self._lock, suppress(OSError):
            if self._requests is None and sys.platform == "linux":
                self._start(environment, fork and is_safe_to_fork())
                self._environment = _at_start(environment)

    def inherit(self, requests: socket.socket, environment: Mapping[str, str]) -> None:
        """Let a forked worker ask its own warm process for workers."""
        self._lock = threading.Lock()
        self._requests, self._is_ready = requests, True
        self._environment = _at_start(environment)

    def fork_worker(
        self, environment: Mapping[str, str], connection: int, line: int, output: int
    ) -> Forked | None:
        """A worker with these descriptors; None if there is no warm process that could make it."""
        with self._lock:
            if not self._answers() or _at_start(environment) != self._environment:
                return None
            assert self._requests is not None
            ticket, theirs = socket.socketpair()
            descriptors = [connection, line, output, theirs.fileno()]
            try:
                descriptors.append(os.open(".", os.O_PATH | os.O_DIRECTORY))
                request = json.dumps(dict(environment)).encode()
                socket.send_fds(self._requests, [request], descriptors)
            except OSError:  # it has died, the folder was deleted, the environment is too large
                ticket.close()
                return None
            finally:
                theirs.close()
                for folder in descriptors[4:]:
                    os.close(folder)
        return Forked(ticket)

    def _answers(self) -> bool:
        """Whether there is one that has imported everything; it says so once."""
        if self._requests is not None and not self._is_ready:
            select.select([self._requests], [], [], READY_SECONDS)
            with suppress(OSError):
                self._is_ready = bool(self._requests.recv(1, socket.MSG_DONTWAIT))
        return self._is_ready

    def _start(self, environment: Mapping[str, str], fork: bool) -> None:
        requests, ours = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        their_line, line = os.pipe()
        descriptors = requests.fileno(), ours.fileno(), their_line
        try:
            if fork:
                from engine.workers.warm_process import become_warm  # it knows this module

                pid = os.fork()
                if pid == 0:
                    os.close(line)  # or we would keep ourselves alive
                    become_warm(environment, *descriptors)
                self._is_ready = True
                wait: Callable[[], object] = partial(os.waitpid, pid, 0)
            else:
                program = subprocess.Popen(
                    [sys.executable, "-P", "-m", PROGRAM, *map(str, descriptors)],
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=descriptors,
                    process_group=0,
                )
                pid, wait = program.pid, program.wait
        except BaseException:
            ours.close()
            os.close(line)
            raise
        finally:
            requests.close()
            os.close(their_line)
        self._requests = ours
        # The resources of this program include those of its workers.
        atexit.register(self._end, pid, line, wait)

    def _end(self, pid: int, line: int, wait: Callable[[], object]) -> None:
        assert self._requests is not None
        self._requests.close()
        os.close(line)  # which ends it
        with suppress(OSError):
            if not self._is_ready:  # it has no workers, and looks at the line only after imports
                os.kill(pid, signal.SIGKILL)
            wait()


PROGRAM = "engine.workers.warm_process"
WARMTH = Warmth()


class Forked:
    """A worker that the warm process has forked, or is about to fork.

    `ticket` is a socket: when we close it, the warm process ends the worker and reports its end.
    """

    def __init__(self, ticket: socket.socket) -> None:
        self._ticket = ticket
        self._told = b""
        self._ended: int | None = None  # a descriptor that is readable once the worker has ended

    @property
    def pid(self) -> int | None:
        """Return None until the warm process has sent it."""
        if not self._told:
            with suppress(OSError):
                self._told = self._ticket.recv(NUMBER.size, socket.MSG_DONTWAIT)
        return NUMBER.unpack_from(self._told)[0] if self._told else None

    def has_ended(self) -> bool:
        """It is not reaped before `end`, so that its number stays its own."""
        if self.pid is None:
            return False
        try:
            self._ended = os.pidfd_open(self.pid) if self._ended is None else self._ended
        except ProcessLookupError:
            return True  # reaped by others, because the warm process is gone
        ended, *_ = select.select([self._ended], [], [], 0)
        return bool(ended)

    def end(self) -> int:
        """Kill it with all that it started; its return code."""
        if self.pid is not None and not self.has_ended():
            kill_descendants(self.pid)
        told = self._told
        with self._ticket, suppress(OSError):
            self._ticket.settimeout(END_SECONDS)
            self._ticket.shutdown(socket.SHUT_WR)
            while more := self._ticket.recv(NUMBER.size):
                told += more
        if self._ended is not None:
            os.close(self._ended)
        if len(told) < 2 * NUMBER.size:
            return -signal.SIGKILL  # the warm process was killed: the real code is unknown
        code: int = NUMBER.unpack_from(told, NUMBER.size)[0]
        return code


def _at_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: environment[name] for name in environment if _AT_START.fullmatch(name)}
