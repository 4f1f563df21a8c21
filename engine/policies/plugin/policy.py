"""A policy in a Python file of the user: `path/to/file.py:factory`.

It runs in a process of its own, so that a plug-in that crashes, hangs or answers nonsense causes a
`PolicyError` and does not end the program. The next decision starts it again.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from engine.errors import Location, PolicyError
from engine.files import read_text
from engine.native.library import Int32Array
from engine.pddl.model import Domain
from engine.policies.plugin.host import Decide, Decisions, Mistake, PluginInput, Ready, serve
from engine.policies.policy import PolicyInfo
from engine.records.codec import Record
from engine.task.atoms import format_atom
from engine.task.sas import write_sas
from engine.task.task import Task
from engine.workers.channel import Call, ChannelError, End, Events, pack, unpack
from engine.workers.launch import Worker, start
from engine.workers.link import LOOK_SECONDS, check_given_up
from engine.workers.program import signal_name

MAX_LOSSES = 3
GUIDE = "see docs/policy-plugins.md"
EXIT_SECONDS = 1.0
"""How long a process that has hung up may take to end."""

Answer = TypeVar("Answer", Ready, Decisions)

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
    try:
        compile(source, str(path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        text = error.msg if isinstance(error, SyntaxError) else str(error)
        message = text or "it is nested too deeply"
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
        """Nothing: only the plug-in knows, and it says so when it is bound to a task."""
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
        self._worker: Worker | None = None
        self._losses = 0

    def decide(self, states: Int32Array) -> Int32Array:
        if len(states) == 0:
            return np.empty(0, dtype=np.int32)
        if self._losses >= MAX_LOSSES:
            raise self._error(
                f"the plug-in was lost {MAX_LOSSES} times in a row; it is not restarted again"
            )
        if self._worker is None:
            self._start()
        assert self._worker is not None
        rows = np.ascontiguousarray(states, dtype="<i4").tobytes()
        self._worker.post(Events((pack(Decide(rows, states.shape[1])),)))
        answer = self._await(Decisions, self._policy.settings.decide_seconds)
        ids = self._require_decisions(answer.operators, len(states))
        self._losses = 0
        return ids

    @property
    def pid(self) -> int | None:
        """The number of its process, as long as it has one."""
        return None if self._worker is None else self._worker.pid

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
        source = self._task.source
        objects = () if source is None else (*source.domain.constants, *source.problem.objects)
        given = PluginInput(
            write_sas(self._task),
            tuple(sorted(map(format_atom, self._task.static_atoms))),
            {item.name: " or ".join(item.types) for item in objects},
        )
        path = self._policy.path
        call = Call.of(serve, str(path), self._policy.factory, given)
        try:
            # Its memory counts as memory of this process, and is bounded with it.
            self._worker = start(call, confined=True, on_line=partial(_log_line, path.name))
        except OSError as error:
            message = f"the plug-in's process could not be started: {error.strerror}"
            raise self._loss(message) from error
        self._await(Ready, self._policy.settings.start_seconds)

    def _await(self, wanted: type[Answer], seconds: float) -> Answer:
        """The answer of the plug-in. One that reports its own mistake lives on, others are ended.

        None of this waits for the plug-in beyond a deadline.
        """
        try:
            answer = self._receive(time.monotonic() + seconds)
        except ChannelError as error:
            raise self._loss(f"the plug-in's process sent {error}") from None
        except EOFError:
            raise self._loss(self._why_it_ended()) from None
        except TimeoutError:
            raise self._loss(f"the plug-in did not answer within {seconds:g} s") from None
        except BaseException:  # interrupted: what the plug-in says next would be out of step
            self.close()
            raise
        if isinstance(answer, Mistake):
            raise self._loss(answer.message) if wanted is Ready else self._error(answer.message)
        if not isinstance(answer, wanted):
            raise self._loss("the plug-in's process answered out of turn")
        return answer

    def _receive(self, deadline: float) -> Record:
        assert self._worker is not None
        while (remaining := deadline - time.monotonic()) > 0:
            check_given_up()
            for message in self._worker.pump(min(remaining, LOOK_SECONDS)):
                if isinstance(message, End) and message.failure is not None:
                    raise ChannelError(f"an error: {message.failure.message}")
                if not isinstance(message, Events) or len(message.events) != 1:
                    raise ChannelError("a message that is not an answer")
                answer: Record = unpack(message.events[0], (Ready, Decisions, Mistake))
                return answer
        raise TimeoutError

    def _why_it_ended(self) -> str:
        assert self._worker is not None
        if not self._worker.wait(EXIT_SECONDS):
            return "the plug-in's process closed its connection"
        code = self._worker.close()
        how = f"by {signal_name(code)}" if code < 0 else f"with exit code {code}"
        *_, last = self._worker.output.last_lines() or ("",)
        return f"the plug-in's process ended {how}" + (last and f"; it last printed: {last:.200}")

    def _require_decisions(self, data: bytes, count: int) -> Int32Array:
        """Checked over there already, but the plug-in lives there, too."""
        if len(data) == 8 * count:
            ids = np.frombuffer(data, dtype="<i8")
            if ids.min() >= -1 and ids.max() < len(self._task.operators):
                return ids.astype(np.int32)
        raise self._loss("the plug-in's process answered with something that is not a decision")

    def _loss(self, message: str) -> PolicyError:
        """The process is ended; the next decision starts another one."""
        self.close()
        self._losses += 1
        return self._error(message)

    def _error(self, message: str) -> PolicyError:
        return PolicyError(message, Location.of(self._policy.path), GUIDE)


def _log_line(name: str, line: str) -> None:
    _log.warning("%s: %s", name, line)
