"""One bug: its header, the plan comparison, and tabs with picture, state, costs and evidence.

All parts follow one cursor. The row of a bug is shown at once, the rest when its task is loaded.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QTimer, Slot
from PySide6.QtWidgets import QTabWidget, QWidget

from app.models.plan_table import PlanComparison
from app.models.step_cursor import StepCursor
from app.services.theme import Theme
from app.views.bugs.cost_view import CostView
from app.views.bugs.evidence_view import EvidenceView
from app.views.bugs.header import BugHeader
from app.views.bugs.picture_view import PictureView
from app.views.bugs.plan_view import PlanView
from app.views.bugs.state_view import StateView
from app.views.bugs.step_bar import StepBar
from app.widgets.builders import describe
from app.widgets.layouts import hsplit, pane, vbox
from engine.records.localization import Localization
from engine.report.state_facts import state_facts
from engine.report.trace import evidence_trace, plan_trace, policy_trace
from engine.task.task import Task
from engine.workspace.rows import Bug, BugRow, WitnessRow

TABS_WIDTH = 350
"""The minimum width, so that the plans keep most of the room."""
BLANK_MILLISECONDS = 150
"""How long the last bug stays visible; usually the next one is loaded by then."""
History = list[tuple[int, int | None, float]]


@dataclass(frozen=True)
class Known:
    """Everything to show of a bug."""

    bug: Bug
    task: Task
    localization: Localization | None
    history: History
    minimized: WitnessRow | None = None  # what became of its root cause
    found_plan: tuple[int, ...] | None = None  # better than the policy, but not the evidence

    @property
    def claims(self) -> tuple[object, ...]:
        """What can be verified."""
        return self.bug.finding, self.localization, self.minimized


class BugDetail(QWidget):
    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("bug-detail")
        self._theme = theme
        self._row: BugRow | None = None  # the bug to show
        self._known: Known | None = None
        self._task: Task | None = None  # the last one that was shown
        self._is_blank = True  # no bug is visible
        self.cursor_at = StepCursor(self)
        self.header = BugHeader(theme)
        self.plan = PlanView(theme, self.cursor_at)
        self.steps = StepBar(theme, self.cursor_at)
        self.steps.folding.connect(self.plan.set_folding)
        self.state = StateView(theme)
        self.picture = PictureView(theme, self.cursor_at)
        self.costs = CostView(theme, self.cursor_at)
        self.localize = self.steps.localize
        self.evidence = EvidenceView(theme)
        self.tabs = QTabWidget()
        describe(self.tabs, "bug-tabs", "Details of the bug")
        self.tabs.setDocumentMode(True)
        self.tabs.setMinimumWidth(TABS_WIDTH)
        for view, title, tip in (
            (self.picture, "Picture", "Show the state before the selected step as a picture"),
            (self.state, "State", "Show the facts before the selected step"),
            (self.costs, "Costs", "Compare the policy's cost-to-go with the optimum"),
            (self.evidence, "Evidence", "Show why this is a bug, and verify it"),
        ):
            self.tabs.setTabToolTip(self.tabs.addTab(view, title), tip)
        self._lay_out()
        self._blank = QTimer(self)
        self._blank.setSingleShot(True)
        self._blank.setInterval(BLANK_MILLISECONDS)
        self._blank.timeout.connect(self._show_nothing)
        self.cursor_at.moved.connect(self._show_state)
        self.tabs.currentChanged.connect(self._show_state)
        self.evidence.state_requested.connect(self._look_at)
        self.header.step_requested.connect(self.plan.go_to_step)
        self.picture.object_selected.connect(self.state.filter_by)

    @property
    def known(self) -> Known | None:
        return self._known

    def show_row(self, row: BugRow) -> None:
        """Show what the table knows, until the rest is loaded."""
        if self._row is not None and self._row.id == row.id:
            self._row = row
            self.header.show_bug(row)
            return
        self._row, self._known = row, None
        self.evidence.show_verdict("")
        if self._is_blank:
            self.header.show_bug(row)
        elif not self._blank.isActive():
            self._blank.start()

    @Slot()
    def _show_nothing(self) -> None:
        assert self._row is not None
        self._is_blank = True
        self.header.show_bug(self._row)
        self.evidence.clear()
        self.picture.show_task(None)
        self.cursor_at.show_comparison(None)

    def show_known(self, known: Known) -> None:
        """Show everything. The cursor stays in place if the bug is the same."""
        self._blank.stop()
        self._is_blank = False
        before = self._known
        same = before is not None and before.bug.row.id == known.bug.row.id
        if before is not None and before.claims != known.claims:
            self.evidence.show_verdict("")  # it was about others
        is_new_task = known.task is not self._task
        self._task = known.task
        self._known, self._row = known, known.bug.row
        bug, task = known.bug, known.task
        better = (
            plan_trace(task, bug.finding.state, known.found_plan)
            if known.found_plan is not None
            else evidence_trace(task, bug.finding.evidence)
        )
        comparison = PlanComparison.of(
            policy_trace(task, bug.finding.state, bug.finding.run), better, known.localization, task
        )
        self.header.show_bug(bug.row)
        self.header.show_comparison(comparison)
        self.evidence.show_bug(bug, task, known.history, comparison, known.minimized)
        if is_new_task:
            self.picture.show_task(None)  # the cursor is not yet in a state of the new task
        self.cursor_at.show_comparison(comparison, keep_place=same)
        self.picture.show_task(task)

    def _lay_out(self) -> None:
        left = pane((self.plan, 1), self.steps, spacing=0)
        self.splitter = hsplit(left, self.tabs, stretch=(3, 2), sizes=(720, 475))
        vbox(self.header, (self.splitter, 1), parent=self, spacing=0)

    @Slot()
    def _show_state(self) -> None:
        """Show the state at the cursor if its tab is visible."""
        known, sight = self._known, self.cursor_at.sight
        if known is None or sight is None:
            self.state.show_state("", None)
            return
        if self.tabs.currentWidget() is self.state:
            self.state.show_state(sight.title, state_facts(known.task, sight.state, sight.after))

    @Slot(str, object, object)
    def _look_at(self, title: str, state: tuple[int, ...], other: tuple[int, ...] | None) -> None:
        if self.tabs.currentWidget() is not self.picture:
            self.tabs.setCurrentWidget(self.state)
        self.cursor_at.look_at(title, state, other)
