"""The header of a bug: what the policy costs and what suffices, and which step is bad."""

from __future__ import annotations

import html
import textwrap

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QTextDocumentFragment
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.models.bug_table import STATUS_ICONS, STATUS_TOKENS
from app.models.plan_table import PlanComparison
from app.services.theme import Theme
from app.widgets.builders import button
from app.widgets.fields import KeyedLineEdit
from app.widgets.labels import ElidedLabel
from engine.records.finding import BugKind
from engine.records.localization import CauseKind, Localization, LocalizedStep
from engine.report.bug_text import verdict_text
from engine.report.trace import Ending
from engine.task.task import Task
from engine.workspace.rows import BugRow

_HOW = {
    Ending.LOOP: " (loop)",
    Ending.NO_ACTION: " (no action)",
    Ending.INAPPLICABLE: " (inapplicable action)",
    Ending.POLICY_ERROR: " (policy error)",
}

_WHY_THIS_ONE = {
    CauseKind.DETOUR: "Each of these steps adds unnecessary cost. The last one is the root cause: "
    "after it every step is optimal, and runs that share it agree from there on.",
    CauseKind.DEAD_END: "The root cause is the step after which the goal cannot be reached.",
    CauseKind.LOOP: "The root cause is a step that all runs into this loop share.",
}
MAX_LISTED_STEPS = 4
TIP_WIDTH = 80
"""Characters per line, because plain tooltips do not wrap."""


