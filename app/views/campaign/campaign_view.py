"""One campaign, running or finished: progress, figures, timeline, oracles, units and changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QSize, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QProgressBar, QTabWidget, QWidget

from app.models.campaign_controller import CampaignController, CampaignState
from app.models.campaign_monitor import CampaignMonitor
from app.models.campaign_settings import scene_text
from app.models.campaign_tables import UNITS, CampaignLine, clock_time, duration
from app.models.table_model import TableModel
from app.services.context import Context
from app.services.jobs import in_words
from app.services.theme import Theme
from app.views.campaign.campaign_report import CampaignReport
from app.views.campaign.changes_view import ChangesView
from app.views.campaign.oracle_view import OracleView
from app.views.campaign.timeline_view import TimelineView
from app.views.unit_export import UnitExport
from app.widgets.builders import button, describe, label
from app.widgets.header import Header
from app.widgets.labels import ElidedLabel
from app.widgets.layouts import hbox, pane, vbox
from app.widgets.progress import STEPS, running_share
from app.widgets.table_view import TableView
from engine.records.finding import BugKind
from engine.workspace.rows import UnitRow

MARGIN, SPACE = 12, 24
DASH = "\N{EN DASH}"
FIGURES = {
    "states": "States in the pool that were tested",
    "solved": "Pool states from which the policy reaches the goal",
    "bugs": "Pool states in which the policy is proven wrong",
    "failures": "Bugs where a plan exists but the policy never reaches the goal",
    "too expensive": "Bugs where the policy reaches the goal at a higher cost than necessary",
    "further bugs": "Bugs outside the pool, in states that runs from pool states visit",
    "states/s": "States tested per second",
    "policy calls/s": "States evaluated by the policy per second",
    "time": "Time spent on this campaign",
}
RESUMABLE = (CampaignState.STOPPED, CampaignState.INTERRUPTED, CampaignState.INCOMPLETE)


class Figures(QFrame):
    """A row of numbers; `captions` maps each caption to its tooltip."""

    def __init__(
        self, theme: Theme, captions: Mapping[str, str], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setProperty("card", True)
        self._theme = theme
        self.numbers: dict[str, QLabel] = {}
        self._cells: list[QWidget] = []
        for caption, meaning in captions.items():
            number, words = label(DASH, "title"), label(caption, "muted")
            describe(number, f"figure-{caption.replace(' ', '-')}", caption, meaning)
            words.setToolTip(meaning)
            self.numbers[caption] = number
            self._cells.append(pane(number, words, spacing=0))
        hbox(*self._cells, 1, parent=self, spacing=SPACE, margins=(MARGIN, 8, MARGIN, 8))

    def minimumSizeHint(self) -> QSize:  # noqa: N802  Qt's name
        """Room for the first number suffices."""
        hint = super().minimumSizeHint()
        return QSize(self._cells[0].sizeHint().width() + 2 * MARGIN, hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802  Qt's name
        super().resizeEvent(event)
        self._fit()

    def event(self, event: QEvent) -> bool:
        """Fit again when numbers or the font grow."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return super().event(event)

    def _fit(self) -> None:
        """Hide the last numbers that do not fit completely."""
        end = self.width() - MARGIN
        place = MARGIN
        for cell in self._cells:
            place += cell.sizeHint().width()
            cell.setVisible(place <= end or cell is self._cells[0])
            place += SPACE

    def show_number(self, caption: str, text: str) -> None:
        self.numbers[caption].setText(text)


