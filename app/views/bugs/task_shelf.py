"""Tasks of the workspace, read once each in a thread of its own: large ones take a second."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal, Slot

from engine.campaign.store import Store
from engine.errors import PlumblineError
from engine.task.task import Task

MOST_TASKS = 12
"""More are not kept: a task can be large."""


_ONE_AT_A_TIME = threading.Lock()


@contextmanager
def _no_collection() -> Iterator[None]:
    """Reading makes many objects, and Python collects garbage in the thread that does so.

    Widgets among it would then be destroyed in the wrong thread, which Qt does not survive.
    """
    with _ONE_AT_A_TIME:
        gc.disable()
        try:
            yield
        finally:
            gc.enable()


class TaskShelf(QObject):
    arrived = Signal(int)
    """A task that was asked for is there: the number of its problem."""
    failed = Signal(int, str)

    _read = Signal(int, object)

    def __init__(self, workspace: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._tasks: dict[int, Task] = {}
        self._wanted: dict[int, threading.Thread] = {}
        self._read.connect(self._take, Qt.ConnectionType.QueuedConnection)

    def get(self, problem: int) -> Task | None:
        """The task, or None: then it is fetched, and `arrived` says when it is there."""
        task = self._tasks.pop(problem, None)
        if task is not None:
            self._tasks[problem] = task  # the most recently used is the last
        elif problem not in self._wanted:
            thread = threading.Thread(
                target=self._fetch, args=(problem,), name=f"task {problem}", daemon=True
            )
            self._wanted[problem] = thread
            thread.start()
        return task

    def _fetch(self, problem: int) -> None:
        try:
            with _no_collection(), Store.open(self._workspace) as store:
                answer: Task | str = store.task(problem)
        except PlumblineError as error:
            answer = str(error)
        try:
            self._read.emit(problem, answer)
        except RuntimeError:
            return  # the window was closed meanwhile, and this object with it

    @Slot(int, object)
    def _take(self, problem: int, answer: object) -> None:
        self._wanted.pop(problem).join()
        if isinstance(answer, Task):
            self._tasks[problem] = answer
            while len(self._tasks) > MOST_TASKS:
                del self._tasks[next(iter(self._tasks))]
            self.arrived.emit(problem)
        else:
            self.failed.emit(problem, str(answer))
