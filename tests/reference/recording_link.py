"""A link for use cases that run in the process of the test."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from engine.native.control import Control
from engine.workers.link import Link

Event = TypeVar("Event")


class RecordingLink(Link):
    """Keeps what it is told, and wants the work to stop at the first event that `stops_at`."""

    def __init__(self, stops_at: Callable[[object], bool] = lambda event: False) -> None:
        self.events: list[object] = []
        self.reports: list[tuple[float, float | None, str]] = []
        self._control, self._stops_at = Control(), stops_at

    @property
    def control(self) -> Control:
        return self._control

    def emit(self, event: object) -> None:
        self.events.append(event)
        if self._stops_at(event):
            self._control.cancel()

    def progress(self, done: float, total: float | None = None, text: str = "") -> None:
        self.reports.append((done, total, text))

    def cancelled(self) -> bool:
        return self._control.cancelled

    def heard(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]
