"""The process in which a unit runs: `python -m engine.workers.worker`.

It connects to its campaign first, so that it can be stopped while it still loads, and ends by
itself when the campaign is gone. Events are sent in batches a few times a second.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from engine import __version__
from engine.workers.channel import Ticket

if TYPE_CHECKING:
    from engine.campaign.unit import Unit
    from engine.records.events import UnitEvent
    from engine.workers.gate import Gate


SEND_SECONDS = 0.1
END_SECONDS = 1.0
"""How long a unit may take to stop before its process is ended."""
LIMIT_SECONDS = 3.0
"""How long it may take when it has reached a limit: then it has something to tell."""

_log = logging.getLogger(__name__)


def main() -> None:
    from engine.logs import set_up_logging

    set_up_logging()
    ticket = Ticket.from_environment()
    if ticket.version != __version__:
        sys.exit(
            f"this machine has Plumbline {__version__}, the campaign {ticket.version}: "
            "install the same version"
        )
    serve(ticket, end_process=True)


def serve(ticket: Ticket, end_process: bool = False) -> None:
    """Do a unit's work; with `end_process` a stop that takes too long ends the whole process."""
    try:
        connection = ticket.connect()
    except (OSError, EOFError, AuthenticationError) as error:
        # Nobody hears it if the campaign is over; if a firewall is in between, the user does.
        place = (
            ticket.address if isinstance(ticket.address, str) else "{}:{}".format(*ticket.address)
        )
        print(f"the campaign at {place} cannot be reached: {error}", flush=True)
        if end_process:
            sys.exit(1)
        return
    with connection:
        try:
            from engine.workers.channel import Assignment, Hello

            connection.send(Hello(ticket.unit))
            assignment = connection.recv()
            if isinstance(assignment, Assignment):
                _work(assignment.unit, connection, end_process)
        except (OSError, EOFError):
            _log.warning("unit %d: the campaign is gone", ticket.unit)


def _work(unit: Unit, connection: Connection, end_process: bool) -> None:
    from engine.campaign.unit import run_unit
    from engine.logs import log_path
    from engine.records.events import UnitFailed
    from engine.workers.channel import Goodbye
    from engine.workers.gate import Gate
    from engine.workers.limits import bound_process

    limits = unit.limits
    if end_process and limits.unit_megabytes is not None:
        bound_process(limits.unit_megabytes)
    gate = Gate(limits.unit_seconds, limits.unit_megabytes)
    outbox = _Outbox(connection)
    done = threading.Event()
    if end_process:
        arguments = unit.number, outbox, gate, done
        threading.Thread(target=_end_at_limit, args=arguments, name="end", daemon=True).start()
    deadline = END_SECONDS if end_process else None
    commands = threading.Thread(
        target=_obey, args=(connection, gate, done, deadline), name="commands", daemon=True
    )
    commands.start()
    try:
        run_unit(unit, outbox.put, gate)
    except MemoryError:
        outbox.put(UnitFailed(unit.number, "it ran out of memory", lost=True))
    except Exception:
        _log.exception("internal error in unit %d", unit.number)
        text = f"internal error: this is a defect of Plumbline; details in {log_path()}"
        outbox.put(UnitFailed(unit.number, text, lost=True))
    finally:
        done.set()
        gate.close()
        outbox.close()
    connection.send(Goodbye())
    commands.join(END_SECONDS)  # the campaign hangs up


def _end_at_limit(unit: int, outbox: _Outbox, gate: Gate, done: threading.Event) -> None:
    """What does not end by itself at its limit, such as a slow policy, is ended."""
    from engine.records.events import UnitFailed

    gate.at_limit.wait()
    if not done.wait(LIMIT_SECONDS):
        outbox.put(UnitFailed(unit, f"{gate.limit}, in the middle of a step that took too long"))
        with suppress(OSError):
            outbox.close()
        os._exit(1)


def _obey(
    connection: Connection, gate: Gate, done: threading.Event, deadline: float | None
) -> None:
    """Take commands; the campaign's end is one, too."""
    from engine.workers.channel import Command

    while True:
        try:
            command = connection.recv()
        except (OSError, EOFError):
            command = Command.STOP
        if command is Command.PAUSE:
            gate.pause()
        elif command is Command.RESUME:
            gate.resume()
        elif command is Command.STOP:
            gate.stop()
            if deadline is not None and not done.wait(deadline):
                os._exit(1)
            return


class _Outbox:
    """Collects events and sends them a little later, all that there are at once."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._events: list[UnitEvent] = []
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._send_often, name="outbox", daemon=True)
        self._thread.start()

    def put(self, event: UnitEvent) -> None:
        with self._lock:
            self._events.append(event)

    def close(self) -> None:
        self._closed.set()
        self._thread.join()
        self._send()

    def _send_often(self) -> None:
        while not self._closed.wait(SEND_SECONDS):
            try:
                self._send()
            except MemoryError:
                continue  # nothing is lost: there may be some when the unit has ended
            except OSError:
                return  # `close` meets the same error and tells

    def _send(self) -> None:
        from engine.workers.channel import Report

        with self._lock:
            events = tuple(self._events)
        if events:
            self._connection.send(Report(events))
            with self._lock:
                del self._events[: len(events)]


if __name__ == "__main__":
    main()
