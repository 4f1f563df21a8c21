"""Another campaign, or all campaigns of an experiment, to lay over a timeline."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QComboBox, QWidget

from app.services.context import Context
from app.services.reader import LatestQuery
from app.widgets.builders import describe
from engine.campaign.timeline import Times, whole_course
from engine.errors import PlumblineError
from engine.workspace.reader import WorkspaceReader

NONE = "No overlay"
CAMPAIGN, EXPERIMENT = "campaign", "experiment"
Key = tuple[str, int]


@dataclass(frozen=True, eq=False)
class Overlay:
    """When bugs were found, by oracle."""

    name: str
    seconds: float
    spent: Mapping[str, float]  # processor time of each oracle
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
        self._query = LatestQuery(context.document.reader, self, self._on_read, self._on_failed)
        self._list = LatestQuery(context.document.reader, self, self._on_listed, self._on_failed)
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

    def _on_failed(self, error: PlumblineError) -> None:
        self._context.messages.error(f"Cannot read the overlay: {error}")

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
