"""The main program of every worker: `python -m engine.workers.worker DESCRIPTOR LINE`.

It takes one call, a function of the engine by name and its arguments, and makes it. Events are sent
in batches ten times a second while another thread listens for orders.
"""

from __future__ import annotations

import fcntl
import importlib
import logging
import os
import select
import signal
import socket
import sys
import threading
import traceback
from contextlib import suppress
from types import FunctionType, ModuleType
from typing import NoReturn

from engine.errors import CancelledError, PlumblineError
from engine.workers.channel import (
    Call,
    ChannelError,
    Command,
    Connection,
    End,
    Events,
    Order,
    pack,
    parameter_types,
)
from engine.workers.limits import ProcessLimits
from engine.workers.link import Failure, JobProgress, Link, WorkerLink, unexpected
from engine.workers.program import adopt_orphans, kill_descendants, name_process

CALLABLE = ("engine.usecases.", "engine.campaign.unit:", "engine.policies.plugin.host:")
"""Where functions are that other processes may call: those whose first parameter is a `Link`, or
a `Connection` if they talk to their caller in their own way."""

NAME = "plumbline-work"
SEND_SECONDS = 0.1
MAX_BATCH = 500
"""Events per message, so that decoding one does not keep a window from drawing."""
END_SECONDS = 1.0
"""How long work may take to stop when its caller is gone."""
LIMIT_SECONDS = 3.0
"""How long it may take when it has reached a limit, because it still has results to send."""

_log = logging.getLogger("engine.workers.worker")


def main() -> None:
    descriptor, line = map(int, sys.argv[1:])
    work(descriptor, line)


def work(descriptor: int, line: int) -> NoReturn:
    """Be a worker that is called by a socket and ends when the other end of a pipe is closed."""
    die_with(line)
    name_process(NAME)
    adopt_orphans()
    os.set_inheritable(descriptor, False)  # what the work starts must not keep it open
    serve(Connection(socket.socket(fileno=descriptor)))
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    kill_descendants(os.getpid())
    os._exit(0)  # everything is sent and closed: finalizing the interpreter would only take time


