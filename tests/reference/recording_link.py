"""A link for use cases that run in the process of the test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from engine.native.control import Control
from engine.workers.link import NULL_LINK, Link

Event = TypeVar("Event")


class RecordingLink(Link):
    """Keeps what it is told.

    It wants the work to stop at the first event that `stops_at`, or as soon as it is `cancelled`.
    """

    def __init__(
        self,
        stops_at: Callable[[object], bool] = lambda event: False,
        *,
        hear: Callable[[Any], object] = NULL_LINK.emit,
        cancelled: Callable[[], bool] = NULL_LINK.cancelled,
        paused: Callable[[], bool] = NULL_LINK.paused,
    ) -> None:
        self.events: list[object] = []
        self.reports: list[tuple[float, float | None, str]] = []
        self._control, self._stops_at, self._hear = Control(), stops_at, hear
        self._is_cancelled, self._is_paused = cancelled, paused

    @property
    def control(self) -> Control:
        return self._control

    def emit(self, event: object) -> None:
        self.events.append(event)
        self._hear(event)
        if self._stops_at(event):
            self._control.cancel()

    def progress(self, done: float, total: float | None = None, text: str = "") -> None:
        self.reports.append((done, total, text))

    def cancelled(self) -> bool:
        return self._control.cancelled or self._is_cancelled()

    def paused(self) -> bool:
        return self._is_paused()

    def heard(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]
