"""The process in which a plug-in runs: `python -m engine.policies.plugin.host FILE FACTORY`.

Frames come in on stdin and go out on what was stdout; whatever the plug-in prints goes to stderr,
which the other side logs. Every mistake of the plug-in becomes an `error` frame in plain words.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from engine.policies.plugin.task_view import PluginTask
from engine.task.sas import parse_sas
from engine.workers.frames import Frame, FrameReader


class PluginMistakeError(Exception):
    """What the author of the plug-in should mend."""


def main() -> None:
    path, factory = Path(sys.argv[1]), sys.argv[2]
    _die_with_line(int(sys.argv[3]))
    incoming, outgoing = _take_channels()
    frames: queue.SimpleQueue[Frame] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(incoming, frames), daemon=True).start()
    plugin: Any = None
    operators = 0
    while True:
        frame = frames.get()
        try:
            if frame.kind == "task":
                task = _task(frame)
                operators = len(task.operators)
                plugin = _make(path, factory, task)
                answer = Frame({"kind": "ready"})
            else:
                answer = Frame({"kind": "decisions"}, _decide(plugin, frame, operators))
        except PluginMistakeError as mistake:
            answer = Frame({"kind": "error", "message": str(mistake)})
        _write(outgoing, answer.encode())


def _die_with_line(line: int) -> None:
    """When the other end of a pipe is closed, be killed at once with all that was started here.

    The system does it, so it works even if the plug-in hangs and no Python code gets a turn.
    """
    os.set_inheritable(line, False)
    if sys.platform == "linux":
        fcntl.fcntl(line, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(line, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(line, fcntl.F_SETFL, fcntl.fcntl(line, fcntl.F_GETFL) | os.O_ASYNC)


def _take_channels() -> tuple[int, int]:
    """Keep stdin and stdout for ourselves: the plug-in may print and read as it likes."""
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return incoming, outgoing


def _read(incoming: int, frames: queue.SimpleQueue[Frame]) -> None:
    """Reads in a thread: even while the plug-in hangs, we notice that nobody waits any more."""
    reader = FrameReader()
    while data := os.read(incoming, 2**20):
        reader.feed(data)
        while frame := reader.take():
            frames.put(frame)
    os._exit(0)


def _write(outgoing: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(outgoing, view) :]


def _task(frame: Frame) -> PluginTask:
    task = parse_sas(frame.payload.decode())
    return PluginTask(task, frame.header["static_atoms"], frame.header["objects"])


def _make(path: Path, factory: str, task: PluginTask) -> Any:
    module = _guarded(f"loading {path.name}", lambda: _load(path))
    function = getattr(module, factory, None)
    if not callable(function):
        raise PluginMistakeError(f"{path.name} has no function '{factory}'")
    plugin = _guarded(f"{factory}(task)", lambda: function(task))
    if not callable(getattr(plugin, "decide", None)):
        kind = type(plugin).__name__
        raise PluginMistakeError(f"{factory}(task) gave a {kind}, which has no method decide")
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


def _decide(plugin: Any, frame: Frame, operators: int) -> bytes:
    shape = frame.header["states"], frame.header["variables"]
    states = np.frombuffer(frame.payload, dtype="<i4").reshape(shape).copy()
    answer = _guarded("decide(states)", lambda: plugin.decide(states))
    return _operator_ids(answer, len(states), operators).astype("<i8").tobytes()


def _operator_ids(answer: Any, count: int, operators: int) -> np.ndarray[Any, Any]:
    """The answer as an array, if it is one operator id per state."""
    try:
        ids = np.asarray(answer)
    except (ValueError, TypeError, OverflowError):
        raise PluginMistakeError("decide(states) gave no list of numbers") from None
    if ids.ndim != 1 or len(ids) != count:
        gave = f"{len(ids)} answers" if ids.ndim == 1 else f"an array of shape {ids.shape}"
        raise PluginMistakeError(f"decide(states) gave {gave} for {count} states")
    if ids.dtype.kind not in "iu":
        raise PluginMistakeError(
            f"decide(states) gave values like {ids.tolist()[0]!r:.60}; "
            "operator ids are integers, -1 means none"
        )
    wrong = ids[(ids < -1) | (ids >= operators)]
    if len(wrong):
        raise PluginMistakeError(
            f"decide(states) gave operator {wrong[0]}, but there are {operators}, counted from 0"
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


if __name__ == "__main__":
    main()
