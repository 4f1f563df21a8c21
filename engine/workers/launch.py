"""Starts our own processes: jobs of the window, units of campaigns and plug-ins.

Each of them makes one call (`worker.py`). A crash, a leak or an endless loop costs that call alone.
"""

from __future__ import annotations

import os
import re
import selectors
import socket
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Protocol

import msgspec

from engine.files import scratch_errors
from engine.records.codec import Record
from engine.workers.channel import AnyMessage, Call, FrameReader, frame
from engine.workers.limits import NO_LIMITS, ProcessLimits
from engine.workers.program import (
    FOLDER,
    Chunk,
    Output,
    has_exited,
    kill_descendants,
    kill_group,
    kill_strays,
    remove_folder,
)
from engine.workers.warm import WARMTH

WORKER = "engine.workers.worker"

LOOK_SECONDS = 0.005
"""How often to check whether a worker has ended."""
_CHUNK = 2**20
_HARMLESS = re.compile(
    "PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_.*|TZ|TERM|TMPDIR|XDG_.*|PLUMBLINE_.*|"
    "PYTHON(PATH|HOME|HASHSEED|UTF8|WARNINGS|DONTWRITEBYTECODE|PYCACHEPREFIX|USERBASE)|"
    "VIRTUAL_ENV|CONDA_PREFIX|(DY)?LD_LIBRARY_PATH|CUDA_.*|NVIDIA_.*|"
    "(OMP|MKL|OPENBLAS|NUMEXPR|KMP|BLIS|TORCH|VECLIB)_.*"
)
"""Environment variables that code of others may see: no tokens, passwords or agents."""


def prepare(*, fork: bool = False) -> None:
    """Let workers start at once from now on, or soon; see `warm.py`."""
    with scratch_errors():
        temporary = Path(tempfile.gettempdir())
    WARMTH.prepare(worker_environment(os.environ, temporary, confined=False), fork=fork)


def start(
    call: Call,
    limits: ProcessLimits = NO_LIMITS,
    *,
    confined: bool = False,
    fresh: bool = False,
    on_line: Callable[[str], None] | None = None,
) -> Worker:
    """Start a process that makes a call; OSError if that is impossible.

    `confined` hides variables of the environment from code that is not ours. A `fresh` worker is
    started as a program even if it could be forked. `on_line` gets every line that it prints.
    """
    call = msgspec.structs.replace(call, limits=limits)
    return Worker(call, confined=confined, fresh=fresh or confined, on_line=on_line)


class Worker:
    """A process of ours with its connection, output and temporary files.

    Use it in one thread, except for `post`. It never waits longer than the seconds that `pump` is
    given. The process ends with this object, and with the process that has it.
    """

    def __init__(
        self, call: Call, confined: bool, fresh: bool, on_line: Callable[[str], None] | None
    ) -> None:
        self.output = Output(on_line)
        temporary = Path(tempfile.gettempdir())
        # A plug-in is restarted often; it shares the folder of the process that uses it.
        folder = None if confined else temporary / f"{FOLDER}{os.urandom(6).hex()}"
        try:
            if folder is not None:
                folder.mkdir(mode=0o700)
            environment = worker_environment(os.environ, folder or temporary, confined)
            self._process, self._socket, self._printed, line = _start_process(environment, fresh)
            self._selector = selectors.DefaultSelector()
            parts = self._selector, self._socket, self._printed
            self._finalizer = weakref.finalize(self, _end, self._process, line, folder, *parts)
        except BaseException:
            remove_folder(folder)
            raise
        for source in (self._socket, self._printed):
            os.set_blocking(source.fileno(), False)
            self._selector.register(source, selectors.EVENT_READ)
        self._reader = FrameReader()
        self._hung_up = False
        self._return_code = 0
        self._lock = threading.Lock()
        self._unsent = bytearray()
        self.post(call)

    @property
    def pid(self) -> int | None:
        """None until it is known."""
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
        while not self._process.has_ended():
            if time.monotonic() > deadline:
                return False
            time.sleep(LOOK_SECONDS)
        self._read_output()
        return True

    def close(self) -> int:
        """End it with everything that it started; the return code of the process."""
        code = self._finalizer()
        if code is not None:
            self._return_code = code
        return self._return_code

    def _send(self) -> None:
        with self._lock:
            try:
                del self._unsent[: self._socket.send(self._unsent[:_CHUNK])]
            except BlockingIOError:
                return
            except OSError:
                self._unsent.clear()  # no reader: then receiving fails as well

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
        for _ in range(16):  # endless output must not hold us up
            chunk = self.output.read(self._printed)
            if chunk is Chunk.END and self._printed in self._selector.get_map():
                self._selector.unregister(self._printed)
            if chunk is not Chunk.DATA:
                return


class _Process(Protocol):
    """A program of ours, or a fork of the warm process."""

    @property
    def pid(self) -> int | None: ...

    def has_ended(self) -> bool:
        """It is not reaped before `end`, so that its group can be killed."""

    def end(self) -> int:
        """Kill it with all that it started; its return code."""


class _Program:
    def __init__(self, environment: Mapping[str, str], connection: int, line: int, output: int):
        self._process = subprocess.Popen(
            # -P: modules beside the user's files must not shadow ours; -u: its last words count
            [sys.executable, "-P", "-u", "-m", WORKER, str(connection), str(line)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=(connection, line),
            process_group=0,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def has_ended(self) -> bool:
        return has_exited(self._process)

    def end(self) -> int:
        kill_descendants(self.pid)
        kill_group(self._process)
        return self._process.returncode


def _start_process(
    environment: Mapping[str, str], fresh: bool
) -> tuple[_Process, socket.socket, IO[bytes], int]:
    """A process, our end of its connection, what it prints, and a pipe to close when we end."""
    ours, theirs = socket.socketpair()
    their_line, our_line = os.pipe()
    printed, output = os.pipe()
    descriptors = theirs.fileno(), their_line, output
    try:
        process: _Process | None = None
        if not fresh:
            process = WARMTH.fork_worker(environment, *descriptors)
        if process is None:
            process = _Program(environment, *descriptors)
    except BaseException:
        ours.close()
        os.close(our_line)
        os.close(printed)
        raise
    finally:
        theirs.close()
        os.close(their_line)
        os.close(output)
    return process, ours, open(printed, "rb", buffering=0), our_line


def worker_environment(present: Mapping[str, str], folder: Path, confined: bool) -> dict[str, str]:
    """Finds this engine; torch uses one thread, because more are slower and take the cores."""
    seen = {name: present[name] for name in present if not confined or _HARMLESS.fullmatch(name)}
    root = str(Path(__file__).resolve().parents[2])
    paths = [root, *present.get("PYTHONPATH", "").split(os.pathsep)]
    threads = present.get("OMP_NUM_THREADS", "1") if confined else "1"
    return {
        **seen,
        "OMP_NUM_THREADS": threads,
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(path for path in paths if path)),
        "TMPDIR": str(folder),
    }


def _end(process: _Process, line: int, folder: Path | None, *open_parts: _Closable) -> int:
    code = process.end()
    if folder is not None and code:  # it could not clean up after itself
        kill_strays(folder)
    os.close(line)
    for part in open_parts:
        part.close()
    remove_folder(folder)
    return code


class _Closable(Protocol):
    def close(self) -> None: ...
