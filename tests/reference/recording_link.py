"""A link for work that runs in the process of the test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from engine.workers.limits import NO_LIMITS, ProcessLimits
from engine.workers.link import WorkerLink

Event = TypeVar("Event")


class RecordingLink(WorkerLink):
    """Keeps what it is told, and wants the work to stop at the first event that `stops_at`."""

    def __init__(
        self,
        stops_at: Callable[[Any], object] = lambda event: False,
        limits: ProcessLimits = NO_LIMITS,
    ) -> None:
        super().__init__(limits)
        self.events: list[Any] = []
        self.reports: list[tuple[float, float | None, str]] = []
        self._stops_at = stops_at

    def emit(self, event: object) -> None:
        self.events.append(event)
        if self._stops_at(event):
            self.stop()

    def progress(self, done: float, total: float | None = None, text: str = "") -> None:
        self.reports.append((done, total, text))

    def heard(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]
