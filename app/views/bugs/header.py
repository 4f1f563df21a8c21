"""The header of a bug: one number, one sentence, and one more on which steps are bad."""

from __future__ import annotations

import html
import re
import textwrap

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QFont, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app.models.bug_table import STATUS_ICONS, STATUS_TOKENS, gap_text
from app.models.plan_table import PlanComparison
from app.services.theme import Theme
from app.widgets.builders import button, describe, label
from app.widgets.fields import KeyedLineEdit
from app.widgets.labels import ElidedLabel
from app.widgets.layouts import hbox, vbox
from engine.records.finding import BugKind
from engine.records.localization import CauseKind, Localization
from engine.report.bug_text import headline
from engine.report.loss_text import describe_losses, loop_words
from engine.report.trace import Ending
from engine.workspace.rows import BugRow

NOT_KNOWN = 'The bad steps are not known yet. <a href="localize">Localize</a>'
GO_ON = ' <a href="localize">Continue localizing</a>'
ONE_LINE = 1150
"""Pixels; in a narrower window there is room for two lines, so that nothing moves."""
TIP_WIDTH = 80
"""Characters per line, because plain tooltips do not wrap."""
_STEP = re.compile(r"\b([Ss]tep) (\d+)")
_ACTION = re.compile(r"\(([a-zA-Z_][^()]*)\)")
_LOSS = re.compile(r"\((\+[^()]*)\)")
_WHY_TWO = (
    "Every bad step adds unnecessary cost. The last one is the root cause: after it every step is "
    "optimal, and runs that share it agree from there on."
)


