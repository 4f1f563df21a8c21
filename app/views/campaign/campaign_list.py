"""All campaigns of the workspace, the newest first, with their status and bugs.

Counting the bugs of a running campaign takes time, so the list is read at a limited rate, and not
at all while it is hidden.
"""

from __future__ import annotations

import time
from typing import NamedTuple

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QPushButton, QWidget

from app.models.campaign_controller import CampaignController
from app.models.campaign_tables import CAMPAIGNS, CampaignLine
from app.models.table_model import TableModel
from app.services.context import Context
from app.services.reader import LatestQuery
from app.widgets.builders import heading, icon_button, paragraph
from app.widgets.layouts import hbox, vbox
from app.widgets.table_view import TableView
from engine.errors import PlumblineError
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import CampaignCounts, CampaignRow

NOTHING = "No campaigns yet. Choose settings and press Run (F5)."
COUNT_MILLISECONDS = 1000
COUNT_SHARE = 20
"""The pause is at least this many times as long as counting takes."""


class _Counted(NamedTuple):
    """Campaigns, and by their numbers how many bugs and units they have, and their experiments."""

    rows: list[CampaignRow]
    counts: dict[int, CampaignCounts]
    experiments: dict[int, tuple[int, ...]]
    seconds: float  # it took, without waiting for the disk


NO_CAMPAIGNS = _Counted([], {}, {}, 0.0)


class CampaignList(QWidget):
    chosen = Signal(object)  # a CampaignLine: another one, or more is known about it
    fold_requested = Signal()

    def __init__(self, context: Context, controller: CampaignController, new: QPushButton) -> None:
        super().__init__()
        self._context, self._controller = context, controller
        self._followed: int | None = None  # the campaign that was last chosen because it began
        self._failed = context.messages.failure("Cannot read the campaigns")
        self._query = LatestQuery(context.document.reader, self, self._on_counted, self._failed)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(COUNT_MILLISECONDS)
        self._soon.timeout.connect(self.refresh)
        self.lines: TableModel[CampaignLine] = TableModel(CAMPAIGNS, context.theme, self)
        self.table = TableView("campaigns", "Campaigns of this workspace")
        self.table.setModel(self.lines)
        self.table.set_widths(4, 8, 15, 5)
        self.table.remember(context.settings)
        self.table.selectionModel().selectionChanged.connect(self._tell)
        self.nothing = paragraph(NOTHING)

        self.fold = icon_button(
            context.theme,
            "left",
            "campaigns-fold",
            "Hide the list of campaigns",
            clicked=self.fold_requested,
        )
        top = hbox(heading("Campaigns"), 1, self.fold)
        vbox(
            top,
            (self.nothing, 1, Qt.AlignmentFlag.AlignTop),
            (self.table, 1),
            new,
            parent=self,
            spacing=8,
        )
        controller.changed.connect(self._on_controller_changed)
        context.document.changed.connect(self._on_document_changed)
        context.theme.changed.connect(self.lines.restyle)
        self._counted = NO_CAMPAIGNS
        try:
            self._show(_count(context.document.store))
        except PlumblineError as error:
            self._show(NO_CAMPAIGNS)
            self._failed(error)

    def choose(self, campaign: int) -> None:
        for number in range(self.lines.rowCount()):
            if self.lines.row(number).row.id == campaign:
                if self._chosen() == campaign:
                    self._tell()
                else:
                    self.table.select_row(number)

    def choose_none(self) -> None:
        self.table.clearSelection()
        self.table.setCurrentIndex(self.lines.index(-1, -1))

    @Slot()
    def refresh(self) -> None:
        self._query.ask(_count)

    def _on_counted(self, counted: _Counted) -> None:
        self._soon.setInterval(max(COUNT_MILLISECONDS, int(1000 * COUNT_SHARE * counted.seconds)))
        self._show(counted)

    def _show(self, counted: _Counted) -> None:
        """Select a campaign that has just begun, once."""
        self._counted = counted
        chosen = self._chosen()
        lines = self._lines(counted)
        if lines != self.lines.rows:
            self.lines.set_rows(lines)
        self.nothing.setVisible(not lines)
        self.table.setVisible(bool(lines))
        begun = self._controller.campaign  # it may have ended already
        if begun != self._followed and any(row.id == begun for row in counted.rows):
            chosen = self._followed = begun
        if chosen is not None:
            self.choose(chosen)

    def _lines(self, counted: _Counted) -> list[CampaignLine]:
        return [
            CampaignLine(
                row,
                self._controller.state(row),
                counts.bugs,
                counts.failed_units,
                counts.limited_units,
                counts.further,
                counted.experiments.get(row.id, ()),
            )
            for row in reversed(counted.rows)
            if (counts := counted.counts.get(row.id))
        ]

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802  Qt's name
        super().showEvent(event)
        self.refresh()

    @Slot()
    def _on_controller_changed(self) -> None:
        if not self._controller.is_busy:
            self._followed = None
        if self._lines(self._counted) != self.lines.rows:
            self._show(self._counted)  # what they are doing is not what it was

    @Slot(str)
    def _on_document_changed(self, topic: str) -> None:
        if topic in ("campaigns", "experiments"):
            self.refresh()
        elif topic in ("bugs", "outside") and self.isVisible() and not self._soon.isActive():
            self._soon.start()

    def _chosen(self) -> int | None:
        rows = self.table.selected_rows()
        return self.lines.row(rows[0]).row.id if rows else None

    @Slot()
    def _tell(self) -> None:
        for number in self.table.selected_rows()[:1]:
            self.chosen.emit(self.lines.row(number))


def _count(store: WorkspaceReader) -> _Counted:
    began = time.thread_time()
    campaigns, counts = store.campaigns(), store.counts()
    experiments = store.experiments.by_campaign()
    return _Counted(campaigns, counts, experiments, time.thread_time() - began)
