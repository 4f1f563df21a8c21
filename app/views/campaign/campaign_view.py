"""One campaign, running or not: how it stands, its timeline, and what it found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QSize, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

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
from app.widgets.header import Header
from app.widgets.labels import ElidedLabel
from app.widgets.table_view import TableView
from engine.records.finding import BugKind
from engine.workspace.rows import UnitRow

MARGIN, SPACE = 12, 24


class Figures(QFrame):
    """`captions` by name, with the sentence that explains each."""

    def __init__(
        self, theme: Theme, captions: Mapping[str, str], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setProperty("card", True)
        self._theme = theme
        self.numbers: dict[str, QLabel] = {}
        self._cells: list[QWidget] = []
        layout = QHBoxLayout(self)
        layout.setContentsMargins(MARGIN, 8, MARGIN, 8)
        layout.setSpacing(SPACE)
        for caption, meaning in captions.items():
            number = QLabel("–")  # noqa: RUF001  a dash, not a minus
            number.setProperty("role", "title")
            number.setObjectName(f"figure-{caption.replace(' ', '-')}")
            number.setAccessibleName(caption)
            words = QLabel(caption)
            words.setProperty("role", "muted")
            cell = QWidget()
            lines = QVBoxLayout(cell)
            lines.setContentsMargins(0, 0, 0, 0)
            lines.setSpacing(0)
            for label in (number, words):
                label.setToolTip(meaning)
                lines.addWidget(label)
            self.numbers[caption] = number
            self._cells.append(cell)
            layout.addWidget(cell)
        layout.addStretch(1)

    def minimumSizeHint(self) -> QSize:  # noqa: N802  Qt's name
        """The first of them is enough."""
        hint = super().minimumSizeHint()
        return QSize(self._cells[0].sizeHint().width() + 2 * MARGIN, hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802  Qt's name
        super().resizeEvent(event)
        self._fit()

    def event(self, event: QEvent) -> bool:
        """Numbers and text grow."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return super().event(event)

    def _fit(self) -> None:
        """What has no room is left out, the last first: half a word says nothing."""
        end = self.width() - MARGIN
        place = MARGIN
        for cell in self._cells:
            place += cell.sizeHint().width()
            cell.setVisible(place <= end or cell is self._cells[0])
            place += SPACE

    def show_number(self, caption: str, text: str) -> None:
        self.numbers[caption].setText(text)


FIGURES = {
    "states": "States that were made and tested: the pool",
    "bugs": "States in which the policy is proven to be wrong: of the pool, and on the way from "
    "there, so there may be more of them than states in the pool",
    "fail": "Bugs where the policy never reaches the goal, though there is a plan",
    "too expensive": "Bugs where the policy reaches the goal, but pays more than needed",
    "states/s": "States tested per second of work",
    "policy calls/s": "States put to the policy per second of work",
    "time": "Time worked on this campaign",
}
RESUMABLE = (CampaignState.STOPPED, CampaignState.INTERRUPTED)
_STEPS = 1000


