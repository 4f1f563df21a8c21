"""Starts our own processes: jobs of the window, units of campaigns and plug-ins.

Each of them makes one call (`worker.py`). A crash, a leak or an endless loop costs that call alone.
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
from pathlib import Path
from typing import IO

import msgspec

from engine.records.codec import Record
from engine.workers.channel import AnyMessage, Call, FrameReader, frame
from engine.workers.limits import NO_LIMITS, ProcessLimits
from engine.workers.program import Chunk, Output, kill_descendants, kill_group

WORKER = "engine.workers.worker"

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
        temporary = Path(tempfile.gettempdir())
        # A plug-in is restarted often; it shares the folder of the process that uses it.
        folder = None if confined else temporary / f"plumbline-worker-{os.urandom(6).hex()}"
        try:
            if folder is not None:
                folder.mkdir(mode=0o700)
            self._process, self._socket, line = _start_process(folder or temporary, confined)
            self._selector = selectors.DefaultSelector()
            parts = self._process, self._socket, line, self._selector, folder
            self._finalizer = weakref.finalize(self, _end, *parts)
        except BaseException:
            _remove(folder)
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

    def post(self, message: Record) -> None:
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
    folder: Path | None,
) -> None:
    if process.returncode is None:
        kill_descendants(process.pid)
    kill_group(process)
    os.close(line)
    selector.close()
    connection.close()
    assert process.stdout is not None
    process.stdout.close()
    _remove(folder)


def _remove(folder: Path | None) -> None:
    """What others still write there must not spoil the end."""
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
