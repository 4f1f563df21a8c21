"""What each oracle found, and a plot with every bug as a point that opens it."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.models.campaign_monitor import BugPoints, CampaignMonitor
from app.models.campaign_tables import COMPARED_ORACLES, TEAM
from app.models.table_model import TableModel
from app.services.context import Context
from app.widgets.builders import label
from app.widgets.layouts import remember_division, vbox, vsplit
from app.widgets.plot import Plot, Points
from app.widgets.table_view import TableView
from engine.campaign.timeline import OracleScore
from engine.records.config import Mode

_WIDTHS = {
    Mode.HUNT: (23, 15, 14, 9, 11, 10, 7),
    Mode.COMPARE: (22, 7, 10, 7, 6, 8, 9, 11, 10, 7),
}
"""In characters, so that everything fits into a window of 1280 pixels."""
_COLUMNS = {Mode.HUNT: TEAM, Mode.COMPARE: COMPARED_ORACLES}


class OracleView(QWidget):
    bug_requested = Signal(int)

    def __init__(
        self, context: Context, monitor: CampaignMonitor, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._monitor = monitor
        self.tables = QStackedWidget()
        self.models: dict[Mode, TableModel[OracleScore]] = {}
        for mode, columns in _COLUMNS.items():
            self.models[mode] = model = TableModel(columns, context.theme, self)
            table = TableView(f"campaign-oracles-{mode.value}", "Oracles")
            table.setModel(model)
            table.set_widths(*_WIDTHS[mode])
            table.remember(context.settings)
            context.theme.changed.connect(model.restyle)
            self.tables.addWidget(table)
        self.scatter = Plot(
            context.theme,
            "plot-costs",
            "Policy cost and best known cost",
            ("best known cost", "policy cost"),
            legend=(-12, -8),
        )
        self.scatter.point_activated.connect(self._open)
        self.scatter.setToolTip("Click a point to open its bug")
        hint = label("Click a point to open its bug", "muted")
        self.scatter.header.insertWidget(1, hint)
        split = vsplit(self.tables, self.scatter, sizes=(180, 320), handle=9, collapsible=True)
        remember_division(split, "campaign-oracles", context.settings)
        vbox(split, parent=self, margins=8)
        monitor.updated.connect(self.refresh)
        self._shown: BugPoints | None = None
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        progress = self._monitor.progress
        mode = Mode.HUNT if progress is None else progress.mode
        self.tables.setCurrentIndex(list(_COLUMNS).index(mode))
        if self._monitor.scores != self.models[mode].rows:
            self.models[mode].set_rows(self._monitor.scores)
        points = self._monitor.points
        if points is not self._shown:
            self._shown = points
            self.scatter.set_points(_point_sets(points), diagonal=True)

    @Slot(object)
    def _open(self, bug: int) -> None:
        self.bug_requested.emit(int(bug))


def _point_sets(points: BugPoints) -> list[Points]:
    """Failures have no cost; they lie on a line of their own above all others."""
    failing = np.isnan(points.policy_costs)
    expensive = ~failing
    largest = float(np.fmax(points.policy_costs, points.bounds).max(initial=1.0))
    sets = [
        Points(
            "too expensive",
            points.bounds[expensive],
            points.policy_costs[expensive],
            points.bugs[expensive],
            "policy",
        ),
        Points(
            "fails",
            points.bounds[failing],
            np.full(int(failing.sum()), largest * 1.15),
            points.bugs[failing],
            "bad",
            "x",
            "the policy fails",
        ),
    ]
    return [item for item in sets if len(item.keys)]
