"""Why this is a bug: the evidence in sentences, and buttons to verify it and to find a plan."""

from __future__ import annotations

import html
import re

from PySide6.QtCore import QUrl, Signal, Slot
from PySide6.QtWidgets import QTextBrowser, QWidget

from app.models.plan_table import PlanComparison
from app.services.theme import Theme
from app.widgets.builders import button, describe
from app.widgets.labels import VerdictLine
from app.widgets.layouts import hbox, vbox
from engine.records.evidence import Morph, State, Walk
from engine.report.bug_text import explain
from engine.report.localization_text import why_bad
from engine.report.pattern_text import attempt_text
from engine.report.words import count_text
from engine.task.successors import successor
from engine.task.task import Task
from engine.workspace.rows import Bug, WitnessRow

CHECKING = "Checking…"
_SIGNS = {"proven": "check", "bad": "error"}
_STATE_WORDS = re.compile(r"\bstate (\d+)\b")


class EvidenceView(QWidget):
    verify_requested = Signal()
    plan_requested = Signal()
    state_requested = Signal(str, object, object)
    """Show a state of the evidence: title, state, state to compare it with."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("evidence-view")
        self._theme = theme
        self._states: dict[str, tuple[str, State, State | None]] = {}
        self._shown: tuple[Bug, Task, str, PlanComparison, WitnessRow | None] | None = None
        self.verify_button = button(
            "Verify",
            "verify-bug",
            "Check the evidence with independent code: translate the stored files again, replay "
            "the evidence and the policy's run, and validate plans with VAL",
            clicked=self.verify_requested,
            icon=(theme, "verify"),
        )
        self.plan_button = button(
            "Find better plan",
            "find-plan",
            "Search for a plan within the proven bound with A* and LAMA",
            clicked=self.plan_requested,
            icon=(theme, "search"),
        )
        self.verdict = VerdictLine(theme)
        self.verdict.setObjectName("verification-verdict")
        self.text = QTextBrowser()
        describe(self.text, "evidence-text", "Why this is a bug")
        self.text.setOpenLinks(False)
        self.text.anchorClicked.connect(self._follow)
        bar = hbox(self.verify_button, self.plan_button, 1, spacing=8)
        vbox(bar, self.verdict, (self.text, 1), parent=self, spacing=8, margins=8)
        self.verdict.hide()
        theme.changed.connect(self._render)

    def show_bug(
        self,
        bug: Bug,
        task: Task,
        history: list[tuple[int, int | None, float]],
        comparison: PlanComparison,
        minimized: WitnessRow | None = None,
    ) -> None:
        self._states = chain_states(bug, task)
        self._shown = (bug, task, _history_text(history), comparison, minimized)
        self.plan_button.setVisible(not bug.finding.evidence.is_plan)
        self._render()

    def show_verdict(self, text: str, token: str = "muted") -> None:
        """Show what verification found; an empty text hides it."""
        self.verdict.show_verdict((_SIGNS.get(token, ""), token, text))
        self.verdict.setVisible(bool(text))

    def show_checking(self) -> None:
        self.show_verdict(CHECKING)

    def end_of_check(self) -> None:
        """Remove the progress text if the check was stopped or failed."""
        if self.verdict.text() == CHECKING:
            self.show_verdict("")

    def clear(self) -> None:
        self._shown = None
        self.text.clear()
        self.show_verdict("")

    @Slot()
    def _render(self) -> None:
        if self._shown is None:
            return
        bug, task, history, comparison, minimized = self._shown
        sentences = [self._linked(sentence) for sentence in explain(bug, task)]
        items = "".join(f'<li style="margin-bottom:8px">{item}</li>' for item in sentences)
        muted = self._theme.color("muted").name()
        self.text.setHtml(
            f'<ol style="margin-left:-16px">{items}</ol><p style="color:{muted}">{history}</p>'
            + _smallest_witness(minimized)
            + _bad_steps(comparison, task, muted)
        )

    def _linked(self, sentence: str) -> str:
        """States become links."""
        text = html.escape(sentence)
        if "here" in self._states:
            text = re.sub(r"\bFrom here\b", 'From <a href="here">here</a>', text)
        return _STATE_WORDS.sub(
            lambda found: (
                f'<a href="state-{found[1]}">state {found[1]}</a>'
                if f"state-{found[1]}" in self._states
                else found[0]
            ),
            text,
        )

    @Slot(QUrl)
    def _follow(self, url: QUrl) -> None:
        known = self._states.get(url.toString())
        if known is not None:
            self.state_requested.emit(*known)


def _bad_steps(comparison: PlanComparison, task: Task, muted: str) -> str:
    """Return why each bad step is bad; empty without a localization."""
    found = comparison.localization
    if found is None:
        return ""
    items = []
    for step in (found.steps[number] for number in found.bad_steps):
        sentences = why_bad(step, comparison.policy.states[step.index], task)
        text = "<br>".join(map(html.escape, sentences))
        items.append(f'<li style="margin-bottom:8px">{text}</li>')
    effort = (
        f"Localized with {count_text(found.searches, 'search')}, "
        f"{count_text(found.expanded, 'state')}, {found.seconds:.1f} s"
    )
    steps = f'<ul style="margin-left:-16px">{"".join(items)}</ul>' if items else ""
    title = "<p><b>Bad steps</b></p>" if items else ""
    return f'{title}{steps}<p style="color:{muted}">{effort}</p>'


def _smallest_witness(minimized: WitnessRow | None) -> str:
    """Return what became of the bug when it was minimized; empty if it was not."""
    if minimized is None:
        return ""
    text = attempt_text(minimized.attempt, minimized.finding, minimized.pattern)
    return f"<p><b>Smallest witness</b></p><p>{html.escape(text)}</p>"


def chain_states(bug: Bug, task: Task) -> dict[str, tuple[str, State, State | None]]:
    """Return the states in the sentences of a proof: title, state, state to compare with."""
    states: dict[str, tuple[str, State, State | None]] = {
        "here": ("The bug state", bug.finding.state, None)
    }
    state, number = bug.finding.evidence.state, 0
    for step in bug.finding.evidence.steps:
        if isinstance(step, Walk):
            for operator in step.operators:
                state = successor(task, task.operators[operator], state)
        elif isinstance(step, Morph):
            number += 1
            title = f"State {number} of the evidence, compared with the state before"
            states[f"state-{number}"] = (title, state, step.state)
            state = step.state
    return states


def _history_text(history: list[tuple[int, int | None, float]]) -> str:
    if len(history) < 2:
        return ""
    steps = ", then ".join(f"{bound} after {seconds:.1f} s" for bound, _, seconds in history)
    return f"Best known cost: {steps}."