class CampaignView(QWidget):
    bug_requested = Signal(int)
    bugs_requested = Signal()
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
        self.bar.setObjectName("campaign-progress")
        self.bar.setAccessibleName("Progress of the campaign")
        self.bar.setRange(0, _STEPS)
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(8)
        self.left = QLabel()
        self.left.setProperty("role", "muted")
        self.where = ElidedLabel("", Qt.TextElideMode.ElideRight)
        self.where.setObjectName("campaign-where")
        self.where.setProperty("role", "muted")
        progress = QHBoxLayout()
        progress.addWidget(self.bar, 1)
        progress.addWidget(self.left)
        self.timeline = TimelineView(context.theme, monitor)
        self.oracles = OracleView(context, monitor)
        self.oracles.bug_requested.connect(self.bug_requested)
        self.changes = ChangesView(context)
        self.changes.bug_requested.connect(self.bug_requested)
        self.tabs = QTabWidget()
        self.tabs.setObjectName("campaign-tabs")
        self.tabs.setAccessibleName("Views of the campaign")
        self.tabs.setDocumentMode(True)
        for widget, title in (
            (self.timeline, "Timeline"),
            (self.oracles, "Oracles and costs"),
            (self._units_table(), "Units"),
            (self.changes, "Compare"),
        ):
            self.tabs.addTab(widget, title)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(self._header)
        layout.addWidget(self.figures)
        layout.addLayout(progress)
        layout.addWidget(self.where)
        layout.addWidget(self.tabs, 1)
        monitor.updated.connect(self.refresh)
        controller.changed.connect(self.refresh)

    def show_line(self, line: CampaignLine, lines: Sequence[CampaignLine]) -> None:
        """How the campaign stands now, and which others there are."""
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
            f"begun {clock_time(row.created)}"
        )
        ours = state in (CampaignState.RUNNING, CampaignState.PAUSED)
        stopping = self._controller.job is not None and self._controller.job.stopping
        self.pause.setVisible(ours)
        self.pause.setText("Continue" if state is CampaignState.PAUSED else "Pause")
        self.pause.setEnabled(not stopping)
        self.stop.setVisible(ours)
        self.stop.setEnabled(not stopping)
        self.stop.setText("Stopping…" if stopping else "Stop")
        is_left = state is CampaignState.FINISHED and self._line.failed_units > 0
        self.resume.setVisible(state in RESUMABLE or is_left)
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

    def _make_header(self) -> None:
        self.title = QLabel()
        self.title.setProperty("role", "title")
        self.summary = ElidedLabel("", Qt.TextElideMode.ElideRight)
        self.summary.setProperty("role", "muted")
        theme = self._context.theme
        self.pause = _button("Pause", "campaign-pause", "Hold on without losing anything")
        self.stop = _button("Stop", "campaign-stop", "End it now; all that was found is kept")
        self.resume = _button("Resume", "campaign-resume", "Do what is left of it")
        self.again = _button(
            "Use these settings", "campaign-again", "Put its settings into the form"
        )
        self.exchange = UnitExport(self._context, self)
        self.export = _button(
            "Export…", "campaign-export-unit", "Its pools, bugs and tasks as files of other tools"
        )
        self.export.clicked.connect(self.export_unit)
        self.reporting = CampaignReport(self._context, self)
        self.report = _button(
            "Report…", "campaign-report", "What it found, as a page to read or a table (Ctrl+R)"
        )
        self.report.clicked.connect(self.write_report)
        self.bugs = _button("Show bugs", "campaign-bugs", "Go to the table of bugs")
        self.resume.setProperty("primary", True)
        theme.keep_icon(self.pause, "pause")
        theme.keep_icon(self.stop, "stop", "bad")
        theme.keep_icon(self.resume, "run", "on_accent")
        theme.keep_icon(self.bugs, "bugs")
        theme.keep_icon(self.export, "export")
        theme.keep_icon(self.report, "report")
        self.pause.clicked.connect(self._controller.toggle_pause)
        self.stop.clicked.connect(self._controller.stop)
        self.resume.clicked.connect(self._resume)
        self.again.clicked.connect(self._again)
        self.bugs.clicked.connect(self.bugs_requested)
        kept = (self.again, self.report, self.export, self.bugs)
        self._header = Header(
            (self.title, self.summary), (*kept, self.pause, self.stop, self.resume)
        )

    def _units_table(self) -> QWidget:
        self.units: TableModel[UnitRow] = TableModel(UNITS, self._context.theme, self)
        self.unit_table = table = TableView(
            "campaign-units", "Units: one problem, one policy, one seed each"
        )
        table.setModel(self.units)
        table.set_widths(11, 12, 5, 12, 7, 6, 11, 9)
        table.remember(self._context.settings)
        self._context.theme.changed.connect(self.units.restyle)
        pane = QWidget()
        layout = QVBoxLayout(pane)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.addWidget(table)
        return pane

    def _show_progress(self, state: CampaignState) -> None:
        progress = self._monitor.progress
        done, total = 0.0, 1.0
        if progress is not None and progress.units:
            size = progress.units[0].statistics.get("size", 0)
            total = float(len(progress.units))
            done = sum(_done(unit, size) for unit in progress.units)
        self.bar.setValue(round(_STEPS * done / total))
        words = f"{done / total:.0%}"
        seconds = self._controller.seconds_left() if state is CampaignState.RUNNING else None
        if seconds is not None:
            words += f" · {in_words(seconds)} left"
        elif state is CampaignState.RUNNING and progress is None:
            words = "starting…"
        elif state is not CampaignState.RUNNING and self._monitor.is_reading:
            words = "reading…"
        self.left.setText(words)

    def _show_figures(self) -> None:
        progress, show = self._monitor.progress, self.figures.show_number
        if progress is None:
            for caption in FIGURES:
                show(caption, "–")  # noqa: RUF001  a dash, not a minus
            return
        seconds = progress.seconds
        show("states", f"{progress.states:,}")
        show("bugs", f"{progress.bugs:,}")
        show("fail", f"{progress.kinds[BugKind.FAILS]:,}")
        dear = progress.bugs - progress.kinds[BugKind.FAILS]
        show("too expensive", f"{dear:,}")
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
        """Of the campaign that is shown, also while it runs."""
        if self._line is None:
            self._context.messages.info("There is nothing to report yet: run a campaign first.")
        else:
            self.reporting.ask(self._line.row.id)

    @Slot()
    def _again(self) -> None:
        if self._line is not None:
            self.again_requested.emit(self._line.row.id)


def _done(unit: UnitRow, size: int) -> float:
    """The share of a unit that is done; one that ended counts whole."""
    if unit.status in ("finished", "failed", "lost"):
        return 1.0
    states = unit.statistics.get("states", 0)
    return float(states) / (unit.statistics.get("size") or size or 1)


def _rate(count: int, seconds: float) -> str:
    if not seconds:
        return "–"  # noqa: RUF001  a dash, not a minus
    rate = count / seconds
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"


def _button(text: str, name: str, tip: str) -> QPushButton:
    button = QPushButton(text)
    button.setObjectName(name)
    button.setAccessibleName(text)
    button.setToolTip(tip)
    return button
