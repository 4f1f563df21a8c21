"""Where units run: worker processes of this machine, at most N at a time, or a Dask cluster.

The interface is `concurrent.futures.Executor`. What is submitted starts a process of its own for
the unit and waits for its end, so that a crash, a leak or an endless loop costs that unit alone,
on any kind of executor.
"""

from __future__ import annotations

import os
import re
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import msgspec

from engine.errors import UsageError
from engine.files import scratch_errors, scratch_folder
from engine.workers.channel import AnyMessage, Call, FrameReader, Message, frame
from engine.workers.limits import NO_LIMITS, ProcessLimits
from engine.workers.link import NULL_LINK
from engine.workers.program import Chunk, Output, kill_group, run_process
from engine.workers.ticket import Address, Ticket

if TYPE_CHECKING:
    from engine.workers.cluster import ClusterSize


WORKER = "engine.workers.worker"

Result = TypeVar("Result")

_CHUNK = 2**20
_HARMLESS = re.compile(
    "PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_.*|TZ|TERM|TMPDIR|XDG_.*|PLUMBLINE_.*|"
    "PYTHON(PATH|HOME|HASHSEED|UTF8|WARNINGS|DONTWRITEBYTECODE|PYCACHEPREFIX|USERBASE)|"
    "VIRTUAL_ENV|CONDA_PREFIX|(DY)?LD_LIBRARY_PATH|CUDA_.*|NVIDIA_.*|"
    "(OMP|MKL|OPENBLAS|NUMEXPR|KMP|BLIS|TORCH|VECLIB)_.*"
)
"""Environment variables that code of others may see: no tokens, passwords or agents."""


def start(
    call: Call,
    limits: ProcessLimits = NO_LIMITS,
    *,
    confined: bool = False,
    on_line: Callable[[str], None] | None = None,
    warm: bool = False,
) -> Worker:
    """Start a process that makes a call; OSError if that is impossible.

    `confined` hides variables of the environment from code that is not ours. `on_line` gets every
    line that it prints. `warm` is reserved for a process that has imported the engine and forks.
    """
    del warm  # everything that a worker needs comes by its connection, so it may be forked as well
    return Worker(msgspec.structs.replace(call, limits=limits), confined, on_line)


class Worker:
    """A process of ours with its connection, output and temporary files.

    Used by one thread, but for `post`. Nothing is ever waited for beyond the seconds that are given
    to `pump`. The process ends with this object, and with the process that has it.
    """

    def __init__(
        self, call: Call, confined: bool = False, on_line: Callable[[str], None] | None = None
    ) -> None:
        self.output = Output(on_line)
        folder = Path(tempfile.gettempdir(), f"plumbline-worker-{os.urandom(6).hex()}")
        try:
            folder.mkdir(mode=0o700)
            self._process, self._socket, line = _start_process(folder, confined)
            self._selector = selectors.DefaultSelector()
            parts = self._process, self._socket, line, self._selector, folder
            self._finalizer = weakref.finalize(self, _end, *parts)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        assert self._process.stdout is not None
        self._printed: IO[bytes] = self._process.stdout
        for source in (self._socket, self._printed):
            os.set_blocking(source.fileno(), False)
            self._selector.register(source, selectors.EVENT_READ)
        self._reader = FrameReader()
        self._hung_up = False
        self._lock = threading.Lock()
        self._unsent = bytearray()
        self.post(call)

    @property
    def pid(self) -> int:
        return self._process.pid

    def post(self, message: Message) -> None:
        """Let `pump` send a message."""
        data = frame(message)
        with self._lock:
            self._unsent += data

    def pump(self, seconds: float) -> list[AnyMessage]:
        """Send and receive what can be; waits a while if that is nothing.

        EOFError if there will be nothing more, ChannelError if it sends what is not a message.
        """
        if self._hung_up:
            raise EOFError
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._unsent else 0)
        self._selector.modify(self._socket, wanted)
        for key, ready in self._selector.select(seconds):
            if key.fileobj is self._printed:
                self._read_output()
            else:
                if ready & selectors.EVENT_WRITE:
                    self._send()
                if ready & selectors.EVENT_READ:
                    self._receive()
        messages: list[AnyMessage] = []
        while (message := self._reader.take()) is not None:
            messages.append(message)
        return messages

    def wait(self, seconds: float) -> bool:
        """Whether it ends by itself within a while; it is not reaped, so its group can be killed.

        Then everything that it printed is in its output.
        """
        deadline = time.monotonic() + seconds
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        while os.waitid(os.P_PID, self.pid, flags) is None:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        self._read_output()
        return True

    def close(self) -> int:
        """End it with everything that it started; the return code of the process."""
        self._finalizer()
        return self._process.returncode

    def _send(self) -> None:
        with self._lock:
            try:
                del self._unsent[: self._socket.send(self._unsent[:_CHUNK])]
            except BlockingIOError:
                return
            except OSError:
                self._unsent.clear()  # nobody reads it: then receiving fails as well

    def _receive(self) -> None:
        try:
            data = self._socket.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._reader.feed(data)
        self._hung_up = not data

    def _read_output(self) -> None:
        for _ in range(16):  # who never stops printing must not hold us up
            chunk = self.output.read(self._printed)
            if chunk is Chunk.END and self._printed in self._selector.get_map():
                self._selector.unregister(self._printed)
            if chunk is not Chunk.DATA:
                return


