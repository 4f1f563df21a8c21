"""Tasks of the workspace, read once each in the background: large ones take a second."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Signal

from app.reader import Reader
from engine.errors import PlumblineError
from engine.task.task import Task

MOST_TASKS = 12
"""More are not kept: a task can be large."""


class TaskShelf(QObject):
    arrived = Signal(int)
    """A task that was asked for is there: the number of its problem."""
    failed = Signal(int, str)

    def __init__(self, reader: Reader, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._reader = reader
        self._tasks: dict[int, Task] = {}
        self._wanted: set[int] = set()

    def get(self, problem: int) -> Task | None:
        """The task, or None: then it is fetched, and `arrived` says when it is there."""
        task = self._tasks.pop(problem, None)
        if task is not None:
            self._tasks[problem] = task  # the most recently used is the last
        elif problem not in self._wanted:
            self._wanted.add(problem)
            self._reader.ask(
                self,
                lambda store: store.task(problem),
                partial(self._take, problem),
                partial(self._fail, problem),
            )
        return task

    def _take(self, problem: int, task: Task) -> None:
        self._wanted.discard(problem)
        self._tasks[problem] = task
        while len(self._tasks) > MOST_TASKS:
            del self._tasks[next(iter(self._tasks))]
        self.arrived.emit(problem)

    def _fail(self, problem: int, error: PlumblineError) -> None:
        self._wanted.discard(problem)
        self.failed.emit(problem, str(error))
