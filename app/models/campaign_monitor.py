"""The data that a campaign's screen shows, read from the store in portions as it grows.

Running, killed and old campaigns are read the same way. Nothing is read while the screen is hidden.
"""

from __future__ import annotations

import math
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.models.campaign_controller import CampaignController
from app.services.context import Context
from engine.campaign.timeline import PORTION, OracleScore, Progress, Timeline
from engine.errors import PlumblineError
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import CampaignRow

LOOK_SECONDS = 0.1
"""How long one look may read before other queries get their turn."""
READ_MILLISECONDS = 250
READ_SHARE = 10
"""The pause between two looks is at least this many times as long as a look, drawing included."""
SLOW_SECONDS = 2.0
"""How often data that depends on all findings is read while a campaign runs."""
SLOW_SHARE = 50
"""And not more often than this many times the time it takes."""

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BugPoints:
    """Bugs as points: the bound, and the cost of the policy's run (NaN: it fails)."""

    bugs: NDArray[np.int64]
    bounds: Values
    policy_costs: Values

    def __len__(self) -> int:
        return len(self.bugs)


class _ComingPoints:
    """Points that are being read, in arrays, which garbage collection need not look through."""

    def __init__(self) -> None:
        self.bugs, self.bounds, self.policy_costs = array("q"), array("d"), array("d")

    def add(self, bug: int, bound: int, policy_cost: int | None) -> None:
        self.bugs.append(bug)
        self.bounds.append(bound)
        self.policy_costs.append(math.nan if policy_cost is None else policy_cost)

    def points(self) -> BugPoints:
        return BugPoints(
            np.array(self.bugs, dtype=np.int64),
            np.array(self.bounds, dtype=np.float64),
            np.array(self.policy_costs, dtype=np.float64),
        )


NO_POINTS = _ComingPoints().points()


@dataclass(frozen=True)
class _Look:
    row: CampaignRow
    progress: Progress
    points: BugPoints | None  # None: as before
    more: bool
    busy_seconds: float  # without waiting for the disk


class _Follower:
    """Reads one campaign as it grows; used in the reader's thread only."""

    def __init__(self, campaign: int) -> None:
        self.campaign = campaign
        self._timeline: Timeline | None = None
        self._coming: _ComingPoints | None = None  # what is being read
        self._points_at = self._points_cost = 0.0

    def look(self, store: WorkspaceReader, is_running: bool) -> _Look:
        began, busy = time.monotonic(), time.thread_time()
        if self._timeline is None:
            self._timeline = Timeline(store, self.campaign)
        points, more = None, True
        while more and time.monotonic() < began + LOOK_SECONDS:
            more = self._timeline.read_more()
            if self._coming is not None or (not more and self._points_are_due(is_running)):
                points = self._read_points(store)
                more |= points is None
        (row,) = (row for row in store.campaigns() if row.id == self.campaign)
        progress = self._timeline.progress()
        return _Look(row, progress, points, more, time.thread_time() - busy)

    def _points_are_due(self, is_running: bool) -> bool:
        return time.monotonic() > self._points_at or not is_running

    def _read_points(self, store: WorkspaceReader) -> BugPoints | None:
        """Read all of them every time, because bounds may have improved; None: there are more."""
        began = time.thread_time()
        if self._coming is None:
            self._coming, self._points_cost = _ComingPoints(), 0.0
        after = self._coming.bugs[-1] if self._coming.bugs else 0
        found = store.bug_points(self.campaign, after=after, limit=PORTION)
        for row in found:
            self._coming.add(row.id, row.bound, row.policy_cost)
        self._points_cost += time.thread_time() - began
        if len(found) == PORTION:
            return None
        points, self._coming = self._coming.points(), None
        pause = max(SLOW_SECONDS, SLOW_SHARE * self._points_cost)
        self._points_at = time.monotonic() + pause
        return points