class BugHeader(QWidget):
    localize_requested = Signal()
    plan_requested = Signal()
    export_requested = Signal()
    note_written = Signal(str)
    note_left = Signal()
    bad_step_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("bug-header")
        self._theme = theme
        self._row: BugRow | None = None
        self._localized: tuple[PlanComparison, Task] | None = None
        self._icon = QLabel()
        self.title = QLabel()
        self.title.setObjectName("bug-title")
        self.title.setTextFormat(Qt.TextFormat.RichText)
        self.place = ElidedLabel(mode=Qt.TextElideMode.ElideRight)
        self.place.setProperty("role", "muted")
        self._status_icon = QLabel()
        self.status = QLabel()
        self.status.setObjectName("bug-status")
        self._cause_icon = QLabel()
        self.cause = QLabel()
        self.cause.setObjectName("bug-cause")
        self.cause.setTextFormat(Qt.TextFormat.RichText)
        self.cause.setMinimumWidth(40)
        self.cause.linkActivated.connect(self.bad_step_requested)
        self.localize_button = button(
            "Localize",
            "bug-localize",
            "Find the bad steps of the policy's run (L)",
            clicked=self.localize_requested,
            primary=True,
        )
        self.plan_button = button(
            "Find better plan",
            "bug-find-plan",
            "Search for a better plan; so far only a bound is proven (P)",
            clicked=self.plan_requested,
        )
        self.export_button = button(
            "Export…",
            "bug-export",
            "Export the selected bugs as bundles with all files to reproduce them (Ctrl+E)",
            clicked=self.export_requested,
            icon=(theme, "export"),
            accessible="Export the selected bugs",
        )
        self.note = KeyedLineEdit(self._on_note_key)
        self.note.setObjectName("bug-note")
        self.note.setAccessibleName("Note")
        self.note.setPlaceholderText("Note (Enter saves, Esc discards)")
        self.note.hide()
        self._lay_out()
        self.localize_button.hide()
        self.plan_button.hide()
        theme.changed.connect(self._render)

    def show_bug(self, row: BugRow) -> None:
        if self._row is None or self._row.id != row.id:
            self._localized = None
        self._row = row
        self._render()

    def show_comparison(self, comparison: PlanComparison, task: Task) -> None:
        self._localized = (comparison, task)
        self._render()

    def edit_note(self, text: str) -> None:
        """Open the note for editing; `note_written` carries the result."""
        self.note.setText(text)
        self.note.show()
        self.note.setFocus()
        self.note.selectAll()

    def _on_note_key(self, event: QKeyEvent) -> bool:
        """Enter saves the note, Escape discards the changes."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._hide_note()
            self.note_written.emit(self.note.text().strip())
            return True
        if event.key() == Qt.Key.Key_Escape:
            self._hide_note()
            self.note_left.emit()
            return True
        return False

    def _hide_note(self) -> None:
        self.note.hide()
        self._render()

    def _lay_out(self) -> None:
        first = QHBoxLayout()
        first.setSpacing(8)
        for widget in (self._icon, self.title):
            first.addWidget(widget)
        first.addWidget(self.place, 1)
        first.addWidget(self._status_icon)
        first.addWidget(self.status)
        second = QHBoxLayout()
        second.setSpacing(8)
        second.addStrut(self.localize_button.sizeHint().height())  # with and without buttons
        second.addWidget(self._cause_icon)
        second.addWidget(self.cause, 1)
        second.addWidget(self.plan_button)
        second.addWidget(self.localize_button)
        second.addWidget(self.export_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 6, 12, 6)
        layout.setSpacing(4)
        layout.addLayout(first)
        layout.addLayout(second)
        layout.addWidget(self.note)

    @Slot()
    def _render(self) -> None:
        row = self._row
        if row is None:
            return
        self.title.setText(self._title(row))
        note = f"  ·  {row.note}" if row.note and self.note.isHidden() else ""
        self.place.setText(f"{row.problem}  ·  {row.policy}  ·  found by {row.found_by}{note}")
        self.status.setText(row.status_text)
        self.status.setStyleSheet(f"color: {self._color(STATUS_TOKENS[row.status])}")
        self._picture(self._icon, "error" if row.gap is None else "cost", "policy")
        self._picture(
            self._status_icon,
            STATUS_ICONS[row.status],
            STATUS_TOKENS[row.status],
        )
        self._render_cause()

    def _title(self, row: BugRow) -> str:
        policy, better, bad = map(self._color, ("policy", "better", "bad"))
        number = f"<b>Bug {row.id}</b> &nbsp;"
        enough = f'<b style="color:{better}">{row.bound}</b>'
        if row.gap is None:
            how = _HOW.get(self._localized[0].policy.ending, "") if self._localized else ""
            return (
                f'{number} <b style="color:{policy}">Never</b> reaches the goal{how}; '
                f"{enough} suffices."
            )
        least = "at least " if row.kind is BugKind.STOPPED else ""
        return (
            f'{number} Costs {least}<b style="color:{policy}">{row.policy_cost}</b>; '
            f'{enough} suffices. Gap {least}<b style="color:{bad}">{row.gap}</b>'
        )

    def _render_cause(self) -> None:
        self.localize_button.setVisible(self._localized is not None)
        better = self._localized[0].better if self._localized is not None else None
        self.plan_button.setVisible(better is not None and better.ending is Ending.BOUND)
        if self._localized is None:
            self.cause.setText("Reading the task…")
            self.cause.setToolTip("")
            self._cause_icon.clear()
            return
        comparison, task = self._localized
        found = comparison.localization
        again = found is not None and found.limited
        self.localize_button.setVisible(found is None or again)
        if found is None:
            self.cause.setText(self._muted("The bad steps are not known yet."))
            self._picture(self._cause_icon, "unknown", "muted")
            return
        text, token = self._cause_text(comparison, found, task)
        self.cause.setText(text)
        self.cause.setToolTip(_paragraphs(text, _why_this_one(found)))
        self._picture(self._cause_icon, "bad" if token == "bad" else "unknown", token)

    def _cause_text(
        self, comparison: PlanComparison, found: Localization, task: Task
    ) -> tuple[str, str]:
        bad = self._color("bad")
        cause = found.cause
        if cause is not None and cause.kind in (CauseKind.NO_ACTION, CauseKind.FAULT):
            words = "no action" if cause.kind is CauseKind.NO_ACTION else "an inapplicable action"
            text = f"After step {cause.index} the policy chooses {words}."
            return f'<b style="color:{bad}">{text}</b>', "bad"
        index = comparison.cause_step
        if index is None:
            text = "No step was proven bad within the limits."
            if comparison.policy.ending is Ending.LOOP and not found.undecided_steps:
                text = "Every step is optimal by itself, but the loop never ends."
            return self._muted(text), "undecided"
        step = comparison.verdict(index)
        action = html.escape(comparison.policy.steps[index].action)
        link = f'<a href="bad" style="color:{bad}">step {index + 1}</a>'
        which = _bad_actions(found)
        text = f'<b style="color:{bad}">{which}{link} <code>({action})</code></b>'
        return text + ("" if step is None else self._instead(step, task)), "bad"

    def _instead(self, step: LocalizedStep, task: Task) -> str:
        text = f" &nbsp; {html.escape(verdict_text(step))}"
        if step.better_operator is not None:
            better = html.escape(task.operators[step.better_operator].name)
            text += (
                f' &nbsp; better: <b style="color:{self._color("better")}">'
                f"<code>({better})</code></b>"
            )
        return text

    def _muted(self, text: str) -> str:
        return f'<span style="color:{self._color("muted")}">{text}</span>'

    def _color(self, token: str) -> str:
        return self._theme.color(token).name()

    def _picture(self, label: QLabel, icon: str, token: str) -> None:
        ratio = self.devicePixelRatioF()
        label.setPixmap(self._theme.icon(icon, token).pixmap(QSize(16, 16), ratio))


def _paragraphs(*texts: str) -> str:
    """Return rich texts as plain paragraphs for a tooltip."""
    plain = [QTextDocumentFragment.fromHtml(text).toPlainText() for text in texts if text]
    return "\n\n".join(textwrap.fill(" ".join(text.split()), TIP_WIDTH) for text in plain)


def _bad_actions(found: Localization) -> str:
    """Return which steps are bad; the text ends before the step that is shown."""
    numbers = [str(step + 1) for step in found.bad_steps]
    if len(numbers) < 2:
        return "Bad step: "
    if len(numbers) > MAX_LISTED_STEPS:
        numbers = [*numbers[: MAX_LISTED_STEPS - 1], f"{len(numbers) - MAX_LISTED_STEPS + 1} more"]
    this = "root cause" if found.cause is not None else "first"
    return f"Bad steps: {', '.join(numbers[:-1])} and {numbers[-1]}; {this}: "


def _why_this_one(found: Localization) -> str:
    """Explain which of several bad steps is the root cause."""
    if found.cause is None or len(found.bad_steps) < 2:
        return ""
    return _WHY_THIS_ONE.get(found.cause.kind, "")