def die_with(line: int) -> None:
    """When the other end of a pipe is closed, be killed at once with everything started here.

    The system does it, so it works even if no Python code gets a turn, and however the other
    process ended.
    """
    os.set_inheritable(line, False)
    if sys.platform == "linux":
        fcntl.fcntl(line, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(line, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(line, fcntl.F_SETFL, fcntl.fcntl(line, fcntl.F_GETFL) | os.O_ASYNC)
        ended = select.poll()
        ended.register(line, 0)
        if ended.poll(0):  # before the system was told to watch it
            os._exit(1)


def serve(connection: Connection) -> None:
    """Receive a call, perform it, and report how it ended."""
    try:
        call = connection.receive()
        if not isinstance(call, Call):
            raise ChannelError("something else before the call")
        function = find_function(call.function)
        arguments = call.arguments_for(function)
        call.limits.apply()
    except (OSError, EOFError):
        return  # the caller is gone
    except Exception as error:
        connection.send(End(failure=unexpected(f"the call cannot be made: {error}")))
        return
    if _first_parameter(function) is Connection:
        function(connection, *arguments)
        return
    from engine.logs import set_up_logging

    set_up_logging()
    link = ProcessLink(connection, call.limits)
    link.finish(perform(function, link, arguments))


def find_function(name: str) -> FunctionType:
    """The function of that name, if others may call it."""
    module, _, function = name.partition(":")
    if name.startswith(CALLABLE) and function.isidentifier():
        found = getattr(_imported(module), function, None)
        if (
            isinstance(found, FunctionType)
            and found.__module__ == module
            and _first_parameter(found) in (Link, WorkerLink, Connection)
        ):
            return found
    raise ChannelError(f"{name!r:.100} is not a function to call from another process")


def _imported(name: str) -> ModuleType | None:
    """Import a module; None if it does not exist, but errors inside it are raised."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not name.startswith(error.name):
            raise
        return None


def _first_parameter(function: FunctionType) -> object:
    return next(iter(parameter_types(function).values()), None)


def perform(function: FunctionType, link: WorkerLink, arguments: list[object]) -> End:
    """Make the call and return how it ended, whatever happens."""
    try:
        return End(pack(function(link, *arguments)))
    except CancelledError:
        return End(failure=Failure(link.limit)) if link.limit else End(stopped=True)
    except PlumblineError as error:
        return End(failure=_expected(error))
    except MemoryError:
        if link.memory_is_over():
            return End(failure=Failure(link.limit))
        return End(failure=Failure("it ran out of memory", "choose smaller problems or limits"))
    except Exception as error:
        _log.exception("internal error in %s", function.__name__)
        return End(failure=unexpected(f"{type(error).__name__}: {error}"))


def _expected(error: PlumblineError) -> Failure:
    place = str(error.location)
    message = f"{place}: {error.message}" if place else error.message
    return Failure(message, error.hint, "".join(traceback.format_exception_only(error)))


class ProcessLink(WorkerLink):
    """Sends what the work reports to the process that started this one, and obeys its orders."""

    def __init__(self, connection: Connection, limits: ProcessLimits) -> None:
        super().__init__(limits)
        self._connection = connection
        self._reports = threading.Lock()
        self._events: list[object] = []
        self._progress: JobProgress | None = None
        self._defect: Failure | None = None  # an event that cannot be sent
        self._sender = threading.Thread(target=self._send_often, name="sender", daemon=True)
        self._sender.start()
        for target in (self._listen, self._end_at_limit):
            threading.Thread(target=target, name=target.__name__, daemon=True).start()

    def emit(self, event: object) -> None:
        with self._reports:
            self._events.append(event)

    def progress(self, done: float, total: float | None = None, text: str = "") -> None:
        with self._reports:
            self._progress = JobProgress(done, total, text)

    def close(self) -> None:
        super().close()
        self.at_limit.set()  # wakes who waits for a limit

    def finish(self, end: End) -> None:
        """Send what is left, and how it ended."""
        self.close()
        self._sender.join()
        with suppress(OSError):  # the caller is gone
            self._send()
            self._connection.send(End(failure=self._defect) if self._defect else end)

    def _send_often(self) -> None:
        while not self._closed.wait(SEND_SECONDS):
            try:
                self._send()
            except MemoryError:
                continue  # nothing is lost: there may be some when the work has ended
            except OSError:
                self.stop()
                return

    def _send(self) -> None:
        while True:
            with self._reports:
                events, progress = self._events[:MAX_BATCH], self._progress
            if not events and progress is None:
                return
            try:
                batch = Events(tuple(map(pack, events)), progress)
            except (TypeError, ValueError, OverflowError) as error:
                self._defect = unexpected(f"an event cannot be sent: {error}")
                batch = Events()
                self.stop()
            self._connection.send(batch)
            with self._reports:
                del self._events[: len(events)]
                if self._progress is progress:
                    self._progress = None

    def _listen(self) -> None:
        while True:
            try:
                order = self._connection.receive()
            except (OSError, EOFError, ChannelError):
                break
            match order:
                case Order(Command.STOP):
                    self.stop()
                case Order(Command.PAUSE):
                    self.pause()
                case Order(Command.RESUME):
                    self.resume()
        self.stop()
        if not self._closed.wait(END_SECONDS):
            kill_descendants(os.getpid())
            os._exit(1)

    def _end_at_limit(self) -> None:
        """End what does not end by itself at its limit, such as a slow policy."""
        self.at_limit.wait()
        if not self._closed.wait(LIMIT_SECONDS):
            message = f"{self.limit}, in the middle of a step that took too long"
            self.finish(End(failure=Failure(message)))
            kill_descendants(os.getpid())
            os._exit(1)


if __name__ == "__main__":
    main()
