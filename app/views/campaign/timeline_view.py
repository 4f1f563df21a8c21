"""The timeline of a campaign as plots: bugs per oracle, pool size and speed."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QComboBox, QSplitter, QVBoxLayout, QWidget

from app.models.campaign_monitor import CampaignMonitor
from app.services.theme import Theme
from app.widgets.plot import Curve, Plot

FIRST, EACH = "By first oracle", "By every oracle"
TIME = "time (s)"


class TimelineView(QWidget):
    def __init__(
        self, theme: Theme, monitor: CampaignMonitor, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._monitor = monitor
        self.bugs = Plot(theme, "plot-bugs", "Bugs over time", (TIME, "bugs"), counts=True)
        self.pool = Plot(theme, "plot-pool", "Pool over time", (TIME, "states"), counts=True)
        self.speed = Plot(theme, "plot-speed", "Speed over time", (TIME, "states/s"))
        self.mode = QComboBox()
        self.mode.setObjectName("plot-bugs-mode")
        self.mode.setAccessibleName("How bugs are counted")
        self.mode.addItems([FIRST, EACH])
        self.mode.setMinimumWidth(160)  # large text must not keep the plots out of a small window
        self.mode.setToolTip(
            "Several oracles can prove the same bug. Count it once, for the oracle that proved "
            "it first, or for every oracle that proves it, as in papers."
        )
        self.mode.currentIndexChanged.connect(self.refresh)
        self.bugs.header.insertWidget(1, self.mode)
        right = QSplitter(Qt.Orientation.Vertical)
        right.addWidget(self.pool)
        right.addWidget(self.speed)
        right.setHandleWidth(9)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.addWidget(self.bugs)
        split.addWidget(right)
        split.setSizes([600, 400])
        split.setHandleWidth(9)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.addWidget(split)
        monitor.updated.connect(self.refresh)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        progress = self._monitor.progress
        if progress is None:
            for plot in (self.bugs, self.pool, self.speed):
                plot.set_curves([])
            return
        is_first = self.mode.currentText() == FIRST
        times = progress.first_times if is_first else progress.proof_times
        end = max([progress.seconds, *(float(known[-1]) for known in times.values() if len(known))])
        self.bugs.set_curves(
            [_growing(oracle, times.get(oracle, np.empty(0)), end) for oracle in progress.oracles]
        )
        self.pool.set_curves([_growing("states", progress.state_times, end)])
        speed = Curve("states/s", *self._monitor.throughput(), token="accent", steps=True)
        self.speed.set_curves([speed])


def _growing(name: str, times: np.ndarray[tuple[int], np.dtype[np.float64]], end: float) -> Curve:
    """How many by then: from nothing at the start to the last moment."""
    counts = np.arange(len(times) + 1)
    x = np.concatenate([[0.0], times, [max(end, *times[-1:], 0.0)]])
    return Curve(name, x, np.append(counts, counts[-1]), steps=True)
