"""The timeline of a campaign as plots: bugs per oracle, pool size and speed.

Another campaign, or all campaigns of an experiment, can be laid over it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QComboBox, QWidget

from app.models.campaign_monitor import CampaignMonitor
from app.services.context import Context
from app.services.reader import LatestQuery
from app.widgets.builders import describe
from app.widgets.layouts import hsplit, remember_division, vbox, vsplit
from app.widgets.plot import Curve, Plot
from engine.campaign.timeline import Times, whole_course
from engine.records.config import Mode
from engine.report.words import short_names
from engine.workspace.reader import WorkspaceReader

NONE = "No overlay"
CAMPAIGN, EXPERIMENT = "campaign", "experiment"
Key = tuple[str, int]


@dataclass(frozen=True, eq=False)
class Overlay:
    """When bugs were found, by oracle."""

    name: str
    seconds: float
    spent: Mapping[str, float]  # CPU time of each oracle
    first_times: Mapping[str, Times]
    proof_times: Mapping[str, Times]


class OverlayChoice(QComboBox):
    overlay_changed = Signal()

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.overlay: Overlay | None = None
        self._campaign: int | None = None  # the one below, which is not offered
        describe(
            self,
            "plot-bugs-overlay",
            "Overlay",
            "Overlay the bugs of another campaign or experiment whose oracles worked in the same "
            "way: as a team, or each by itself",
        )
        failed, reader = (
            context.messages.failure("Cannot read the overlay"),
            context.document.reader,
        )
        self._query = LatestQuery(reader, self, self._on_read, failed)
        self._list = LatestQuery(reader, self, self._on_listed, failed)
        self._keys: list[Key] = []
        self.addItem(NONE)
        self.setVisible(False)
        self.currentIndexChanged.connect(self._on_chosen)
        context.document.changed.connect(self._on_document_changed)

    def set_campaign(self, campaign: int | None) -> None:
        """The campaign whose timeline is shown."""
        if campaign != self._campaign:
            self._campaign = campaign
            self._ask()

    def _ask(self) -> None:
        self._list.ask(partial(_comparable, campaign=self._campaign))

    def _on_listed(self, others: list[Key]) -> None:
        self.setVisible(bool(others))
        if others == self._keys:
            return
        chosen = self._chosen()
        self._keys = others
        self.blockSignals(True)
        self.clear()
        self.addItem(NONE)
        self.addItems([f"Overlay {kind} {number}" for kind, number in others])
        self.setCurrentIndex(others.index(chosen) + 1 if chosen in others else 0)
        self.blockSignals(False)
        if chosen not in others:
            self._on_chosen()

    def _chosen(self) -> Key | None:
        place = self.currentIndex() - 1
        return self._keys[place] if 0 <= place < len(self._keys) else None

    @Slot()
    def _on_chosen(self) -> None:
        chosen = self._chosen()
        if chosen is None:
            self.overlay = None
            self.overlay_changed.emit()
        else:
            self._query.ask(partial(_read, key=chosen))

    def _on_read(self, overlay: Overlay) -> None:
        if self._chosen() is not None:
            self.overlay = overlay
            self.overlay_changed.emit()

    @Slot(str)
    def _on_document_changed(self, topic: str) -> None:
        if topic in ("campaigns", "experiments", "outside"):
            self._ask()


def _comparable(store: WorkspaceReader, campaign: int | None) -> list[Key]:
    """Other campaigns, and experiments with campaigns, whose clocks are those of a campaign."""
    modes = {row.id: row.config.testing.mode for row in store.campaigns()}
    if campaign not in modes:
        return []
    mode = modes[campaign]
    campaigns = [number for number in modes if number != campaign and modes[number] is mode]
    experiments = [
        row.id
        for row in store.experiments.rows()
        if row.config.testing.mode is mode and store.experiments.parts(row.id)
    ]
    return [(CAMPAIGN, number) for number in campaigns] + [(EXPERIMENT, n) for n in experiments]


def _read(store: WorkspaceReader, key: Key) -> Overlay:
    kind, number = key
    numbers = [number]
    if kind == EXPERIMENT:
        numbers = [part.campaign for part in store.experiments.parts(number)]
    courses = [whole_course(store, campaign) for campaign in numbers]
    spent: defaultdict[str, float] = defaultdict(float)
    for course in courses:
        for score in course.scores:
            spent[score.oracle] = max(spent[score.oracle], score.cpu)
    return Overlay(
        f"{kind} {number}",
        max((course.seconds for course in courses), default=0.0),
        spent,
        _joined([course.first_times for course in courses]),
        _joined([course.proof_times for course in courses]),
    )


def _joined(parts: list[Mapping[str, Times]]) -> dict[str, Times]:
    oracles = dict.fromkeys(oracle for part in parts for oracle in part)
    return {
        oracle: np.sort(np.concatenate([part[oracle] for part in parts if oracle in part]))
        for oracle in oracles
    }


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
        describe(self.mode, "plot-bugs-mode", "How bugs are counted")
        self.mode.addItems([FIRST, EACH])
        self.mode.setMinimumWidth(160)  # large text must not keep the plots out of a small window
        self.mode.setToolTip(
            "Count a bug once, for the oracle that proved it first, or for every oracle that "
            "confirmed it using shared bounds."
        )
        self.mode.currentIndexChanged.connect(self.refresh)
        self.bugs.header.insertWidget(1, self.mode)
        self.bugs.header.insertWidget(2, self.overlay)
        right = vsplit(self.pool, self.speed, handle=9, collapsible=True)
        split = hsplit(self.bugs, right, sizes=(600, 400), handle=9, collapsible=True)
        remember_division(right, "campaign-rates", context.settings)
        remember_division(split, "campaign-timeline", context.settings)
        vbox(split, parent=self, margins=8)
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
