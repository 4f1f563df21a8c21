"""The changes between two campaigns: which bugs and patterns are new, gone or still there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QModelIndex, Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox, QLabel, QSplitter, QStackedLayout, QWidget

from app.models.campaign_controller import CampaignState
from app.models.campaign_tables import (
    COMPARED,
    COMPARED_PATTERNS,
    CampaignLine,
    PatternLine,
    clock_time,
)
from app.models.table_model import TableModel
from app.services.context import Context
from app.services.jobs import Job
from app.widgets.builders import describe
from app.widgets.empty_state import EmptyState
from app.widgets.labels import ElidedLabel
from app.widgets.layouts import hbox, pane, remember_division, vsplit
from app.widgets.table_view import TableView
from engine.campaign.changes import Change, ComparedBug, Comparison
from engine.campaign.patterns import PatternChange
from engine.report.words import count_text
from engine.usecases.changes import Changes, changes_between, find_changes

MANY_BUGS = 4000
"""With more, comparing takes longer than a tenth of a second."""
_WIDTHS = (13, 5, 11, 10, 8, 8, 12)
_PATTERN_WIDTHS = (17, 9, 8, 8)
_POLICY = 3
"""Columns that are hidden if all bugs are of one policy."""


class ChangesView(QWidget):
    bug_requested = Signal(int)
    pattern_requested = Signal(int)

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._campaign: int | None = None
        self._bugs = 0  # of all campaigns
        self._job: Job | None = None
        self._pair: tuple[int, int] | None = None  # whose comparison is shown or on its way
        self._states: tuple[
            tuple[int, CampaignState], ...
        ] = ()  # of all campaigns when last compared
        self.other = QComboBox()
        describe(self.other, "compare-with", "Compared with")
        self.other.currentIndexChanged.connect(self._compare)
        self.counts = ElidedLabel("", Qt.TextElideMode.ElideRight)
        self.direction = ElidedLabel("", Qt.TextElideMode.ElideRight, role="muted")
        self.model: TableModel[ComparedBug] = TableModel(COMPARED, context.theme, self)
        self.table = TableView("campaign-compared", "Bugs of both campaigns")
        self.table.setModel(self.model)
        self.table.setTextElideMode(Qt.TextElideMode.ElideRight)  # why is a sentence
        self.table.set_widths(*_WIDTHS)
        self.table.remember(context.settings)
        self.table.activated.connect(self._open)
        self.pattern_model: TableModel[PatternLine] = TableModel(
            COMPARED_PATTERNS, context.theme, self
        )
        self.patterns = TableView("campaign-compared-patterns", "Patterns of both campaigns")
        self.patterns.setModel(self.pattern_model)
        self.patterns.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.patterns.set_widths(*_PATTERN_WIDTHS)
        self.patterns.remember(context.settings)
        self.patterns.activated.connect(self._open_pattern)
        self.pattern_counts = ElidedLabel("", Qt.TextElideMode.ElideRight)
        label = QLabel("Compared with")
        label.setBuddy(self.other)
        top = hbox(label, self.other, (self.direction, 1), spacing=8)
        full = pane(top, (self._divided(), 1), spacing=8, margins=8)
        empty = EmptyState(
            context.theme,
            "campaign",
            "Only one campaign so far",
            "Run another campaign with a retrained policy or another seed to see which bugs are "
            "new, gone or still there.",
        )
        self._stack = QStackedLayout(self)
        self._stack.addWidget(empty)
        self._stack.addWidget(full)
        context.theme.changed.connect(self.model.restyle)

    def _divided(self) -> QSplitter:
        """Patterns above bugs; without patterns only the bugs."""
        self._pattern_part = pane(self.pattern_counts, (self.patterns, 1), spacing=8)
        bug_part = pane(self.counts, (self.table, 1), spacing=8)
        split = vsplit(self._pattern_part, bug_part, stretch=(2, 3))
        remember_division(split, "campaign-changes", self._context.settings)
        return split

    def show_campaign(self, campaign: int | None, lines: Sequence[CampaignLine]) -> None:
        """Offer all other campaigns, and compare with the previous one first."""
        states = tuple((line.row.id, line.state) for line in lines)
        is_news = (campaign, states) != (self._campaign, self._states)
        if campaign != self._campaign:
            self.other.clear()
        self._campaign, self._states = campaign, states
        self._bugs = sum(line.bugs + line.further for line in lines)
        others = [line for line in lines if line.row.id != campaign]
        known = {self.other.itemData(place) for place in range(self.other.count())}
        self.other.blockSignals(True)
        for line in others:
            if line.row.id not in known:
                text = f"Campaign {line.row.id}, {clock_time(line.row.created)}"
                self.other.addItem(text, line.row.id)
        self.other.blockSignals(False)
        if not known and others:
            numbers = [line.row.id for line in others]
            before = [number for number in numbers if campaign and number < campaign]
            self.other.setCurrentIndex(self.other.findData(max(before or numbers)))
        self._stack.setCurrentIndex(int(bool(others)))
        if is_news:
            self._compare()

    def showEvent(self, event: object) -> None:  # noqa: N802  Qt's name
        self._compare()

    @Slot()
    def _compare(self) -> None:
        other = self.other.currentData()
        if other is None or self._campaign is None or not self.isVisible():
            return
        pair = min(other, self._campaign), max(other, self._campaign)  # the older one first
        if self._bugs > MANY_BUGS:
            self._compare_in_background(*pair)
            return
        self._forget_others(pair)
        self._context.document.reader.ask(
            self,
            lambda store: changes_between(store, *pair),
            partial(self._on_compared, pair),
            self._context.messages.failure("Cannot compare the campaigns"),
        )

    def _on_compared(self, pair: tuple[int, int], found: Changes) -> None:
        if pair == self._pair:
            self._show(found)

    def _forget_others(self, pair: tuple[int, int]) -> None:
        """Clear the answer about another pair of campaigns."""
        if pair != self._pair:
            self._pair = pair
            self.counts.setText("Comparing…")
            self.direction.setText("")
            self.model.set_rows([])
            self._show_patterns([])

    def _compare_in_background(self, before: int, after: int) -> None:
        self._forget_others((before, after))
        if self._job is not None:
            self._job.finished.disconnect(self._on_changes)
            self._job.stop()
        path = self._context.document.path
        self.counts.setText("Comparing…")
        self._job = self._context.jobs.start("Compare campaigns", find_changes, path, before, after)
        self._job.finished.connect(self._on_changes)
        self._job.ended.connect(self._on_ended)

    @Slot(object)
    def _on_changes(self, found: Changes) -> None:
        self._show(found)

    def _show(self, found: Changes) -> None:
        comparison = found.comparison
        self.counts.setText(_words(comparison))
        self.direction.setText(self._from_to(comparison))
        self.model.set_rows(comparison.bugs)
        policies = {bug.finding.policy for bug in comparison.bugs}
        self.table.hide_empty_columns({_POLICY} if len(policies) < 2 else set())
        titles = found.titles
        self._show_patterns([PatternLine(p, titles.get(p.id, p.family)) for p in found.patterns])

    def _show_patterns(self, lines: list[PatternLine]) -> None:
        order = list(PatternChange)
        lines = sorted(lines, key=lambda line: order.index(line.pattern.change))
        counts = Counter(line.pattern.change for line in lines)
        words = [f"{counts[change]} {change.value}" for change in order if counts[change]]
        self.pattern_counts.setText(f"Patterns: {', '.join(words)}")
        self.pattern_model.set_rows(lines)
        self._pattern_part.setVisible(bool(lines))

    def _from_to(self, comparison: Comparison) -> str:
        count = len(comparison.shared_problems)
        before, after = self._pair or (0, 0)
        way = f"from campaign {before} to campaign {after}"
        return f"{way}, {count_text(count, 'problem')} in common" if count else ""

    @Slot()
    def _on_ended(self) -> None:
        if self.sender() is self._job:
            self._job = None

    @Slot(QModelIndex)
    def _open_pattern(self, index: QModelIndex) -> None:
        self.pattern_requested.emit(self.pattern_model.row(index.row()).pattern.id)

    @Slot(QModelIndex)
    def _open(self, index: QModelIndex) -> None:
        self.bug_requested.emit(self.model.row(index.row()).finding.id)


def _words(comparison: Comparison) -> str:
    if not comparison.shared_problems:
        return "The campaigns have no problem in common."
    always = (Change.NEW, Change.GONE, Change.STILL)
    counts = [
        f"{count} {change.value}"
        for change in Change
        if (count := comparison.count(change)) or change in always
    ]
    return f"Bugs: {', '.join(counts)}"
