"""The result of a comparison: verdicts, mapping, macros, counterexample and conflicts."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QLabel, QPushButton, QTabWidget, QWidget

from app.models.comparison_tables import (
    MARKS,
    READING_TIPS,
    Expansion,
    MappingLine,
    explain_difference,
    how_covered,
    mapping_lines,
    within,
)
from app.models.table_model import Column, TableModel
from app.services.settings import Settings
from app.services.theme import Theme
from app.widgets.builders import button, describe, paragraph
from app.widgets.code_view import CodeView
from app.widgets.layouts import hbox, hsplit, pane, vbox, vsplit
from app.widgets.table_view import TableView
from engine.records.comparison import (
    Comparison,
    Counterexample,
    EquivalenceVerdict,
    OperatorCover,
    Parameters,
    ReadingResult,
)
from engine.report.comparison_text import READINGS, VERDICTS, exclusion_text
from engine.report.words import count_text, sentence

ICON = QSize(24, 24)
MAX_OPERATOR_WIDTH = 320
"""Leaves room for the macros."""
VERIFY_TIP = "Check the evidence with the independent verifier"
DETAIL_TIPS = (
    "Show the selected action and the actions of the other domain that together do the same",
    "Show a small problem that one domain can solve and the other cannot",
    "Show why no other mapping of the predicates works",
)

MAPPING_COLUMNS = (
    Column[MappingLine](
        "a", "In A", lambda line: line.a, mono=True, tip="A predicate or type of domain A"
    ),
    Column[MappingLine](
        "b",
        "In B",
        lambda line: line.b,
        mono=True,
        tip="The corresponding name in domain B, found automatically",
    ),
    Column[MappingLine]("kind", "Kind", lambda line: line.kind, tip="A predicate or a type"),
    Column[MappingLine](
        "note", "Note", lambda line: line.note, tip="Whether the arguments are reordered"
    ),
)
OPERATOR_COLUMNS = (
    Column[OperatorCover](
        "domain", "Domain", lambda line: line.domain, tip="The domain of the action"
    ),
    Column[OperatorCover](
        "operator",
        "Action",
        str,
        mono=True,
        tip="Checked if the other domain can always do the same",
        icon=lambda line: "check" if line.covered else "bad",
        token=lambda line: "text" if line.covered else "bad",
    ),
    Column[OperatorCover](
        "macro",
        "Done in the other domain by",
        how_covered,
        mono=True,
        tip="A macro: actions of the other domain that together do the same",
        token=lambda line: "text" if line.covered else "bad",
    ),
)


class VerdictView(QWidget):
    """`problem_requested` asks to put the counterexample's problems into the project."""

    verify_requested = Signal()
    export_requested = Signal()
    problem_requested = Signal()

    def __init__(self, theme: Theme, settings: Settings) -> None:
        super().__init__()
        self._theme = theme
        self._comparison: Comparison | None = None
        self._expansion = Expansion("", "")
        self.cards = {name: _VerdictCard(theme, name) for name in READINGS}
        self._group = QButtonGroup(self)
        self._difference = _wrapped("muted")
        self._reason, self._within = _wrapped(""), _wrapped("")
        self.verification = _wrapped("muted")
        self.mapping = TableModel(MAPPING_COLUMNS, theme, self)
        self.operators = TableModel(OPERATOR_COLUMNS, theme, self)
        self.mapping_table = _table("mapping", "Mapping", self.mapping, settings)
        self.operator_table = _table("operators", "Actions and macros", self.operators, settings)
        self.operator_code = CodeView(theme, "operator-code", "The action")
        self.macro_code = CodeView(theme, "macro-code", "The macro, written out")
        self.problem_a = CodeView(theme, "problem-a", "The counterexample for A")
        self.problem_b = CodeView(theme, "problem-b", "The counterexample for B")
        self.plan = _wrapped("")
        self.conflicts = CodeView(theme, "conflicts", "Conflicts")
        self.details = QTabWidget()
        self._evidence = vsplit()
        describe(self.details, "comparison-details", "Details of the comparison")
        self.details.setDocumentMode(True)
        self._build()
        self.operator_table.selectionModel().currentRowChanged.connect(self._show_operator)
        self._group.idToggled.connect(self._show_reading)
        theme.changed.connect(self.mapping.restyle)
        theme.changed.connect(self.operators.restyle)

    def show_comparison(self, comparison: Comparison, text_a: str, text_b: str) -> None:
        self._comparison, self._expansion = comparison, Expansion(text_a, text_b)
        for parameters, card in self.cards.items():
            reading = comparison.reading(parameters)
            card.setVisible(reading is not None)
            if reading is not None:
                card.show_verdict(reading.verdict)
        self._difference.setText(explain_difference(comparison))
        self._difference.setVisible(bool(self._difference.text()))
        self.cards[comparison.first.parameters].setChecked(True)
        self._show_reading()

    @property
    def reading(self) -> ReadingResult | None:
        """The reading whose card is selected."""
        if self._comparison is None:
            return None
        chosen = (name for name, card in self.cards.items() if card.isChecked())
        return next(filter(None, map(self._comparison.reading, chosen)), None)

    @property
    def counterexample(self) -> Counterexample | None:
        return None if self.reading is None else self.reading.counterexample

    @Slot()
    def _show_reading(self) -> None:
        reading = self.reading
        if reading is None:
            return
        self._reason.setText(sentence(reading.reason))
        notes = [within(reading), *reading.notes]
        self._within.setText("\n".join(sentence(note) for note in notes if note))
        self._within.setVisible(bool(self._within.text()))
        self.verification.setText(_verification_text(reading))
        self.mapping.set_rows(mapping_lines(reading))
        self.operators.set_rows(sorted(reading.operators, key=self._how_telling))
        for table in (self.mapping_table, self.operator_table):
            table.resizeColumnsToContents()
        self.operator_table.setColumnWidth(
            1, min(self.operator_table.columnWidth(1), MAX_OPERATOR_WIDTH)
        )
        some = self.mapping.rows, self.operators.rows, reading.counterexample, reading.exclusions
        self._evidence.setVisible(any(some))  # else the reason says it all
        self._show_counterexample()
        self.conflicts.show_text("\n".join(map(exclusion_text, reading.exclusions)))
        self.details.setTabVisible(1, reading.counterexample is not None)
        self.details.setTabVisible(2, bool(reading.exclusions))
        self.details.setTabText(2, f"Conflicts ({len(reading.exclusions)})")
        self.operator_table.select_row(0)
        self._show_operator()  # without operators no row is selected
        self.details.setCurrentIndex(1 if reading.counterexample is not None else 0)

    def _how_telling(self, operator: OperatorCover) -> tuple[bool, bool]:
        """Sort operators that are not covered first, above all that of the counterexample."""
        able = self.counterexample.solved_by if self.counterexample is not None else ""
        return operator.covered, not operator.covered and operator.domain != able

    @Slot()
    def _show_operator(self) -> None:
        row = self.operator_table.currentIndex().row()
        if not 0 <= row < self.operators.rowCount():
            self.operator_code.show_text("")
            self.macro_code.show_text("")
            return
        operator = self.operators.row(row)
        self.operator_code.show_text(self._expansion.operator(operator).rstrip())
        self.macro_code.show_text(self._expansion.macro(operator).rstrip())

    def _show_counterexample(self) -> None:
        found = self.counterexample
        if found is None:
            return
        other = "B" if found.solved_by == "A" else "A"
        searched = (
            f"a search of all {count_text(found.states_explored, 'reachable state')} found none"
            if found.states_explored is not None
            else "the problem is too large to confirm it by search"
        )
        self.plan.setText(
            f"The plan {found.step} solves the problem in {found.solved_by}. "
            f"No plan exists in {other}; {searched}."
        )
        self.problem_a.show_text(found.problem_a.rstrip())
        self.problem_b.show_text(found.problem_b.rstrip())

    def _build(self) -> None:
        top = QGridLayout()
        top.setHorizontalSpacing(8)
        for number, card in enumerate(self.cards.values()):
            self._group.addButton(card, number)
            top.addWidget(card, 0, number)
        words = vbox(self._difference, self._reason, self._within, self.verification, spacing=4)
        buttons = []
        for icon, text, tip, signal in (
            ("check", "Verify", VERIFY_TIP, self.verify_requested),
            ("export", "Export…", "Write a report as HTML or JSON", self.export_requested),
        ):
            name = f"comparison-{icon}"
            made = button(text, name, tip, clicked=signal, icon=(self._theme, icon))
            buttons.append((made, 0, Qt.AlignmentFlag.AlignTop))
        said = hbox((words, 1), *buttons)
        tables = hsplit(self.mapping_table, self.operator_table, stretch=(2, 3), collapsible=True)
        self.details.addTab(hsplit(self.operator_code, self.macro_code), "Action and macro")
        self.details.addTab(self._counterexample_pane(), "Counterexample")
        self.details.addTab(self.conflicts, "Conflicts")
        for number, tip in enumerate(DETAIL_TIPS):
            self.details.setTabToolTip(number, tip)
        self._evidence.addWidget(tables)
        self._evidence.addWidget(self.details)
        vbox(top, said, (self._evidence, 1), 0, parent=self, spacing=8, margins=(0, 8, 0, 0))

    def _counterexample_pane(self) -> QWidget:
        row = hbox(
            (self.plan, 1),
            button(
                "Save and add to project…",
                "comparison-project",
                "Save both domains, both problems and the plan, and add them to the project",
                clicked=self.problem_requested,
                icon=(self._theme, "project"),
            ),
        )
        return pane(row, (hsplit(self.problem_a, self.problem_b), 1), margins=(0, 8, 0, 0))


