"""A policy that somebody wrote in a Python file: `path/to/file.py:factory`.

It runs in a process of its own, so that a plug-in that crashes, hangs or answers nonsense ends in
a `PolicyError` and not in the end of the program. The next decision starts it again.
"""

from __future__ import annotations

import logging
import os
import selectors
import subprocess
import sys
import time
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from engine.errors import Location, PolicyError
from engine.files import read_text
from engine.native.library import Int32Array
from engine.pddl.model import Domain
from engine.policies.policy import PolicyInfo
from engine.task.atoms import format_atom
from engine.task.sas import write_sas
from engine.task.task import Task
from engine.workers.frames import Frame, FrameError, FrameReader
from engine.workers.program import kill_group, signal_name

MAX_LOSSES = 3
WORKER = "engine.policies.plugin.host"
GUIDE = "see docs/policy-plugins.md"
_CHUNK = 2**16

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PluginSettings:
    start_seconds: float = 60.0  # to load the file and call the factory: it may import torch
    decide_seconds: float = 30.0  # for one batch of states


def open_plugin(
    path: str | Path, factory: str, settings: PluginSettings | None = None
) -> PluginPolicy:
    """The plug-in policy; its code first runs when it is bound to a task."""
    source = read_text(path, "a Python file")
    if not factory.isidentifier():
        raise PolicyError(
            f"'{factory}' is not the name of a function",
            Location.of(path),
            "name a plug-in as path/to/file.py:factory",
        )
    try:
        compile(source, str(path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        message = error.msg if isinstance(error, SyntaxError) else str(error) or "it is too nested"
        raise PolicyError(f"not Python: {message}", Location.of(path, line)) from None
    return PluginPolicy(Path(path).resolve(), factory, settings or PluginSettings())


@dataclass(frozen=True)
class PluginPolicy:
    path: Path
    factory: str
    settings: PluginSettings

    def describe(self) -> PolicyInfo:
        return PolicyInfo("plug-in", None, {"file": str(self.path), "factory": self.factory})

    def misfits(self, domain: Domain) -> tuple[str, ...]:
        """Only the plug-in knows, and it says so when it is bound to a task."""
        del domain
        return ()

    def bind(self, task: Task) -> BoundPluginPolicy:
        """Start the plug-in for a task."""
        policy = BoundPluginPolicy(self, task)
        policy.restart()
        return policy


class BoundPluginPolicy:
    """A plug-in at work. Close it, or let it go: its process ends with this object."""

    def __init__(self, policy: PluginPolicy, task: Task) -> None:
        self._policy = policy
        self._task = task
        self._worker: _Worker | None = None
        self._losses = 0

    def decide(self, states: Int32Array) -> Int32Array:
        if len(states) == 0:
            return np.empty(0, dtype=np.int32)
        if self._losses >= MAX_LOSSES:
            raise self._error(f"the plug-in was lost {MAX_LOSSES} times in a row and is given up")
        if self._worker is None:
            self._start()
        header = {"kind": "decide", "states": states.shape[0], "variables": states.shape[1]}
        question = Frame(header, np.ascontiguousarray(states, dtype="<i4").tobytes())
        answer = self._exchange(question, "decisions", self._policy.settings.decide_seconds)
        ids = self._checked(answer.payload, len(states))
        self._losses = 0
        return ids

    def restart(self) -> None:
        """End the process and start a new one, whatever happened before."""
        self.close()
        self._losses = 0
        self._start()

    def close(self) -> None:
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def _start(self) -> None:
        try:
            self._worker = _Worker(self._policy.path, self._policy.factory)
        except _WorkerError as error:
            raise self._loss(str(error)) from error
        source = self._task.source
        objects = () if source is None else (*source.domain.constants, *source.problem.objects)
        header = {
            "kind": "task",
            "static_atoms": sorted(map(format_atom, self._task.static_atoms)),
            "objects": {item.name: " or ".join(item.types) for item in objects},
        }
        frame = Frame(header, write_sas(self._task).encode())
        self._exchange(frame, "ready", self._policy.settings.start_seconds)

    def _exchange(self, question: Frame, wanted: str, seconds: float) -> Frame:
        """Ask the worker. A plug-in that reports its own mistake lives on, others are ended."""
        assert self._worker is not None
        try:
            answer = self._worker.exchange(question.encode(), time.monotonic() + seconds)
        except _WorkerError as error:
            raise self._loss(str(error)) from None
        except TimeoutError:
            raise self._loss(f"the plug-in did not answer within {seconds:g} s") from None
        except BaseException:  # interrupted: what the worker says next would be out of step
            self.close()
            raise
        if answer.kind == "error":
            message = str(answer.header.get("message", ""))
            raise self._loss(message) if wanted == "ready" else self._error(message)
        if answer.kind != wanted:
            raise self._loss("the plug-in's process answered out of turn")
        return answer

    def _checked(self, payload: bytes, count: int) -> Int32Array:
        """Checked in the worker already, but the plug-in lives there too."""
        if len(payload) == 8 * count:
            ids = np.frombuffer(payload, dtype="<i8")
            if ids.min() >= -1 and ids.max() < len(self._task.operators):
                return ids.astype(np.int32)
        raise self._loss("the plug-in's process answered with something that is no decision")

    def _loss(self, message: str) -> PolicyError:
        """The process is ended; the next decision starts another one."""
        self.close()
        self._losses += 1
        return self._error(message)

    def _error(self, message: str) -> PolicyError:
        return PolicyError(message, Location.of(self._policy.path), GUIDE)


class _WorkerError(Exception):
    """The worker process is of no use any more."""


class _Worker:
    """The process and its three pipes, none of which is ever waited for beyond a deadline."""

    def __init__(self, path: Path, factory: str) -> None:
        theirs, ours = os.pipe()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-u", "-m", WORKER, str(path), factory, str(theirs)],
                env=_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                process_group=0,
                pass_fds=[theirs],
            )
        except OSError as error:
            os.close(ours)
            message = f"the plug-in's process could not be started: {error.strerror}"
            raise _WorkerError(message) from error
        finally:
            os.close(theirs)
        self._finalizer = weakref.finalize(self, _end, self._process, ours)
        self._frames = FrameReader()
        self._printed = _PrintedLines(path.name)
        for stream in _streams(self._process):
            os.set_blocking(stream.fileno(), False)

    def exchange(self, data: bytes, deadline: float) -> Frame:
        """Send a frame and return the next one that comes."""
        unsent = memoryview(data)
        stdin, stdout, stderr = _streams(self._process)
        with selectors.DefaultSelector() as selector:
            selector.register(stdin, selectors.EVENT_WRITE)
            selector.register(stdout, selectors.EVENT_READ)
            selector.register(stderr, selectors.EVENT_READ)
            while True:
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    raise TimeoutError
                for key, _ in selector.select(remaining):
                    if key.fileobj is stdin:
                        unsent = self._send(unsent)
                        if not unsent:
                            selector.unregister(stdin)
                    elif key.fileobj is stderr:
                        if not self._printed.read(stderr):
                            selector.unregister(stderr)
                    elif (frame := self._receive(stdout)) is not None:
                        self._printed.read(stderr)
                        return frame

    def close(self) -> None:
        self._finalizer()

    def _send(self, data: memoryview) -> memoryview:
        assert self._process.stdin is not None
        try:
            return data[os.write(self._process.stdin.fileno(), data[:_CHUNK]) :]
        except BrokenPipeError:
            raise _WorkerError(self._why_it_ended()) from None

    def _receive(self, stdout: IO[bytes]) -> Frame | None:
        data = os.read(stdout.fileno(), _CHUNK)
        if not data:
            raise _WorkerError(self._why_it_ended())
        self._frames.feed(data)
        try:
            return self._frames.take()
        except FrameError as error:
            raise _WorkerError(f"the plug-in's process sent {error}") from None

    def _why_it_ended(self) -> str:
        """Looks without reaping first, so that what the plug-in started is ended with it."""
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        patience = time.monotonic() + 1.0
        while os.waitid(os.P_PID, self._process.pid, flags) is None:
            if time.monotonic() > patience:
                return "the plug-in's process closed its pipe"
            time.sleep(0.01)
        self._printed.read(_streams(self._process)[2])
        kill_group(self._process)
        code = self._process.returncode
        how = f"by {signal_name(code)}" if code < 0 else f"with exit code {code}"
        last = f"; it last printed: {self._printed.last:.200}" if self._printed.last else ""
        return f"the plug-in's process ended {how}{last}"


def _streams(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    return process.stdin, process.stdout, process.stderr


def _end(process: subprocess.Popen[bytes], life_line: int) -> None:
    kill_group(process)
    os.close(life_line)
    for stream in _streams(process):
        stream.close()


def _environment() -> dict[str, str]:
    """The worker finds this engine, and a network in it does not fight for cores."""
    root = str(Path(__file__).resolve().parents[3])
    paths = [root, os.environ.get("PYTHONPATH", "")]
    return {
        "OMP_NUM_THREADS": "1",
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
    }


class _PrintedLines:
    """What the plug-in prints goes to the log, line by line."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._rest = b""
        self.last = ""

    def read(self, stream: IO[bytes]) -> bool:
        """Take some of what is there; false when there will be no more."""
        for _ in range(16):  # a plug-in that never stops printing must not hold us up
            try:
                data = os.read(stream.fileno(), _CHUNK)
            except BlockingIOError:
                return True
            if not data:
                return False
            *lines, self._rest = (self._rest[-_CHUNK:] + data).split(b"\n")
            for line in lines:
                self._add(line.decode("utf-8", "replace").rstrip())
        return True

    def _add(self, line: str) -> None:
        if line:
            self.last = line
            _log.warning("%s: %s", self._name, line)