class CampaignMonitor(QObject):
    updated = Signal()

    def __init__(self, context: Context, controller: CampaignController, parent: QObject) -> None:
        super().__init__(parent)
        self._context, self._controller = context, controller
        self.row: CampaignRow | None = None
        self.progress: Progress | None = None
        self.points = NO_POINTS
        self.is_reading = False  # there is more to read
        self._follower: _Follower | None = None
        self._is_asked = False
        self._told_at = 0.0
        self._pause = READ_MILLISECONDS
        self._seen = True
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._ask)
        controller.advanced.connect(self._soon)
        context.document.changed.connect(self._on_document_changed)

    @property
    def campaign(self) -> int | None:
        return None if self._follower is None else self._follower.campaign

    @property
    def scores(self) -> Sequence[OracleScore]:
        return () if self.progress is None else self.progress.scores

    @property
    def is_complete(self) -> bool:
        """Whether everything has been read."""
        return not (self._is_asked or self._timer.isActive())

    def watch(self, campaign: int | None) -> None:
        """Read another campaign, or the same one again, from its beginning."""
        is_other = campaign != self.campaign
        if is_other:
            self.row, self.progress, self.points = None, None, NO_POINTS
        self.is_reading = campaign is not None
        self._follower = None if campaign is None else _Follower(campaign)
        self._is_asked = False  # ignore answers about the previous one
        self._timer.stop()
        if campaign is not None:
            self._timer.start(0)
        if is_other:
            self.updated.emit()

    def set_seen(self, seen: bool) -> None:
        """Say whether the screen is visible."""
        self._seen = seen
        if seen and self._follower is not None:
            self._timer.start(0)

    def throughput(self) -> tuple[Values, Values]:
        """States per second from beginning to end, in at most sixty steps of a second or more.

        Each step has one value from its beginning to its end.
        """
        if self.progress is None or not self.progress.states:
            return np.empty(0), np.empty(0)
        times = self.progress.state_times
        end = max(self.progress.seconds, float(times[-1])) or 1.0
        edges: Values = np.linspace(0.0, end, min(60, max(1, round(end))) + 1)
        rates = np.histogram(times, edges)[0] / edges[1]
        return edges, np.append(rates, rates[-1])

    @Slot()
    def _soon(self) -> None:
        if self._seen and self._follower is not None and not self._timer.isActive():
            self._timer.start(self._pause)

    @Slot(str)
    def _on_document_changed(self, topic: str) -> None:
        if topic == "campaigns" and not self._controller.is_busy:
            self.watch(self.campaign)  # it has ended: leave out points that were replaced
        elif topic in ("outside", "bugs"):
            self._soon()

    @Slot()
    def _ask(self) -> None:
        if self._is_asked:
            self._timer.start(self._pause)
            return
        assert self._follower is not None
        follower, self._is_asked = self._follower, True
        is_running = self._controller.is_busy and self._controller.campaign == follower.campaign
        self._context.document.reader.ask(
            self,
            lambda store: follower.look(store, is_running),
            partial(self._on_look, follower),
            partial(self._on_failed, follower),
        )

    def _on_look(self, follower: _Follower, look: _Look) -> None:
        if follower is not self._follower:
            return
        self._is_asked = False
        self.row, self.progress = look.row, look.progress
        if look.points is not None:
            self.points = look.points
        self.is_reading = look.more
        if look.more:
            self._timer.start(0)
        began = time.monotonic()
        if not look.more or began > self._told_at + self._pause / 1000:
            self.updated.emit()
            self._told_at = time.monotonic()
            took = look.busy_seconds + self._told_at - began
            self._pause = max(READ_MILLISECONDS, int(1000 * READ_SHARE * took))

    def _on_failed(self, follower: _Follower, error: PlumblineError) -> None:
        if follower is not self._follower:
            return
        self._is_asked = False
        self._context.messages.error(f"Cannot read the campaign: {error}")
