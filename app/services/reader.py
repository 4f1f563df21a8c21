"""Reads the workspace for the window in a thread of its own.

Pages that are no longer in memory are read from disk again, and a busy disk can take seconds. The
window asks, continues, and receives the answer later.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple, TypeVar

from PySide6.QtCore import QObject, Qt, Signal, Slot
from shiboken6 import isValid

from engine.errors import Location, PlumblineError, WorkspaceError
from engine.workspace.reader import WorkspaceReader

Answer = TypeVar("Answer")
INTERRUPT_SECONDS = 0.05
BEING_CHECKED = "the file may be damaged and is still being checked"

_log = logging.getLogger(__name__)


class _Question(NamedTuple):
    owner: QObject
    ask: Callable[[WorkspaceReader], Any]
    then: Callable[[Any], None]
    failed: Callable[[PlumblineError], object]


class QueryThread(QObject):
    """Answers arrive in the order of the questions, in the window's thread."""

    _answered = Signal(object, object)

    def __init__(
        self,
        store: WorkspaceReader,
        parent: QObject | None = None,
        is_checked: Callable[[], bool] = lambda: True,
    ) -> None:
        """Until it is checked, a file may hold anything, and what that does is its own fault."""
        super().__init__(parent)
        self._store, self._is_checked = store, is_checked
        self._questions: SimpleQueue[_Question | None] = SimpleQueue()
        self._is_closed = False
        self._answered.connect(self._on_answered, Qt.ConnectionType.QueuedConnection)
        self._thread = Thread(target=self._work, name="reader", daemon=True)
        self._thread.start()

    def ask(
        self,
        owner: QObject,
        question: Callable[[WorkspaceReader], Answer],
        then: Callable[[Answer], None],
        failed: Callable[[PlumblineError], object],
    ) -> None:
        """The answer is dropped if the owner no longer exists.

        The question is put in the other thread: it must not touch what others change.
        """
        self._questions.put(_Question(owner, question, then, failed))

    def close(self) -> None:
        """Stop the current query; no more answers arrive."""
        if self._is_closed:
            return
        self._is_closed = True
        self._questions.put(None)
        while self._thread.is_alive():
            self._store.interrupt()  # the current query; it may begin another one
            self._thread.join(INTERRUPT_SECONDS)
        self._store.close()

    def _work(self) -> None:
        while (question := self._questions.get()) is not None and not self._is_closed:
            try:
                answer = question.ask(self._store)
            except Exception as error:
                answer = error
            self._answered.emit(question, answer)
            del question, answer  # the window's thread must be the last to release a widget

    @Slot(object, object)
    def _on_answered(self, question: _Question, answer: object) -> None:
        if self._is_closed or not isValid(question.owner):
            return
        if isinstance(answer, PlumblineError):
            question.failed(answer)
        elif not self._is_checked():
            self._try(question, answer)
        elif isinstance(answer, Exception):
            place = Location.of(self._store.path)
            question.failed(WorkspaceError(f"unexpected: {answer!r}", place))
            raise answer
        else:
            question.then(answer)

    def _try(self, question: _Question, answer: object) -> None:
        """Take an answer from a file that may hold anything."""
        try:
            if isinstance(answer, Exception):
                raise answer
            question.then(answer)
        except Exception:
            _log.exception("an answer from a file that is still being checked cannot be used")
            place = Location.of(self._store.path)
            question.failed(WorkspaceError("this cannot be read", place, BEING_CHECKED))


class LatestQuery(QObject):
    """Repeats one kind of query: one at a time, and only the latest of those that wait."""

    def __init__(
        self,
        reader: QueryThread,
        owner: QObject,
        then: Callable[[Answer], None],
        failed: Callable[[PlumblineError], object],
    ) -> None:
        super().__init__(owner)
        self._reader = reader
        self._then, self._failed = then, failed
        self._is_out = False
        self._next: Callable[[WorkspaceReader], Any] | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether the next answer is out of date, because another question follows."""
        return self._next is not None

    def ask(self, question: Callable[[WorkspaceReader], Any]) -> None:
        if self._is_out:
            self._next = question
            return
        self._is_out = True
        self._reader.ask(self, question, self._on_answer, self._on_failed)

    def _on_answer(self, answer: Any) -> None:
        self._is_out = False
        try:
            self._then(answer)
        finally:
            self._ask_next()

    def _on_failed(self, error: PlumblineError) -> None:
        self._is_out = False
        try:
            self._failed(error)
        finally:
            self._ask_next()

    def _ask_next(self) -> None:
        question, self._next = self._next, None
        if question is not None:
            self.ask(question)
