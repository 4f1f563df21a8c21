"""Localization: options, progress, and the verdict on every step of the policy's run."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Signal, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QProgressBar,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app.models.plan_table import PlanComparison
from app.models.step_cursor import Side, StepCursor
from app.models.table_model import Column, TableModel
from app.services.theme import Theme
from app.views.bugs.painting import ColorfulDelegate
from app.widgets.builders import button, paragraph
from app.widgets.table_view import TableView
from engine.records.localization import LocalizedStep, StepVerdict
from engine.report.bug_text import cause_text, cost_to_go, verdict_text, why_bad
from engine.report.words import count_text
from engine.search.heuristics import ADMISSIBLE
from engine.task.task import Task
from engine.usecases.localize import ALGORITHMS, DEFAULT_OPTIONS, LocalizeOptions

ALGORITHM_TEXTS = {
    "bisection": "Bisection (few searches; default)",
    "aoca": "AOCA* (one search per step)",
    "sms": "SMS (two searches per step)",
    "sms-rev": "SMS reversed (successor first)",
    "sms-bc": "SMS with bounds (second search ends early)",
    "pms-bc": "PMS with bounds (both searches in parallel)",
    "pms-lama": "PMS with LAMA (and a planner in parallel)",
    "dominance": "Dominance only (no search, decides little)",
}
HEURISTIC_TEXTS = {
    "lmcut": "LM-cut (strong; default)",
    "cartesian": "Cartesian abstractions",
    "ms": "Merge-and-shrink",
    "hmax": "h^max (weak but fast)",
    "blind": "Blind (for tiny tasks)",
}
_ICONS = {
    StepVerdict.OPTIMAL: ("optimal", "proven"),
    StepVerdict.NOT_OPTIMAL: ("bad", "bad"),
    StepVerdict.UNDECIDED: ("unknown", "undecided"),
}


def _columns(task: Task | None) -> tuple[Column[LocalizedStep], ...]:
    def action(step: LocalizedStep) -> str:
        return f"({task.operators[step.operator].name})" if task else ""

    return (
        Column("step", "Step", lambda step: step.index + 1, numeric=True),
        Column(
            "verdict",
            "Verdict",
            lambda step: step.verdict.value,
            verdict_text,
            icon=lambda step: _ICONS[step.verdict][0],
            token=_token,
            tip="Whether the action starts an optimal plan from its state",
        ),
        Column(
            "policy",
            "Policy",
            lambda step: step.policy_cost_to_go,
            numeric=True,
            token=lambda step: "policy",
            tip="Cost of the policy from this state to the goal",
        ),
        Column(
            "optimum",
            "Optimum",
            lambda step: step.optimal_low,
            lambda step: cost_to_go(step.optimal_low, step.optimal_high),
            numeric=True,
            token=lambda step: "better",
            tip="Optimal cost from this state to the goal",
        ),
        Column("action", "Action", action, mono=True, token=_token),
    )


def _token(step: LocalizedStep) -> str:
    return {StepVerdict.NOT_OPTIMAL: "bad", StepVerdict.UNDECIDED: "undecided"}.get(
        step.verdict, "text"
    )


class LocalizationView(QWidget):
    localize_requested = Signal(object)
    """A `LocalizeOptions`: look for bad steps."""
    stop_requested = Signal()

    def __init__(self, theme: Theme, cursor: StepCursor, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("localization-view")
        self._theme, self._cursor = theme, cursor
        self._task: Task | None = None
        self.algorithm = self._choice("localize-algorithm", "Algorithm")
        for name in ALGORITHMS:
            self.algorithm.addItem(ALGORITHM_TEXTS.get(name, name), name)
        self.heuristic = self._choice("localize-heuristic", "Heuristic")
        for name, text in HEURISTIC_TEXTS.items():
            if name in ADMISSIBLE:
                self.heuristic.addItem(text, name)
        self.expansions = self._number("localize-expansions", "States per search", 10_000_000)
        self.expansions.setValue(DEFAULT_OPTIONS.search_expansions or 0)
        self.expansions.setSingleStep(10_000)
        self.seconds = self._number("localize-seconds", "Seconds", 36_000)
        self.seconds.setValue(int(DEFAULT_OPTIONS.bug_seconds or 0))
        self.seconds.setSuffix(" s")
        self.run_button = button("Localize", "localize-run", clicked=self._run, primary=True)
        self.stop_button = button(
            "Stop", "localize-stop", clicked=self.stop_requested, accessible="Stop localizing"
        )
        self.progress = QProgressBar()
        self.progress.setObjectName("localize-progress")
        self.progress.setAccessibleName("Progress of the localization")
        self.words = paragraph(role="")
        self.words.setObjectName("localize-words")
        self.why = paragraph(role="")
        self.why.setObjectName("localize-why")
        self.steps: TableModel[LocalizedStep] = TableModel(_columns(None), theme, self)
        self.table = TableView("localize-steps", "Verdicts by step")
        self.table.setModel(self.steps)
        self.table.setItemDelegate(ColorfulDelegate(theme, self.table))
        self.table.selectionModel().currentChanged.connect(self._on_current_changed)
        self._lay_out()
        cursor.comparison_changed.connect(self._show_comparison)
        cursor.moved.connect(self._follow)
        self.show_running(False)

    def show_task(self, task: Task | None) -> None:
        self._task = task
        self.steps.columns = tuple(_columns(task))

    def show_running(self, running: bool, decided: int = 0, steps: int = 0) -> None:
        self.run_button.setVisible(not running)
        self.stop_button.setVisible(running)
        self.progress.setVisible(running)
        self.progress.setRange(0, steps)
        self.progress.setValue(decided)

    def _choice(self, name: str, title: str) -> QComboBox:
        box = QComboBox()
        box.setObjectName(name)
        box.setAccessibleName(title)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setMinimumContentsLength(16)
        return box

    def _number(self, name: str, title: str, most: int) -> QSpinBox:
        box = QSpinBox()
        box.setObjectName(name)
        box.setAccessibleName(title)
        box.setRange(1, most)
        box.setGroupSeparatorShown(True)
        return box

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.setContentsMargins(0, 0, 0, 0)
        form.setVerticalSpacing(4)
        form.addRow("Algorithm", self.algorithm)
        form.addRow("Heuristic", self.heuristic)
        limits = QHBoxLayout()
        limits.setSpacing(8)
        limits.addWidget(self.expansions, 1)
        limits.addWidget(self.seconds, 1)
        limits.addWidget(self.run_button)
        limits.addWidget(self.stop_button)
        form.addRow("Limits", limits)
        self.expansions.setToolTip("Expand at most this many states per search")
        self.seconds.setToolTip("Stop after this time; the remaining steps stay undecided")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.setSpacing(8)
        layout.addLayout(form)
        layout.addWidget(self.progress)
        layout.addWidget(self.words)
        layout.addWidget(self.why)
        layout.addWidget(self.table, 1)

    @Slot()
    def _run(self) -> None:
        self.localize_requested.emit(
            LocalizeOptions(
                self.algorithm.currentData(),
                self.heuristic.currentData(),
                self.expansions.value(),
                self.seconds.value(),
            )
        )

    @Slot()
    def _show_comparison(self) -> None:
        comparison = self._cursor.comparison
        found = comparison.localization if comparison else None
        self.run_button.setToolTip(
            "Find the bad steps" if found is None else "Localize again with these settings"
        )
        self.steps.set_rows(found.steps if found else ())
        self.table.setVisible(found is not None)
        self.run_button.setEnabled(comparison is not None)
        if comparison is None:
            self.words.setText("")
        elif found is None:
            self.words.setText(
                "The bad steps are not known yet. Localizing runs searches that compare each "
                "step of the policy with the optimum."
            )
        else:
            effort = (
                f"{count_text(found.searches, 'search')}, {count_text(found.expanded, 'state')}, "
                f"{found.seconds:.1f} s"
            )
            self.words.setText(f"{cause_text(found)}\n{effort}")
        self.table.resizeColumnsToContents()
        self._follow()

    @Slot()
    def _follow(self) -> None:
        """Explain the current step if it is bad, else the root cause."""
        comparison = self._cursor.comparison
        self.why.setText("" if comparison is None else self._why(comparison))
        self.why.setVisible(bool(self.why.text()))
        if self._cursor.side is Side.POLICY and 0 <= self._cursor.index < self.steps.rowCount():
            self.table.select_row(self._cursor.index)

    def _why(self, comparison: PlanComparison) -> str:
        if self._task is None or comparison.localization is None:
            return ""
        index = self._cursor.index if self._cursor.side is Side.POLICY else -1
        step = comparison.verdict(index)
        if step is None or step.verdict is not StepVerdict.NOT_OPTIMAL:
            index = comparison.cause_step if comparison.cause_step is not None else -1
            step = comparison.verdict(index)
        if step is None or step.verdict is not StepVerdict.NOT_OPTIMAL:
            return ""
        return "\n".join(why_bad(step, comparison.policy.states[index], self._task))

    @Slot(QModelIndex, QModelIndex)
    def _on_current_changed(self, current: QModelIndex, _: QModelIndex) -> None:
        if current.isValid() and self.table.hasFocus():
            self._cursor.move(Side.POLICY, self.steps.row(current.row()).index)
