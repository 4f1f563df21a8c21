"""What runs in the process of a plug-in: loads its file and asks it for decisions.

Whatever the plug-in prints is logged by the other side. Every mistake of the plug-in becomes a
`Mistake` in plain words.
"""

from __future__ import annotations

import importlib.util
import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from engine.policies.plugin.task_view import PluginTask
from engine.records.codec import Record
from engine.task.sas import parse_sas
from engine.workers.channel import ChannelError, Connection, Events, pack, unpack


class PluginInput(Record):
    """What a plug-in learns of its task."""

    sas: str
    static_atoms: tuple[str, ...]
    objects: dict[str, str]  # types by names


class Decide(Record):
    """The question: states as rows of 32-bit numbers."""

    states: bytes
    variables: int


class Ready(Record):
    """The plug-in is loaded."""


class Decisions(Record):
    """The answer: one operator id of 64 bits per state."""

    operators: bytes


class Mistake(Record):
    """What the author of the plug-in should fix."""

    message: str


class PluginMistakeError(Exception):
    """The same, on its way to the other side."""


def serve(connection: Connection, file: str, factory: str, given: PluginInput) -> None:
    """Make the plug-in's policy for a task, then answer questions until the connection ends."""
    questions: queue.SimpleQueue[Decide] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(connection, questions), daemon=True).start()
    task = PluginTask(parse_sas(given.sas), given.static_atoms, given.objects)
    try:
        plugin = _make(Path(file), factory, task)
    except PluginMistakeError as mistake:
        connection.send(Events((pack(Mistake(str(mistake))),)))
        return
    connection.send(Events((pack(Ready()),)))
    while True:
        question = questions.get()
        answer: Decisions | Mistake
        try:
            answer = _decide(plugin, question, len(task.operators))
        except PluginMistakeError as mistake:
            answer = Mistake(str(mistake))
        connection.send(Events((pack(answer),)))


def _read(connection: Connection, questions: queue.SimpleQueue[Decide]) -> None:
    """Read in a thread, to notice the end of the connection even while the plug-in hangs."""
    try:
        while isinstance(message := connection.receive(), Events):
            for question in message.events:
                questions.put(unpack(question, [Decide]))
    except (OSError, EOFError, ChannelError):
        pass
    os._exit(0)


def _make(path: Path, factory: str, task: PluginTask) -> Any:
    module = _guarded(f"loading {path.name}", lambda: _load(path))
    function = getattr(module, factory, None)
    if not callable(function):
        raise PluginMistakeError(f"{path.name} has no function '{factory}'")
    plugin = _guarded(f"{factory}(task)", lambda: function(task))
    if not callable(getattr(plugin, "decide", None)):
        kind = type(plugin).__name__
        raise PluginMistakeError(
            f"{factory}(task) returned an object of type {kind}, which has no method decide"
        )
    return plugin


def _load(path: Path) -> ModuleType:
    sys.path.insert(0, str(path.parent))  # a plug-in may import its neighbors
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _decide(plugin: Any, question: Decide, operators: int) -> Decisions:
    states = np.frombuffer(question.states, dtype="<i4").reshape(-1, question.variables).copy()
    answer = _guarded("decide(states)", lambda: plugin.decide(states))
    return Decisions(_operator_ids(answer, len(states), operators).astype("<i8").tobytes())


def _operator_ids(answer: Any, count: int, operators: int) -> np.ndarray[Any, Any]:
    """The answer as an array, if it is one operator id per state."""
    try:
        ids = np.asarray(answer)
    except (ValueError, TypeError, OverflowError):
        raise PluginMistakeError("decide(states) did not return a list of numbers") from None
    if ids.ndim != 1 or len(ids) != count:
        gave = f"{len(ids)} answers" if ids.ndim == 1 else f"an array of shape {ids.shape}"
        raise PluginMistakeError(f"decide(states) returned {gave} for {count} states")
    if ids.dtype.kind not in "iu":
        raise PluginMistakeError(
            f"decide(states) returned values like {ids.tolist()[0]!r:.60}; "
            "operator ids are integers, -1 means none"
        )
    wrong = ids[(ids < -1) | (ids >= operators)]
    if len(wrong):
        raise PluginMistakeError(
            f"decide(states) returned operator {wrong[0]}, but they go from 0 to {operators - 1}"
        )
    return ids


def _guarded(doing: str, call: Callable[[], Any]) -> Any:
    """Run code of the plug-in: the traceback goes to the log, the essence to the user."""
    try:
        return call()
    except (Exception, SystemExit) as error:
        traceback.print_exc()
        frames = traceback.extract_tb(error.__traceback__)
        line = f" (line {frames[-1].lineno} of {Path(frames[-1].filename).name})" if frames else ""
        text = f"{type(error).__name__}: {error}".rstrip(": ")
        raise PluginMistakeError(f"{doing} raised {text:.500}{line}") from None
