"""The timeline of a campaign as plots: bugs per oracle, pool size and speed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QComboBox, QSplitter, QVBoxLayout, QWidget

from app.models.campaign_monitor import CampaignMonitor
from app.services.context import Context
from app.views.campaign.overlay import OverlayChoice
from app.widgets.divisions import remember_division
from app.widgets.plot import Curve, Plot
from engine.records.config import Mode
from engine.report.words import short_names

FIRST, EACH = "Found first by", "Confirmed by"
TIME, OWN_TIME = "time (s)", "CPU time of each oracle (s)"


class TimelineView(QWidget):
    def __init__(
        self, context: Context, monitor: CampaignMonitor, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        theme = context.theme
        self._monitor = monitor
        self.overlay = OverlayChoice(context)
        self.overlay.overlay_changed.connect(self.refresh)
        self.bugs = Plot(theme, "plot-bugs", "Bugs over time", (TIME, "bugs"), counts=True)
        self.pool = Plot(theme, "plot-pool", "Pool over time", (TIME, "states"), counts=True)
        self.speed = Plot(
            theme, "plot-speed", "Speed over time", (TIME, "states/s"), from_zero=True
        )
        self.mode = QComboBox()
        self.mode.setObjectName("plot-bugs-mode")
        self.mode.setAccessibleName("How bugs are counted")
        self.mode.addItems([FIRST, EACH])
        self.mode.setMinimumWidth(160)  # large text must not keep the plots out of a small window
        self.mode.setToolTip(
            "Count a bug once, for the oracle that proved it first, or for every oracle that "
            "confirmed it using shared bounds."
        )
        self.mode.currentIndexChanged.connect(self.refresh)
        self.bugs.header.insertWidget(1, self.mode)
        self.bugs.header.insertWidget(2, self.overlay)
        right = QSplitter(Qt.Orientation.Vertical)
        right.addWidget(self.pool)
        right.addWidget(self.speed)
        right.setHandleWidth(9)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.addWidget(self.bugs)
        split.addWidget(right)
        split.setSizes([600, 400])
        split.setHandleWidth(9)
        remember_division(right, "campaign-rates", context.settings)
        remember_division(split, "campaign-timeline", context.settings)
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
        is_team = progress.mode is Mode.HUNT
        self.mode.setVisible(is_team)
        self.bugs.set_axes(TIME if is_team else OWN_TIME, "bugs")
        is_first = is_team and self.mode.currentText() == FIRST
        times = progress.first_times if is_first else progress.proof_times
        spent = {score.oracle: score.cpu for score in progress.scores}
        last = max(
            [progress.seconds, *(float(known[-1]) for known in times.values() if len(known))]
        )
        names = short_names(progress.oracles)
        own = [
            replace(
                _growing(name, times.get(name, np.empty(0)), last if is_team else spent[name]),
                legend=names[name],
            )
            for name in progress.oracles
        ]
        self.bugs.set_curves([*own, *self._laid_over(progress.oracles, is_team, is_first)])
        self.pool.set_curves([_growing("states", progress.state_times, progress.seconds)])
        speed = Curve("states/s", *self._monitor.throughput(), token="accent", steps=True)
        self.speed.set_curves([speed])

    def _laid_over(self, oracles: Sequence[str], is_team: bool, is_first: bool) -> list[Curve]:
        """The curves of the other campaign or experiment, thin and in the colors of the oracles."""
        self.overlay.set_campaign(self._monitor.campaign)
        other = self.overlay.overlay
        if other is None:
            return []
        times = other.first_times if is_first else other.proof_times
        known = list(dict.fromkeys([*oracles, *times]))
        names = short_names(known)
        key = Curve(other.name, [], [], token="muted", thin=True, legend=f"thin: {other.name}")
        curves = [key]
        for oracle, found in times.items():
            end = other.seconds if is_team else other.spent[oracle]
            curve = _growing(f"{other.name}: {oracle}", found, end)
            legend = "" if oracle in oracles else names[oracle]
            style = known.index(oracle)
            curves.append(replace(curve, style=style, thin=True, legend=legend))
        return curves


def _growing(name: str, times: np.ndarray[tuple[int], np.dtype[np.float64]], end: float) -> Curve:
    """Return a cumulative curve from zero at the start to the last moment."""
    counts = np.arange(len(times) + 1)
    x = np.concatenate([[0.0], times, [max(end, *times[-1:], 0.0)]])
    return Curve(name, x, np.append(counts, counts[-1]), steps=True)
