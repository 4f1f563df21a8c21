"""Where the workers of a campaign connect: takes their events, hands out units and commands.

A worker may run on this machine or on another one; it needs only the address and the secret.
"""

from __future__ import annotations

import os
import pickle
import secrets
import signal
import socket
import struct
import threading
import time
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from multiprocessing import AuthenticationError
from multiprocessing.connection import (
    Client,
    Connection,
    Listener,
    answer_challenge,
    deliver_challenge,
    wait,
)
from typing import Any

from engine.campaign.events import UnitEvent
from engine.campaign.messages import Assignment, Command, Goodbye, Hello, Report
from engine.campaign.ticket import Address, Ticket
from engine.campaign.unit import Unit
from engine.files import scratch_errors

GREETING_SECONDS = 120
"""How long somebody who connects may take to say who it is: workers import much in between."""
REST_SECONDS = 0.1


@dataclass(frozen=True)
class _Worker:
    unit: int
    pid: int
    host: str


class Hub:
    """Used by one thread; a second one waits for new connections."""

    def __init__(self, units: dict[int, Unit], address: Address | None = None) -> None:
        self._units = units
        self._secret = secrets.token_bytes(32)
        with scratch_errors() if address is None else nullcontext():  # the file of the socket
            self._listener = Listener(address)
        self._lock = threading.Lock()
        self._waiting: list[tuple[Connection, Hello]] = []  # without a unit yet
        self._workers: dict[Connection, _Worker] = {}
        self._command = Command.GO_ON
        self._closing = False
        self._thread = threading.Thread(target=self._accept, name="hub", daemon=True)
        self._thread.start()

    def ticket(self, unit: Unit) -> Ticket:
        address: Any = self._listener.address
        return Ticket(unit.number, address, self._secret)

    def receive(self, seconds: float) -> list[UnitEvent]:
        """What the workers have to say, waiting a while for the first."""
        self._adopt()
        events: list[UnitEvent] = []
        if not self._workers:
            threading.Event().wait(seconds)
            return events
        for ready in wait(list(self._workers), seconds):
            assert isinstance(ready, Connection)
            try:
                message = ready.recv()
            except (OSError, EOFError):
                self._drop(ready)
                continue
            if isinstance(message, Report):
                events += message.events
            elif isinstance(message, Goodbye):
                self._drop(ready)
        return events

    def has(self, unit: int) -> bool:
        """Whether something may still come from a unit."""
        return any(worker.unit == unit for worker in self._workers.values())

    def command(self, command: Command) -> None:
        """Tell all workers, those to come included."""
        self._command = command
        for connection in list(self._workers):
            self._send(connection, command)

    def kill(self) -> None:
        """End the workers of this machine that are still there."""
        for worker in self._workers.values():
            if worker.host == socket.gethostname() and worker.pid != os.getpid():
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(worker.pid, signal.SIGKILL)

    def close(self) -> None:
        """Hang up; workers notice and end."""
        self._closing = True
        with suppress(OSError):  # the file of the socket may be gone: then the thread sleeps on
            Client(self._listener.address).close()  # wakes it
            self._thread.join()
        with suppress(FileNotFoundError):
            self._listener.close()
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for connection in [*self._workers, *(connection for connection, _ in waiting)]:
            connection.close()

    def _accept(self) -> None:
        while not self._closing:
            try:
                connection = self._listener.accept()
            except OSError:
                time.sleep(REST_SECONDS)  # no file descriptors left, perhaps
                continue
            # In a thread of its own: somebody who does not speak must not keep others waiting.
            threading.Thread(
                target=self._greet, args=(connection,), name="greeting", daemon=True
            ).start()

    def _greet(self, connection: Connection) -> None:
        """Only who knows the secret and says hello comes in."""
        try:
            with socket.socket(fileno=os.dup(connection.fileno())) as underlying:
                _hurry(underlying, GREETING_SECONDS)
                deliver_challenge(connection, self._secret)
                answer_challenge(connection, self._secret)
                hello = connection.recv()
                _hurry(underlying, 0)
        except (OSError, EOFError, AuthenticationError, pickle.UnpicklingError):
            connection.close()  # somebody who went away, or does not belong here
            return
        with self._lock:
            if isinstance(hello, Hello) and not self._closing:
                self._waiting.append((connection, hello))
                return
        connection.close()

    def _adopt(self) -> None:
        """Greet new workers and give them their units."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for connection, hello in waiting:
            if self._command is Command.STOP:
                connection.close()
                continue
            self._forget(hello.unit)
            self._workers[connection] = _Worker(hello.unit, hello.pid, hello.host)
            self._send(connection, Assignment(self._units[hello.unit]))
            if self._command is Command.PAUSE:
                self._send(connection, Command.PAUSE)

    def _forget(self, unit: int) -> None:
        """The unit was given to another worker: whoever had it before ends when we hang up."""
        for connection, worker in list(self._workers.items()):
            if worker.unit == unit:
                self._drop(connection)

    def _send(self, connection: Connection, message: Assignment | Command) -> None:
        try:
            connection.send(message)
        except OSError:
            self._drop(connection)

    def _drop(self, connection: Connection) -> None:
        self._workers.pop(connection, None)
        connection.close()


def _hurry(underlying: socket.socket, seconds: int) -> None:
    """Waiting for the other side ends with an error after so long; 0 is never."""
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        underlying.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", seconds, 0))
