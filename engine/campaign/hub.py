"""Where the workers of a campaign connect: takes their events, hands out units and commands.

A worker may run on this machine or on another one; it needs only the address and the secret.
"""

from __future__ import annotations

import os
import secrets
import signal
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener, wait
from typing import Any

from engine.campaign.events import UnitEvent
from engine.campaign.messages import Assignment, Command, Goodbye, Hello, Report
from engine.campaign.ticket import Address, Ticket
from engine.campaign.unit import Unit


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
        self._listener = Listener(address, authkey=self._secret)
        self._lock = threading.Lock()
        self._waiting: list[Connection] = []  # connected, not yet greeted
        self._workers: dict[Connection, _Worker] = {}
        self._command = Command.GO_ON
        self._closing = False
        self._thread = threading.Thread(target=self._accept, name="hub", daemon=True)
        self._thread.start()

    def ticket(self, unit: Unit) -> Ticket:
        address: Any = self._listener.address
        return Ticket(unit.number, address, self._secret, unit.limits.unit_megabytes)

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
        with suppress(OSError, EOFError, AuthenticationError):
            Client(self._listener.address, authkey=self._secret).close()  # wakes the thread
        self._thread.join()
        self._listener.close()
        for connection in [*self._workers, *self._waiting]:
            connection.close()

    def _accept(self) -> None:
        while not self._closing:
            try:
                connection = self._listener.accept()
            except (OSError, EOFError, AuthenticationError):
                continue  # somebody who went away, or does not belong here
            with self._lock:
                self._waiting.append(connection)

    def _adopt(self) -> None:
        """Greet new workers and give them their units."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for connection in waiting:
            try:
                hello = connection.recv()
            except (OSError, EOFError):
                connection.close()
                continue
            if not isinstance(hello, Hello) or self._command is Command.STOP:
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
