"""The worker process: `python -m engine.workers.job_process`, started by `supervisor.py`.

It runs one work function and ends. Events go out in batches ten times a second; a second thread
listens for requests. The process dies with the window, and all it started dies with it; where
cores are scarce it lets the window go first.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection

from engine.errors import CancelledError, PlumblineError
from engine.native.control import Control
from engine.workers.job_messages import Batch, Cancel, Done, End, Failed, Pause, Stopped
from engine.workers.link import Failure, JobProgress, Link, unexpected

SEND_SECONDS = 0.1
LARGEST_BATCH = 500
"""Events per message: unpickling a message must not keep the window from drawing."""

_PR_SET_PDEATHSIG = 1
_NICE = 5


class ProcessLink(Link):
    """The `Link` of a worker process."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._events: list[object] = []
        self._progress: JobProgress | None = None
        self._paused = False
        self._control = Control()
        self._closed = threading.Event()
        self._sender = threading.Thread(target=self._send_often, name="sender", daemon=True)
        threading.Thread(target=self._listen, name="listener", daemon=True).start()
        self._sender.start()

    @property
    def control(self) -> Control:
        return self._control

    def emit(self, event: object) -> None:
        with self._lock:
            self._events.append(event)

    def progress(self, done: float, total: float | None = None, text: str = "") -> None:
        with self._lock:
            self._progress = JobProgress(done, total, text)

    def cancelled(self) -> bool:
        return self._control.cancelled

    def paused(self) -> bool:
        return self._paused

    def close(self, end: End) -> None:
        """Send what is left, and how it ended."""
        self._closed.set()
        self._sender.join()
        try:
            self._send()
            self._connection.send(end)
        except OSError:
            pass  # the window is gone
        except Exception:  # something that cannot be pickled
            self._connection.send(Failed(unexpected("its result cannot be sent")))

    def _send_often(self) -> None:
        while not self._closed.wait(SEND_SECONDS):
            try:
                self._send()
            except OSError:
                self._control.cancel()
                return

    def _send(self) -> None:
        with self._lock:
            events, self._events = self._events, []
            progress, self._progress = self._progress, None
        for start in range(0, len(events), LARGEST_BATCH):
            self._connection.send(Batch(events[start : start + LARGEST_BATCH]))
        if progress is not None:
            self._connection.send(Batch([], progress))

    def _listen(self) -> None:
        while True:
            try:
                request = self._connection.recv()
            except (OSError, EOFError):
                self._control.cancel()
                return
            if isinstance(request, Cancel):
                self._control.cancel()
            elif isinstance(request, Pause):
                self._paused = request.paused


def expected(error: PlumblineError) -> Failure:
    place = str(error.location)
    message = f"{place}: {error.message}" if place else error.message
    return Failure(message, error.hint, "".join(traceback.format_exception_only(error)))


def perform(work: Callable[..., object], link: ProcessLink, arguments: tuple[object, ...]) -> End:
    """Do the work; whatever happens, this is how it ended."""
    try:
        return Done(work(link, *arguments))
    except CancelledError:
        return Stopped()
    except PlumblineError as error:
        return Failed(expected(error))
    except MemoryError:
        return Failed(Failure("it ran out of memory", "choose smaller problems or limits"))
    except Exception as error:
        return Failed(unexpected(f"{type(error).__name__}: {error}"))


def die_with(parent: int) -> None:
    """Where the system can do it, be killed when the window's process ends, however it ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            sys.exit(1)


def main() -> None:
    descriptor, parent = map(int, sys.argv[1:])
    die_with(parent)
    if sys.platform != "win32":
        os.nice(_NICE)
    os.set_inheritable(descriptor, False)  # what the work starts must not keep the pipe open
    connection = Connection(descriptor)
    try:
        sys.path[:] = connection.recv()
        work, arguments = connection.recv()
    except EOFError:
        return  # the window is gone
    except Exception as error:
        connection.send(Failed(unexpected(f"the work cannot be loaded: {error}")))
        return
    from engine.logs import set_up_logging

    set_up_logging()
    link = ProcessLink(connection)
    link.close(perform(work, link, arguments))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # all is said and closed: taking down the interpreter would only take time


if __name__ == "__main__":
    main()