def _start_process(
    folder: Path, confined: bool
) -> tuple[subprocess.Popen[bytes], socket.socket, int]:
    """A process that knows its socket and a pipe that is closed when we end."""
    ours, theirs = socket.socketpair()
    their_line, our_line = os.pipe()
    descriptors = theirs.fileno(), their_line
    try:
        process = subprocess.Popen(
            # -P: modules beside the user's files must not shadow ours; -u: its last words count
            [sys.executable, "-P", "-u", "-m", WORKER, *map(str, descriptors)],
            env=_environment(os.environ, folder, confined),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            pass_fds=descriptors,
            process_group=0,
        )
    except BaseException:
        ours.close()
        os.close(our_line)
        raise
    finally:
        theirs.close()
        os.close(their_line)
    return process, ours, our_line


def _environment(present: Mapping[str, str], folder: Path, confined: bool) -> dict[str, str]:
    """Finds this engine; torch uses one thread, because more are slower and take the cores."""
    seen = {name: present[name] for name in present if not confined or _HARMLESS.fullmatch(name)}
    root = str(Path(__file__).resolve().parents[2])
    paths = [root, present.get("PYTHONPATH", "")]
    threads = present.get("OMP_NUM_THREADS", "1") if confined else "1"
    return {
        **seen,
        "OMP_NUM_THREADS": threads,
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        "TMPDIR": str(folder),
    }


def _end(
    process: subprocess.Popen[bytes],
    connection: socket.socket,
    line: int,
    selector: selectors.BaseSelector,
    folder: Path,
) -> None:
    kill_group(process)
    os.close(line)
    selector.close()
    connection.close()
    assert process.stdout is not None
    process.stdout.close()
    # What others still write there must not spoil the end.
    shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class WorkerEnd:
    return_code: int  # negative: the signal that ended it
    last_words: str


class LocalExecutor(ThreadPoolExecutor):
    """What is submitted can be cancelled; when the executor is shut down, it is."""

    def __init__(self, places: int) -> None:
        super().__init__(places, thread_name_prefix="unit")
        self._over = threading.Event()

    def submit(self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        return super().submit(fn, *args, cancelled=self._over.is_set, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._over.set()
        super().shutdown(wait, cancel_futures=cancel_futures)


def run_worker(ticket: Ticket, cancelled: Callable[[], bool] = NULL_LINK.cancelled) -> WorkerEnd:
    """Start the process of a unit and wait for its end; its temporary files end with it."""
    root = str(Path(__file__).resolve().parents[2])
    paths = [root, os.environ.get("PYTHONPATH", "")]
    with scratch_errors(), scratch_folder("worker") as folder:
        result = run_process(
            # -P: modules beside the user's files must not shadow ours
            [sys.executable, "-P", "-m", WORKER],
            folder=folder,
            environment={
                "OMP_NUM_THREADS": "1",
                "PYTHONPATH": os.pathsep.join(path for path in paths if path),
                "TMPDIR": str(folder),
                **ticket.environment(),
            },
            cancelled=cancelled,
        )
    return WorkerEnd(result.return_code, result.output[-1] if result.output else "")


def make_executor(text: str) -> Executor:
    """The executor a user asks for: `local:N` or `dask:ADDRESS`."""
    if found := re.fullmatch(r"local:([1-9][0-9]{0,3})", text):
        return LocalExecutor(int(found[1]))
    if found := re.fullmatch(r"dask:(\S+)", text):
        from engine.workers.cluster import ClusterExecutor

        return ClusterExecutor(found[1])
    raise UsageError(
        f"there is no executor '{text}'",
        hint="write local:N for N processes of this machine, or dask:ADDRESS for a cluster",
    )


def cluster_size(executor: Executor) -> ClusterSize | None:
    """How many workers there are now, if that is not for us to say."""
    size: ClusterSize | None = getattr(executor, "size", None)
    return size


def hub_address(executor: Executor) -> Address | None:
    """Where the campaign has to listen so that its workers reach it; None: on this machine."""
    address: Address | None = getattr(executor, "hub_address", None)
    return address
