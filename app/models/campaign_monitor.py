"""What there is to see of one campaign: read from the store as it grows, bit by bit.

A campaign that runs, one that was killed and one of last year are read the same way. While nobody
looks, nothing is read.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.context import Context
from app.models.campaign_runner import CampaignRunner
from engine.campaign.course import PORTION, Course, OracleScore
from engine.campaign.reading import CampaignRow
from engine.errors import PlumblineError

READ_MILLISECONDS = 250
READ_SHARE = 10
"""The pause between two looks is at least this many times as long as a look, drawing included."""
SLOW_SECONDS = 2.0
"""How often what needs all findings is read while a campaign runs."""
SLOW_SHARE = 50
"""And not more often than this many times the time it takes."""

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BugPoint:
    """A bug as a point: what is possible, and what the policy pays; None: it fails."""

    bug: int
    kind: str
    policy_cost: int | None
    bound: int


class CampaignMonitor(QObject):
    updated = Signal()

    def __init__(self, context: Context, runner: CampaignRunner, parent: QObject) -> None:
        super().__init__(parent)
        self._context, self._runner = context, runner
        self.campaign: int | None = None
        self.row: CampaignRow | None = None
        self.course: Course | None = None
        self.scores: list[OracleScore] = []
        self.points: list[BugPoint] = []
        self._coming: list[BugPoint] | None = None  # what is being read
        self._points_at = self._began = self._told_at = 0.0
        self._pause = READ_MILLISECONDS
        self._seen = True
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._read)
        runner.advanced.connect(self._soon)
        context.document.changed.connect(self._document_changed)

    def watch(self, campaign: int | None) -> None:
        """Another campaign, from its beginning."""
        self.campaign = campaign
        self.course, self.row, self.scores, self.points = None, None, [], []
        self._coming, self._points_at = None, 0.0
        if campaign is None:
            self._timer.stop()
            self.updated.emit()
        else:
            self._timer.start(0)

    def set_seen(self, seen: bool) -> None:
        """Whether somebody looks."""
        self._seen = seen
        self._soon()

    @property
    def is_complete(self) -> bool:
        """Whether all there is has been read."""
        return not self._timer.isActive()

    def throughput(self) -> tuple[Values, Values]:
        """States per second over time, in some sixty steps, each from its beginning to its end."""
        times = self.course.state_times() if self.course is not None else np.empty(0)
        if not len(times):
            return np.empty(0), np.empty(0)
        width = max(1.0, float(times[-1]) / 60)
        rates = np.bincount((times / width).astype(np.int64)) / width
        edges: Values = np.arange(len(rates) + 1, dtype=np.float64) * width
        return edges, np.append(rates, rates[-1])

    @Slot()
    def _soon(self) -> None:
        if self._seen and self.campaign is not None and not self._timer.isActive():
            self._timer.start(self._pause)

    @Slot(str)
    def _document_changed(self, topic: str) -> None:
        if topic == "campaigns" and not self._runner.is_busy:
            self.watch(self.campaign)  # it has ended: what it replaced on the way is left out
        elif topic in ("outside", "bugs"):
            self._soon()

    @Slot()
    def _read(self) -> None:
        assert self.campaign is not None
        began = time.monotonic()
        store = self._context.document.store
        try:
            if self.course is None:
                self.course = Course(store, self.campaign)
            (self.row,) = (row for row in store.campaigns() if row.id == self.campaign)
            more = self.course.read_more()
            more |= self._read_points(more)
        except PlumblineError as error:
            self._context.messages.error(f"The campaign cannot be read: {error}")
            return
        if more:
            self._timer.start(0)
        if not more or began > self._told_at + self._pause / 1000:
            self.updated.emit()
            self._told_at = time.monotonic()
            took = 1000 * (self._told_at - began)
            self._pause = max(READ_MILLISECONDS, int(READ_SHARE * took))

    def _read_points(self, more: bool) -> bool:
        """All of them every time, since bounds may have become better; whether there is more."""
        assert self.course is not None
        if self._coming is None and not self._points_are_due(more):
            return False
        if self._coming is None:
            self._coming, self._began = [], time.monotonic()
            self.scores = self.course.scores()
        # CROSS JOIN: by findings in their order, else all of them are sorted for every portion.
        found: Sequence[tuple[int, str, int | None, int]] = self._context.document.store.rows(
            "SELECT f.id, f.kind, f.policy_cost, f.bound FROM findings f "
            "CROSS JOIN units u ON u.id = f.unit WHERE u.campaign = ? AND f.id > ? "
            "ORDER BY f.id LIMIT ?",
            (self.campaign, self._coming[-1].bug if self._coming else 0, PORTION),
        )
        self._coming += [BugPoint(*row) for row in found]
        if len(found) == PORTION:
            return True
        self.points, self._coming = self._coming, None
        now = time.monotonic()
        self._points_at = now + max(SLOW_SECONDS, SLOW_SHARE * (now - self._began))
        return False

    def _points_are_due(self, more: bool) -> bool:
        busy = self._runner.is_busy and self._runner.campaign == self.campaign
        return time.monotonic() > self._points_at or not (busy or more)
