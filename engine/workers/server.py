"""Where the workers of a campaign connect: takes their events, hands out units and commands.

A worker may run on this machine or on another one; it needs only the address and the secret.
"""

from __future__ import annotations

import os
import pickle
import queue
import secrets
import socket
import threading
import time
from contextlib import nullcontext, suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, Listener, answer_challenge, deliver_challenge
from typing import Any

from engine.campaign.unit import Unit
from engine.files import scratch_errors
from engine.records.events import UnitEvent, UnitFailed, UnitFinished, UnitStopped
from engine.workers.channel import (
    Address,
    Assignment,
    Command,
    Goodbye,
    Hello,
    Report,
    Ticket,
    connect,
    hurried,
)

AT_ONCE = 4096
"""How many may connect at the same moment: a whole cluster. Others would wait for ever."""
REST_SECONDS = 0.1


class Hub:
    """Used by one thread. Another one waits for new connections, and each of them has its own.

    So nobody waits for a worker that falls silent in the middle of a message or does not listen.
    """

    def __init__(self, units: dict[int, Unit], address: Address | None = None) -> None:
        self._units = dict(units)  # those that are not over
        self._secret = secrets.token_bytes(32)
        with scratch_errors() if address is None else nullcontext():  # the file of the socket
            self._listener = Listener(address, _family(address), AT_ONCE)
        self._lock = threading.Lock()
        self._lines: set[_Line] = set()
        self._workers: dict[int, _Line] = {}  # by their units
        self._inbox: queue.SimpleQueue[tuple[_Line, object]] = queue.SimpleQueue()
        self._command = Command.RESUME
        self._closing = False
        self._thread = threading.Thread(target=self._accept, name="hub", daemon=True)
        self._thread.start()

    def ticket(self, unit: Unit) -> Ticket:
        return Ticket(unit.number, self._address, self._secret)

    @property
    def _address(self) -> Address:
        address: Any = self._listener.address
        return address if isinstance(address, str) else address[:2]  # what IPv6 adds is for others

    def receive(self, seconds: float) -> list[UnitEvent]:
        """What the workers have to say, waiting a while for the first."""
        events: list[UnitEvent] = []
        with suppress(queue.Empty):
            events += self._take(*self._inbox.get(timeout=seconds))
            for _ in range(self._inbox.qsize()):
                events += self._take(*self._inbox.get_nowait())
        return events

    def has(self, unit: int) -> bool:
        """Whether something may still come from a unit."""
        with self._lock:
            return unit in self._workers

    def command(self, command: Command) -> None:
        """Tell all workers, those to come included."""
        with self._lock:
            self._command = command
            for line in self._workers.values():
                if line.is_open:
                    with suppress(OSError):  # its own thread notices
                        line.send(command)

    def close(self) -> None:
        """Hang up; workers notice and end."""
        self._closing = True
        with suppress(OSError):  # the file of the socket may be gone: then the thread sleeps on
            connect(self._address).close()  # wakes it
            self._thread.join()
        with suppress(FileNotFoundError):
            self._listener.close()
        with self._lock:
            for line in self._lines:
                line.hang_up()

    def _take(self, line: _Line, message: object) -> tuple[UnitEvent, ...]:
        with self._lock:
            if self._workers.get(line.unit) is not line:
                return ()  # its unit was given to another worker
            line.taken.release()
            if isinstance(message, Report):
                for event in message.events:
                    if isinstance(event, UnitFinished | UnitStopped | UnitFailed):
                        self._units.pop(event.unit, None)
                return message.events
            del self._workers[line.unit]
            line.hang_up()
            return ()

    def _accept(self) -> None:
        while not self._closing:
            try:
                line = _Line(self._listener.accept())
            except OSError:
                time.sleep(REST_SECONDS)  # no file descriptors left, perhaps
                continue
            with self._lock:
                self._lines.add(line)
            threading.Thread(target=self._serve, args=(line,), name="line", daemon=True).start()

    def _serve(self, line: _Line) -> None:
        """Only who knows the secret and says hello comes in."""
        try:
            hello = line.greet(self._secret)
            if isinstance(hello, Hello) and (unit := self._adopt(line, hello.unit)) is not None:
                line.send(Assignment(unit))
                self._open(line)
                while not self._closing:
                    self._inbox.put((line, line.receive()))
                    line.taken.acquire()  # what was not taken waits over there
        except (OSError, EOFError, AuthenticationError, pickle.UnpicklingError):
            pass  # somebody who went away, or does not belong here
        finally:
            self._inbox.put((line, Goodbye()))
            with self._lock:
                self._lines.discard(line)
                line.close()

    def _adopt(self, line: _Line, number: int) -> Unit | None:
        """The unit of a new worker, unless it is over or all is.

        Whoever had it before ends when we hang up.
        """
        with self._lock:
            unit = self._units.get(number)
            if unit is None or self._command is Command.STOP or self._closing:
                return None
            if (earlier := self._workers.get(number)) is not None:
                earlier.hang_up()
            self._workers[number] = line
            line.unit = number
        return unit

    def _open(self, line: _Line) -> None:
        """From now on it hears commands, and those it has missed."""
        with self._lock:
            line.is_open = True
            if self._command is not Command.RESUME:
                line.send(self._command)


class _Line:
    """A connection. The thread that serves it closes it; others only hang up."""

    def __init__(self, connection: Connection) -> None:
        self.unit = _NO_UNIT
        self.is_open = False  # for commands
        self.taken = threading.Semaphore(0)
        self._connection = connection
        self._socket = socket.socket(fileno=os.dup(connection.fileno()))

    def greet(self, secret: bytes) -> object:
        """The first message of somebody who knows the secret."""
        with hurried(self._connection):
            deliver_challenge(self._connection, secret)
            answer_challenge(self._connection, secret)
            return self.receive()

    def receive(self) -> object:
        return self._connection.recv()

    def send(self, message: Assignment | Command) -> None:
        self._connection.send(message)

    def hang_up(self) -> None:
        """Whoever waits to hear or to be heard here, on either side, no longer does."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self.taken.release()

    def close(self) -> None:
        self._socket.close()
        self._connection.close()


_NO_UNIT = -1


def _family(address: Address | None) -> str | None:
    """Said where `multiprocessing` would guess wrong."""
    return "AF_INET6" if isinstance(address, tuple) and ":" in address[0] else None