class BugHeader(QWidget):
    localize_requested = Signal()
    plan_requested = Signal()
    export_requested = Signal()
    minimize_requested = Signal()
    note_written = Signal(str)
    note_left = Signal()
    step_requested = Signal(int)
    """To a step of the policy's run."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("bug-header")
        self._theme = theme
        self._row: BugRow | None = None
        self._comparison: PlanComparison | None = None
        self.gap = QLabel()
        describe(self.gap, "bug-gap", "Gap")
        self.title = label(name="bug-title")
        self.place = ElidedLabel(mode=Qt.TextElideMode.ElideRight, role="muted")
        self._status_icon = QLabel()
        self.status = label(name="bug-status")
        self.sentence = label(name="bug-sentence")
        self.sentence.setTextFormat(Qt.TextFormat.RichText)
        self.sentence.setWordWrap(True)
        self.sentence.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        self.sentence.linkActivated.connect(self._follow)
        self.plan_button = button(
            "Find better plan",
            "bug-find-plan",
            "Search for a better plan; so far only a bound is proven (P)",
            clicked=self.plan_requested,
        )
        self.minimize_button = button(
            "Minimize",
            "bug-minimize",
            "Find the smallest problem in which the policy makes the same mistake (M)",
            clicked=self.minimize_requested,
            icon=(theme, "fold"),
            accessible="Minimize the selected bugs",
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
        describe(self.note, "bug-note", "Note")
        self.note.setPlaceholderText("Note (Enter saves, Esc discards)")
        self.note.hide()
        self._lay_out()
        self.plan_button.hide()
        theme.changed.connect(self._render)

    def show_bug(self, row: BugRow) -> None:
        if self._row is None or self._row.id != row.id:
            self._comparison = None
        self._row = row
        self._render()

    def show_comparison(self, comparison: PlanComparison) -> None:
        self._comparison = comparison
        self._render()

    def edit_note(self, text: str) -> None:
        """Open the note for editing; `note_written` carries the result."""
        self.note.setText(text)
        self.note.show()
        self.note.setFocus()
        self.note.selectAll()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802  Qt's name
        super().resizeEvent(event)
        self._reserve_lines()

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
        self.buttons = hbox(self.plan_button, self.minimize_button, self.export_button, spacing=8)
        first = hbox(
            self.title, (self.place, 1), self._status_icon, self.status, self.buttons, spacing=8
        )
        words = vbox(first, self.sentence, spacing=2)
        both = hbox(self.gap, (words, 1), spacing=12)
        vbox(both, self.note, parent=self, spacing=4, margins=(12, 6, 12, 6))

    def _reserve_lines(self) -> None:
        lines = 1 if self.width() >= ONE_LINE else 2
        self.sentence.setMinimumHeight(lines * self.sentence.fontMetrics().lineSpacing())

    @Slot()
    def _render(self) -> None:
        row = self._row
        if row is None:
            return
        self._render_number(row)
        self.title.setText(headline(row))
        font = QFont(self._theme.ui_font)
        font.setBold(True)
        self.title.setFont(font)
        note = f"  ·  {row.note}" if row.note and self.note.isHidden() else ""
        self.place.setText(
            f"Bug {row.id}  ·  {row.problem}  ·  {row.policy}  ·  found by {row.found_by}{note}"
        )
        self.status.setText(row.status_text)
        self.status.setStyleSheet(f"color: {self._color(STATUS_TOKENS[row.status])}")
        icon = self._theme.icon(STATUS_ICONS[row.status], STATUS_TOKENS[row.status])
        self._status_icon.setPixmap(icon.pixmap(QSize(16, 16), self.devicePixelRatioF()))
        better = None if self._comparison is None else self._comparison.better
        self.plan_button.setVisible(better is not None and better.ending is Ending.BOUND)
        self._render_sentence()
        self._reserve_lines()

    def _render_number(self, row: BugRow) -> None:
        text = gap_text(row)
        self.gap.setText(text if row.gap is None else f"+{text}".replace("+≥ ", "≥ "))
        font = QFont(self._theme.ui_font)
        font.setBold(True)
        font.setPointSizeF(1.9 * font.pointSizeF())
        self.gap.setFont(font)
        self.gap.setStyleSheet(f"color: {self._color('bad')}")
        tips = {
            BugKind.FAILS: "The policy never reaches the goal",
            BugKind.STOPPED: "The gap, at least: the policy's run was stopped",
        }
        self.gap.setToolTip(tips.get(row.kind, "The gap: how much more the policy costs"))

    def _render_sentence(self) -> None:
        comparison = self._comparison
        if comparison is None:
            self.sentence.setText("Reading the task…")
            self.sentence.setToolTip("")
            return
        found = comparison.localization
        if found is None:
            begin, end = comparison.policy.loop_begin, len(comparison.policy.steps)
            known = "" if begin is None or begin == end else f"{loop_words(begin, end)}. "
            self.sentence.setText(f"{known}{self._colored(NOT_KNOWN)}")
            self.sentence.setToolTip("")
            return
        again = self._colored(GO_ON) if found.limited else ""
        self.sentence.setText(f"{self._linked(describe_losses(found))}{again}")
        self.sentence.setToolTip(_why_two(found))

    def _colored(self, text: str) -> str:
        return text.replace("<a ", f'<a style="color:{self._color("accent")}" ')

    def _linked(self, text: str) -> str:
        """Steps become links, actions code, and losses red."""
        bad = self._color("bad")
        text = html.escape(text)
        text = _LOSS.sub(rf'(<b style="color:{bad}">\1</b>)', text)
        text = _ACTION.sub(r"<code>(\1)</code>", text)
        return _STEP.sub(rf'<a href="\2" style="color:{bad}">\1 \2</a>', text)

    @Slot(str)
    def _follow(self, link: str) -> None:
        if link == "localize":
            self.localize_requested.emit()
        else:
            self.step_requested.emit(int(link) - 1)

    def _color(self, token: str) -> str:
        return self._theme.color(token).name()


def _why_two(found: Localization) -> str:
    """Explain why the last of several bad steps is named, too."""
    cause = found.cause
    several = cause is not None and cause.kind is CauseKind.DETOUR and len(found.bad_steps) > 1
    return textwrap.fill(_WHY_TWO, TIP_WIDTH) if several else ""