class CampaignView(QWidget):
    bug_requested = Signal(int)
    bugs_requested = Signal(int)  # of this campaign
    pattern_requested = Signal(int)  # its bugs
    resume_requested = Signal(int)
    again_requested = Signal(int)  # its settings into the form

    def __init__(
        self,
        context: Context,
        controller: CampaignController,
        monitor: CampaignMonitor,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._context, self._controller, self._monitor = context, controller, monitor
        self._line: CampaignLine | None = None
        self.figures = Figures(context.theme, FIGURES)
        self._make_header()
        self.bar = QProgressBar()
        describe(self.bar, "campaign-progress", "Progress of the campaign")
        self.bar.setRange(0, STEPS)
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(8)
        self.left = label(role="muted")
        self.where = ElidedLabel(
            "", Qt.TextElideMode.ElideRight, role="muted", name="campaign-where"
        )
        progress = hbox((self.bar, 1), self.left)
        self.timeline = TimelineView(context, monitor)
        self.oracles = OracleView(context, monitor)
        self.oracles.bug_requested.connect(self.bug_requested)
        self.changes = ChangesView(context)
        self.changes.bug_requested.connect(self.bug_requested)
        self.changes.pattern_requested.connect(self.pattern_requested)
        self.tabs = QTabWidget()
        describe(self.tabs, "campaign-tabs", "Views of the campaign")
        self.tabs.setDocumentMode(True)
        for widget, title in (
            (self.timeline, "Timeline"),
            (self.oracles, "Oracles and costs"),
            (self._units_table(), "Units"),
            (self.changes, "Changes"),
        ):
            self.tabs.addTab(widget, title)
        vbox(
            self._header, self.figures, progress, self.where, (self.tabs, 1), parent=self, spacing=8
        )
        monitor.updated.connect(self.refresh)
        controller.changed.connect(self.refresh)

    def show_line(self, line: CampaignLine, lines: Sequence[CampaignLine]) -> None:
        """Show the campaign's status, and offer the others."""
        self._line = line
        self.changes.show_campaign(line.row.id, lines)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        if self._line is None:
            return
        row = self._line.row
        state = self._controller.state(self._monitor.row or row)
        self.title.setText(f"Campaign {row.id}")
        self.summary.setText(
            f"{self._line.words if state is self._line.state else state.value} · "
            f"started {clock_time(row.created)}"
        )
        ours = state in (CampaignState.RUNNING, CampaignState.PAUSED)
        stopping = self._controller.job is not None and self._controller.job.stopping
        self.pause.setVisible(ours)
        self.pause.setText("Resume" if state is CampaignState.PAUSED else "Pause")
        self.pause.setEnabled(not stopping)
        self.stop.setVisible(ours)
        self.stop.setEnabled(not stopping)
        self.stop.setText("Stopping…" if stopping else "Stop")
        self.resume.setVisible(state in RESUMABLE)
        self.resume.setEnabled(not self._controller.is_busy)
        self.again.setVisible(not ours)
        self.where.setVisible(ours)
        if ours:
            self.where.setText(scene_text(self._controller.executor, self._controller.scene))
        self._show_progress(state)
        self._show_figures()
        progress = self._monitor.progress
        units = [] if progress is None else list(progress.units)
        if units != self.units.rows:
            self.units.set_rows(units)
            remarks = len(UNITS) - 1
            is_silent = not any(UNITS[remarks].text_of(unit) for unit in units)
            self.unit_table.hide_empty_columns({remarks} if is_silent else set())

    def _make_header(self) -> None:
        self.title = label(role="title")
        self.summary = ElidedLabel("", Qt.TextElideMode.ElideRight, role="muted")
        theme = self._context.theme
        self.pause = button(
            "Pause",
            "campaign-pause",
            "Pause or resume the campaign (F7)",
            clicked=self._controller.toggle_pause,
            icon=(theme, "pause"),
        )
        self.stop = button(
            "Stop",
            "campaign-stop",
            "Stop the campaign; keep everything it found (Shift+F5)",
            clicked=self._controller.stop,
            icon=(theme, "stop"),
            token="bad",
        )
        self.resume = button(
            "Resume",
            "campaign-resume",
            "Run the remaining units",
            clicked=self._resume,
            icon=(theme, "run"),
            primary=True,
        )
        self.again = button(
            "Use these settings",
            "campaign-again",
            "Copy the settings of this campaign to the form",
            clicked=self._again,
        )
        self.exchange = UnitExport(self._context, self)
        self.export = button(
            "Export…",
            "campaign-export-unit",
            "Export pools, bugs and tasks as files for other tools",
            clicked=self.export_unit,
            icon=(theme, "export"),
        )
        self.reporting = CampaignReport(self._context, self)
        self.report = button(
            "Report…",
            "campaign-report",
            "Write a report as a web page, a table or data (Ctrl+R)",
            clicked=self.write_report,
            icon=(theme, "report"),
        )
        self.bugs = button(
            "Show bugs",
            "campaign-bugs",
            "Show the bugs that this campaign found",
            clicked=self._request_bugs,
            icon=(theme, "bugs"),
        )
        kept = (self.again, self.report, self.export, self.bugs)
        self._header = Header(
            (self.title, self.summary), (*kept, self.pause, self.stop, self.resume)
        )

    def _units_table(self) -> QWidget:
        self.units: TableModel[UnitRow] = TableModel(UNITS, self._context.theme, self)
        self.unit_table = table = TableView(
            "campaign-units", "Units, each with one problem, one policy and one seed"
        )
        table.setModel(self.units)
        table.set_widths(11, 12, 5, 12, 7, 7, 6, 11, 9)
        table.remember(self._context.settings)
        self._context.theme.changed.connect(self.units.restyle)
        return pane(table, margins=8)

    def _show_progress(self, state: CampaignState) -> None:
        progress = self._monitor.progress
        done, total = 0.0, 1.0
        if progress is not None and progress.units:
            size = progress.units[0].statistics.size
            total = float(len(progress.units))
            done = sum(_done(unit, size) for unit in progress.units)
        is_running = state is CampaignState.RUNNING
        share = running_share(done, total) if is_running else min(done / total, 1.0)
        self.bar.setValue(int(STEPS * share))
        words = f"{int(100 * share + 1e-9)}%"
        seconds = self._controller.seconds_left() if is_running else None
        if seconds is not None:
            words += f" · {in_words(seconds)} left"
        elif is_running and progress is None:
            words = "Starting…"
        elif not is_running and self._monitor.is_reading:
            words = "Reading…"
        self.left.setText(words)

    def _show_figures(self) -> None:
        progress, show = self._monitor.progress, self.figures.show_number
        if progress is None:
            for caption in FIGURES:
                show(caption, DASH)
            return
        seconds = progress.seconds
        show("states", f"{progress.states:,}")
        show("solved", f"{progress.solved:,}")
        show("bugs", f"{progress.bugs:,}")
        show("further bugs", f"{progress.further:,}")
        show("failures", f"{progress.kinds[BugKind.FAILS]:,}")
        expensive = progress.bugs - progress.kinds[BugKind.FAILS]
        show("too expensive", f"{expensive:,}")
        show("states/s", _rate(progress.states, seconds))
        show("policy calls/s", _rate(progress.policy_calls, seconds))
        show("time", duration(seconds))

    @Slot()
    def _resume(self) -> None:
        if self._line is not None:
            self.resume_requested.emit(self._line.row.id)

    @Slot()
    def export_unit(self) -> None:
        """The unit that is selected in the table of units, or any other of the campaign."""
        selected = [self.units.row(number).id for number in self.unit_table.selected_rows()]
        campaign = None if self._line is None else self._line.row.id
        self.exchange.ask(campaign, next(iter(selected), None))

    @Slot()
    def write_report(self) -> None:
        """Write a report of the campaign that is shown, also while it runs."""
        if self._line is None:
            self._context.messages.info("Run a campaign first; there is nothing to report yet.")
        else:
            self.reporting.ask(self._line.row.id)

    @Slot()
    def _request_bugs(self) -> None:
        if self._line is not None:
            self.bugs_requested.emit(self._line.row.id)

    @Slot()
    def _again(self) -> None:
        if self._line is not None:
            self.again_requested.emit(self._line.row.id)


def _done(unit: UnitRow, size: int) -> float:
    """Return the share of a unit that is done; a unit that ended counts as done."""
    if unit.status in ("finished", "failed", "lost"):
        return 1.0
    states = unit.statistics.states
    return float(states) / (unit.statistics.size or size or 1)


def _rate(count: int, seconds: float) -> str:
    if not seconds:
        return DASH
    rate = count / seconds
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"
