"""A link for work that runs in the process of the test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from engine.native.control import Control
from engine.workers.limits import NO_LIMITS, ProcessLimits
from engine.workers.link import NULL_LINK, WorkerLink

Event = TypeVar("Event")


class RecordingLink(WorkerLink):
    """Keeps what it is told.

    It wants the work to stop at the first event that `stops_at`, or as soon as it is `cancelled`.
    """

    def __init__(
        self,
        stops_at: Callable[[Any], object] = lambda event: False,
        limits: ProcessLimits = NO_LIMITS,
        *,
        hear: Callable[[Any], object] = NULL_LINK.emit,
        cancelled: Callable[[], bool] = NULL_LINK.cancelled,
        paused: Callable[[], bool] | None = None,
    ) -> None:
        super().__init__(limits)
        self.events: list[Any] = []
        self.reports: list[tuple[float, float | None, str]] = []
        self._stops_at, self._hear = stops_at, hear
        self._is_cancelled, self._is_paused = cancelled, paused

    @property
    def control(self) -> Control:
        if self._is_cancelled():
            self.stop()
        return self._control

    def emit(self, event: object) -> None:
        self.events.append(event)
        self._hear(event)
        if self._stops_at(event):
            self.stop()

    def progress(self, done: float, total: float | None = None, text: str = "") -> None:
        self.reports.append((done, total, text))

    def cancelled(self) -> bool:
        if self._is_cancelled():
            self.stop()
        return super().cancelled()

    def paused(self) -> bool:
        return super().paused() if self._is_paused is None else self._is_paused()

    def heard(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]
