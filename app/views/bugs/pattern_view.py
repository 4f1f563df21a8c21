"""A pattern of mistakes: its witness as a picture, what is proven, and how often it occurs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QDialog, QWidget

from app.services.theme import Theme
from app.widgets.builders import button, label, paragraph
from app.widgets.layouts import hbox, vbox
from app.widgets.picture_canvas import PictureCanvas
from engine.campaign.patterns import PatternBugs, pattern_bugs
from engine.errors import PlumblineError
from engine.pictures.picture import require_drawable, state_picture
from engine.report.bug_text import ending_text
from engine.report.pattern_text import pattern_facts, pattern_titles, trend_text
from engine.report.trace import Ending, evidence_trace, policy_trace
from engine.task.task import Task
from engine.workspace.filter import parse_terms
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import Bug, WitnessRow

WIDTH, HEIGHT = 960, 600
MAX_STEPS = 10
"""Of each plan; an exported witness has all."""


@dataclass(frozen=True)
class ShownPattern:
    """A pattern, the witness that stands for it, and how often each campaign has it."""

    pattern: PatternBugs
    title: str
    row: WitnessRow
    bug: Bug  # the witness
    task: Task
    trend: tuple[tuple[int, int], ...]


def read_pattern(store: WorkspaceReader, number: int, campaign: int) -> ShownPattern | None:
    """None if it is not there any more; of its witnesses one of the campaign comes first."""
    rows = store.bugs(terms=parse_terms("pattern:any"))
    pattern = next((item for item in pattern_bugs(store, rows) if item.id == number), None)
    if pattern is None:
        return None
    campaigns = {row.id: row.campaign for row in rows}
    members = [row for row in store.witnesses() if row.pattern == number]
    members.sort(key=lambda row: (campaigns.get(row.bug) != campaign, row.id))
    first = members[0]
    assert first.finding is not None
    counts = Counter(row.campaign for row in rows if row.pattern == number)
    minimized = {row.campaign for row in rows if row.pattern is not None}
    bug = store.bug(first.finding)
    return ShownPattern(
        pattern,
        pattern_titles(store)[number],
        first,
        bug,
        store.task(bug.problem_id),
        tuple((item, counts[item]) for item in sorted(minimized)),
    )


def _plans(shown: ShownPattern) -> str:
    """The policy's run in the witness above a plan that is better."""
    finding, task = shown.bug.finding, shown.task
    traces = {
        "Policy": policy_trace(task, finding.state, finding.run),
        "Better plan": evidence_trace(task, finding.evidence),
    }
    lines = []
    for name, trace in traces.items():
        steps = [f"  {step.index + 1}. ({step.action})" for step in trace.steps]
        if len(steps) > MAX_STEPS:
            steps[MAX_STEPS:] = [f"  and {len(steps) - MAX_STEPS} more"]
        cost = f", cost {trace.cost}" if trace.ending is Ending.GOAL else ""
        lines += [f"{name}: {ending_text(trace)}{cost}", *steps, ""]
    return "\n".join(lines)


class PatternDialog(QDialog):
    bugs_requested = Signal(str)
    """A filter that shows its bugs."""
    export_requested = Signal(int)
    """The number of the bug that is the witness."""
    deletion_requested = Signal(int, int)
    """The number of the witness, and of the bug that it was made from."""

    def __init__(self, theme: Theme, shown: ShownPattern, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown = shown
        pattern = shown.pattern
        self.setObjectName("pattern-dialog")
        self.setWindowTitle(f"Pattern {pattern.id}")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(WIDTH, HEIGHT)
        self.title = label(shown.title, "title", name="pattern-title")
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.title.setWordWrap(True)
        lines = [*pattern_facts(pattern, shown.title), trend_text(shown.trend)]
        self.facts = paragraph("\n".join(line for line in lines if line))
        self.facts.setObjectName("pattern-facts")
        self.plans = label(_plans(shown), name="pattern-plans")
        self.plans.setTextFormat(Qt.TextFormat.PlainText)
        self.plans.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.plans.setWordWrap(True)
        self.plans.setFixedWidth(WIDTH * 2 // 5)
        self.plans.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.canvas = PictureCanvas(theme, "pattern-picture")
        self._lay_out(theme)
        self._draw()

    def _lay_out(self, theme: Theme) -> None:
        both = hbox((self.canvas, 1), self.plans, spacing=12)
        close = button("Close", "pattern-close", clicked=self.accept)
        buttons = hbox(*self._buttons(theme), 1, close, spacing=8)
        vbox(self.title, self.facts, (both, 1), buttons, parent=self, spacing=12, margins=16)

    def _buttons(self, theme: Theme) -> Sequence[QWidget]:
        return (
            button(
                "Show bugs",
                "pattern-bugs",
                "Filter the table by this pattern",
                clicked=self._show_bugs,
                icon=(theme, "bugs"),
            ),
            button(
                "Export…",
                "pattern-export",
                "Export the witness as a bundle with all files to reproduce it",
                clicked=self._export,
                icon=(theme, "export"),
                accessible="Export the witness",
            ),
            button(
                "Delete witness",
                "pattern-delete",
                "Delete the witness from the workspace; Ctrl+Z restores it",
                clicked=self._delete,
                icon=(theme, "remove"),
            ),
        )

    def _draw(self) -> None:
        """Draw the initial state of the witness, or list its facts if it cannot be drawn."""
        task = self._shown.task
        try:
            require_drawable(task)
        except PlumblineError:
            self.canvas.hide()
            return
        witness = self._shown.row.attempt.witness
        action = witness.action if witness else ""
        title = f"The policy: ({action})" if action else "Smallest witness"
        self.canvas.show_picture(state_picture(task, task.init, title, action))

    @Slot()
    def _show_bugs(self) -> None:
        self.bugs_requested.emit(f"pattern:{self._shown.pattern.id}")
        self.accept()

    @Slot()
    def _export(self) -> None:
        self.export_requested.emit(self._shown.row.finding)

    @Slot()
    def _delete(self) -> None:
        self.deletion_requested.emit(self._shown.row.id, self._shown.row.bug)
        self.accept()
