"""One thread that owns one worker process: starts it, passes on what it says, ends it.

Knows nothing of Qt. A worker that is asked to stop and does not is killed with its whole process
group; one that dies by itself is reported, with its last words.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO

from engine.workers.job_messages import Batch, Cancel, Done, End, Failed, Pause, Stopped
from engine.workers.link import Failure, JobProgress, unexpected
from engine.workers.program import kill_group, signal_name

BATCH_SECONDS = 0.1
GRACE_SECONDS = 1.5
"""How long work may take to stop before it is killed."""
_LAST_WORDS_BYTES = 4000

Report = Callable[[Batch | End], None]


class Supervisor(threading.Thread):
    """Calls `report` from its own thread: batches first, then exactly one end."""

    def __init__(
        self, work: Callable[..., object], arguments: tuple[object, ...], report: Report
    ) -> None:
        super().__init__(name=f"supervisor of {getattr(work, '__name__', 'work')}", daemon=True)
        self._work, self._arguments, self._report = work, arguments, report
        self._outbox: deque[Cancel | Pause] = deque()
        self._kill_at = float("inf")
        self.pid: int | None = None

    def stop(self) -> None:
        """Ask politely; from now on the work has a while to end."""
        if not self.stopping:
            self._kill_at = time.monotonic() + GRACE_SECONDS
            self._outbox.append(Cancel())

    @property
    def stopping(self) -> bool:
        return self._kill_at < float("inf")

    def pause(self, paused: bool) -> None:
        self._outbox.append(Pause(paused))

    def run(self) -> None:
        try:
            end = self._supervise()
        except OSError as error:
            message = f"the worker process could not be started: {error}"
            end = Failed(Failure(message, "see that there is memory and disk space left"))
        except Exception as error:  # arguments that cannot be sent, for example
            end = Failed(unexpected(f"{type(error).__name__}: {error}"))
        if self.stopping and not isinstance(end, Failed):
            end = Stopped()
        self._report(end)
        del self._report  # the receiver must not be kept alive, and deleted, by this thread

    def _supervise(self) -> End:
        with (
            tempfile.TemporaryFile() as output,
            # Removed also if it is killed; what others still write there must not spoil the end.
            tempfile.TemporaryDirectory(prefix="plumbline-", ignore_cleanup_errors=True) as folder,
        ):
            process, connection = _start_worker(output, folder)
            self.pid = process.pid
            try:
                with connection:
                    end = self._follow(process, connection)
            finally:
                kill_group(process)
            if end is not None:
                return end
            if self.stopping:
                return Stopped()
            return Failed(_lost(process.returncode, _last_words(output)))

    def _follow(self, process: subprocess.Popen[bytes], connection: Connection) -> End | None:
        """Until the work ends; None if its process dies or has to be killed."""
        gathered = _Gathered(self._report)
        try:
            connection.send(sys.path)
            connection.send((self._work, self._arguments))
            while time.monotonic() < self._kill_at:
                while self._outbox:
                    connection.send(self._outbox.popleft())
                if connection.poll(BATCH_SECONDS):
                    message = connection.recv()
                    if not isinstance(message, Batch):
                        _let_go(process)
                        assert isinstance(message, Done | Failed | Stopped)
                        return message
                    gathered.add(message)
                gathered.report_if_due()
        except (OSError, EOFError):
            _let_go(process)
        finally:
            gathered.report()
        return None


class _Gathered:
    """What arrived since the last report, so that there are at most ten a second."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._events: list[object] = []
        self._progress: JobProgress | None = None
        self._due = 0.0

    def add(self, batch: Batch) -> None:
        self._events += batch.events
        self._progress = batch.progress or self._progress

    def report_if_due(self) -> None:
        if time.monotonic() >= self._due:
            self.report()

    def report(self) -> None:
        if self._events or self._progress is not None:
            self._report(Batch(self._events, self._progress))
            self._events, self._progress = [], None
            self._due = time.monotonic() + BATCH_SECONDS


def _start_worker(output: IO[bytes], temporary: str) -> tuple[subprocess.Popen[bytes], Connection]:
    ours, theirs = Pipe()
    try:
        root = str(Path(__file__).resolve().parents[2])
        paths = [root, os.environ.get("PYTHONPATH", "")]
        process = subprocess.Popen(
            # -P: modules beside the user's files must not shadow ours
            [
                *(sys.executable, "-P", "-m", "engine.workers.job_process"),
                *(str(theirs.fileno()), str(os.getpid())),
            ],
            env={
                **os.environ,
                "OMP_NUM_THREADS": "1",  # one thread for torch: more are slower, and take the cores
                "PYTHONPATH": os.pathsep.join(path for path in paths if path),
                "TMPDIR": temporary,
            },
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=[theirs.fileno()],
            process_group=0,
        )
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    return process, ours


def _let_go(process: subprocess.Popen[bytes]) -> None:
    """A process that has said its last needs a moment to clean up behind itself.

    It is not reaped here: as long as it is not, its group can be killed safely.
    """
    deadline = time.monotonic() + GRACE_SECONDS
    flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
    while os.waitid(os.P_PID, process.pid, flags) is None and time.monotonic() < deadline:
        time.sleep(0.01)


def _last_words(output: IO[bytes]) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - _LAST_WORDS_BYTES))
    return output.read().decode("utf-8", "replace").strip()


def _lost(return_code: int, last_words: str) -> Failure:
    """Why a process ended before its work did."""
    hint = "what was saved before is safe: start it again"
    if return_code == -signal.SIGKILL:
        message = "the worker process was killed from outside, or needed more memory than there is"
    elif return_code < 0:
        message = f"the worker process died of {signal_name(return_code)}"
    else:
        message = f"the worker process ended with exit code {return_code}"
    return Failure(message, hint, last_words)
