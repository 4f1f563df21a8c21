"""The warm process: imports the engine, then forks a worker for every request.

It has one thread, no torch and no gRPC, so that forking it is safe. A worker gets the environment,
folder and descriptors of the requesting process, and its own process group; it may request other
workers. When the requesting process closes the ticket, the group is killed, the worker reaped and
its folder of temporary files removed. Orphans of dead workers become children of this process and
are killed. When the process that started it is gone, it ends all workers and then itself.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, NoReturn

from engine.workers import worker
from engine.workers.program import adopt_orphans, name_process, remove_folder
from engine.workers.warm import NUMBER, WARMTH, is_safe_to_fork

PRELOADED = (
    "engine.usecases.campaign",
    "engine.usecases.localize",
    "engine.usecases.verify",
    "engine.policies.builtin",
)
"""What the jobs of a window mostly need. A command has imported what its workers need."""
NAME = "plumbline-warm"
MAX_GENERATIONS = 20
"""How often to look for children of dead workers."""

_MAX_REQUEST = 2**18


def main() -> None:
    for module in PRELOADED:
        importlib.import_module(module)
    if is_safe_to_fork():
        requests, client, line = map(int, sys.argv[1:])
        _WarmProcess(os.environ, requests, client, line).announce().serve()


def become_warm(environment: Mapping[str, str], requests: int, client: int, line: int) -> NoReturn:
    """In a fork of a command, which has opened nothing but its log."""
    try:
        os.setpgid(0, 0)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDWR)
        for standard in range(3):
            os.dup2(nothing, standard)
        _WarmProcess(environment, requests, client, line).serve()
    finally:
        os._exit(1)


def _children() -> Iterator[int]:
    return map(int, Path("/proc/thread-self/children").read_text().split())


class _Worker(NamedTuple):
    pid: int
    folder: Path  # of its temporary files


class _WarmProcess:
    def __init__(
        self, environment: Mapping[str, str], requests: int, client: int, line: int
    ) -> None:
        gc.freeze()  # garbage collections in workers must not copy all that was imported
        os.set_inheritable(line, False)
        name_process(NAME)
        adopt_orphans()
        self._environment, self._line = dict(environment), line
        self._requests = socket.socket(fileno=requests)
        self._client = socket.socket(fileno=client)  # for workers: the other end of the requests
        for own in (self._requests, self._client):
            own.set_inheritable(False)
        self._workers: dict[socket.socket, _Worker] = {}  # by their tickets
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._requests, selectors.EVENT_READ)
        self._selector.register(line, selectors.EVENT_READ)

    def announce(self) -> _WarmProcess:
        """Tell that from now on workers start at once."""
        self._requests.send(b"!")
        return self

    def serve(self) -> NoReturn:
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._requests:
                    self._fork()
                elif isinstance(key.fileobj, socket.socket):
                    self._end(key.fileobj)
                else:  # the line: our parent has ended
                    for ticket in tuple(self._workers):
                        self._end(ticket)
                    os._exit(0)

    def _fork(self) -> None:
        request, descriptors, *_ = socket.recv_fds(self._requests, _MAX_REQUEST, 5)
        connection, line, output, ticket_number, folder = descriptors
        environment = json.loads(request)
        pid = os.fork()
        if pid == 0:
            self._become_worker(environment, descriptors)
        with suppress(OSError):  # it may have done so itself
            os.setpgid(pid, pid)
        for descriptor in (connection, line, output, folder):
            os.close(descriptor)
        ticket = socket.socket(fileno=ticket_number)
        self._workers[ticket] = _Worker(pid, Path(environment["TMPDIR"]))
        self._selector.register(ticket, selectors.EVENT_READ)
        with suppress(OSError):  # its client is gone
            ticket.send(NUMBER.pack(pid))

    def _end(self, ticket: socket.socket) -> None:
        self._selector.unregister(ticket)
        ended = self._workers.pop(ticket)
        with ticket, suppress(OSError):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(ended.pid, signal.SIGKILL)
            code = os.waitstatus_to_exitcode(os.waitpid(ended.pid, 0)[1])
            self._end_orphans()
            remove_folder(ended.folder)
            ticket.send(NUMBER.pack(code))

    def _end_orphans(self) -> None:
        """End processes that dead workers left to us, and those that these leave."""
        workers = {known.pid for known in self._workers.values()}
        for _ in range(MAX_GENERATIONS):
            for pid in set(_children()) - workers:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)

    def _become_worker(self, environment: dict[str, str], descriptors: list[int]) -> NoReturn:
        try:
            os.setpgid(0, 0)
            self._selector.close()
            for other in (self._requests, *self._workers):
                other.close()
            os.close(self._line)
            connection, line, output, ticket, folder = descriptors
            os.fchdir(folder)
            for standard in (1, 2):
                os.dup2(output, standard)
            for descriptor in (output, ticket, folder):
                os.close(descriptor)
            os.environ.clear()
            os.environ.update(environment)
            tempfile.tempdir = None
            time.tzset()
            sys.stdout = sys.stderr = open(  # noqa: SIM115  as long as it lives
                1, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False
            )
            WARMTH.inherit(self._client, self._environment)
            worker.work(connection, line)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)


if __name__ == "__main__":
    main()