class _VerdictCard(QPushButton):
    """A verdict with its icon; selecting it shows its evidence."""

    def __init__(self, theme: Theme, reading: Parameters) -> None:
        super().__init__()
        self._theme, self._reading = theme, reading
        self._verdict: EquivalenceVerdict | None = None
        describe(self, f"verdict-{reading}", READINGS[reading])
        self.setCheckable(True)
        self.setIconSize(ICON)
        self.setToolTip(READING_TIPS[reading])
        policy = self.sizePolicy()
        policy.setHorizontalPolicy(policy.Policy.Expanding)
        self.setSizePolicy(policy)
        theme.changed.connect(self._restyle)

    def show_verdict(self, verdict: EquivalenceVerdict) -> None:
        self._verdict = verdict
        words = VERDICTS[verdict]
        self.setText(f"{words}\n{READINGS[self._reading]}")
        self.setAccessibleName(f"{READINGS[self._reading]}: {words}")
        self._restyle()

    @Slot()
    def _restyle(self) -> None:
        if self._verdict is None:
            return
        icon, token = MARKS[self._verdict]
        color, chosen = self._theme.color(token).name(), self._theme.color("selection").name()
        surface, border = self._theme.color("raised").name(), self._theme.color("border").name()
        accent = self._theme.color("accent").name()
        lines = 2 * QFontMetrics(self._theme.ui_font).height()  # both are visible at any size
        self.setIcon(self._theme.icon(icon, token))
        self.setStyleSheet(
            f"QPushButton {{ color: {color}; background: {surface}; border: 1px solid {border};"
            f" min-height: {lines}px; border-radius: 6px; padding: 8px 12px;"
            " font-weight: 600; text-align: left; }"
            f"QPushButton:checked {{ background: {chosen}; border-color: {accent}; }}"
            f"QPushButton:focus {{ border-color: {accent}; }}"
        )


def _table(name: str, title: str, model: TableModel[Any], settings: Settings) -> TableView:
    table = TableView(f"comparison-{name}", title)
    table.setModel(model)
    table.remember(settings)
    return table


def _wrapped(role: str) -> QLabel:
    label = paragraph(role=role)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


def _verification_text(reading: ReadingResult) -> str:
    if reading.objections is None:
        return ""
    if reading.objections:
        return "Verification failed: " + "; ".join(reading.objections)
    if reading.verdict is EquivalenceVerdict.UNDECIDED:
        return "No evidence to verify."
    return "The independent verifier confirmed the evidence."
