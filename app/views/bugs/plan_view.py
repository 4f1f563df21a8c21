"""The plan comparison: the policy's run beside a better plan."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from app.models.plan_table import (
    EndLine,
    FoldLine,
    NoteLine,
    PartLine,
    PlanColumn,
    PlanComparison,
    PlanLine,
    PlanTable,
    StepLine,
    cell_text,
)
from app.models.step_cursor import Side, StepCursor
from app.services.theme import Theme
from app.views.bugs.painting import ICON
from app.views.bugs.plan_delegate import BRACKET, PADDING, PlanDelegate
from app.widgets.builders import describe

ROW_HEIGHT = 24
ROOM_FOR_STEP_COSTS = 840
"""Pixels; in a narrower view there is room for the sums only."""


class PlanView(QTableView):
    """Follows the cursor, and moves it."""

    unfolded = Signal()

    def __init__(self, theme: Theme, cursor: StepCursor, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._cursor = theme, cursor
        self._following = False
        describe(self, "plan-comparison", "Plan comparison")
        self.table = PlanTable(self)
        self.setModel(self.table)
        self._delegate = PlanDelegate(theme, self)
        self.setItemDelegate(self._delegate)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setShowGrid(False)
        self.setCornerButtonEnabled(False)
        self.setTabKeyNavigation(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionsClickable(False)
        header.setMinimumSectionSize(1)  # the columns are fitted to the view, whatever the font
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.verticalScrollBar().rangeChanged.connect(self._fit_columns)
        self.clicked.connect(self._on_clicked)
        self.selectionModel().currentChanged.connect(self._on_current_changed)
        cursor.comparison_changed.connect(self._show_comparison)
        cursor.moved.connect(self._follow)
        theme.changed.connect(self._restyle)
        self._restyle()

    @Slot()
    def next_difference(self) -> None:
        """F8."""
        self._step_through([rows.start for rows in self._differences()], forwards=True)

    @Slot()
    def previous_difference(self) -> None:
        """Shift+F8."""
        self._step_through([rows.start for rows in self._differences()], forwards=False)

    @Slot()
    def go_to_bad_step(self) -> None:
        """Go to the worst step, and from there to the other bad steps."""
        comparison = self.table.comparison
        if comparison is None or comparison.localization is None:
            return
        bad, step = list(comparison.localization.bad_steps), comparison.worst_step
        if step is None:
            return
        here = self._cursor.index if self._cursor.side is Side.POLICY else -1
        if here in (step, *bad) and len(bad) > 1:
            step = next((index for index in bad if index > here), bad[0])
        self.go_to_step(step)

    def go_to_step(self, step: int) -> None:
        """Go to a step of the policy's run."""
        comparison = self.table.comparison
        if comparison is not None:
            self._cursor.move(Side.POLICY, min(step, len(comparison.policy.steps)))

    @Slot(bool)
    def set_folding(self, folding: bool) -> None:
        self.table.set_folding(folding)
        self._span()
        self._follow()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802  Qt's name
        opens = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
        if event.key() in opens and self._unfold(self.currentIndex()):
            event.accept()
        elif event.matches(QKeySequence.StandardKey.Copy):
            self._copy()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802  Qt's name
        super().resizeEvent(event)
        self._fit_columns()

    def _differences(self) -> tuple[range, ...]:
        comparison = self.table.comparison
        return comparison.alignment.differences if comparison else ()

    def _step_through(self, rows: list[int], forwards: bool) -> None:
        here = self.row_here()
        if forwards:
            wanted = next((row for row in rows if row > here), None)
        else:
            wanted = next((row for row in reversed(rows) if row < here), None)
        if wanted is not None:
            self._go_to_row(wanted)

    def row_here(self) -> int:
        """The row of the alignment that is current; -1 before the first move."""
        number = self.currentIndex().row()
        if not 0 <= number < len(self.table.lines):
            return -1
        line = self.table.lines[number]
        return line.rows.start if isinstance(line, FoldLine) else line.row

    def _go_to_row(self, row: int) -> None:
        line = self.table.show_row(row)
        self._span()
        self.setCurrentIndex(self.table.index(line, PlanColumn.POLICY_ACTION))
        self._show_surroundings(line)

    def _show_surroundings(self, line: int) -> None:
        """Scroll so that a step is visible with its neighbors and its note."""
        for near in (line - 2, line + 3, line):
            row = min(max(near, 0), len(self.table.lines) - 1)
            self.scrollTo(self.table.index(row, PlanColumn.POLICY_ACTION))

    @Slot()
    def _show_comparison(self) -> None:
        self.table.show_comparison(self._cursor.comparison)
        self._span()
        self._fit_columns()
        self.scrollToTop()

    @Slot()
    def _follow(self) -> None:
        """Make the row of the cursor current."""
        comparison, trace = self.table.comparison, self._cursor.trace
        if comparison is None or trace is None or self._cursor.aside:
            return
        row = _row_of(comparison, self._cursor.side, self._cursor.index)
        column = (
            PlanColumn.POLICY_ACTION
            if self._cursor.side is Side.POLICY
            else PlanColumn.BETTER_ACTION
        )
        hidden = isinstance(self.table.lines[self.table.line_of_row(row)], FoldLine)
        line = self.table.show_row(row)
        if hidden:
            self._span()
        current = self.currentIndex()
        shown = self.table.lines[current.row()] if current.isValid() else None
        is_left, was_left = (c < PlanColumn.BETTER_STEP for c in (column, current.column()))
        if (current.row() == line and is_left == was_left) or (
            isinstance(shown, NoteLine) and shown.row == row
        ):
            return
        self._following = True
        self.setCurrentIndex(self.table.index(line, column))
        self._following = False
        self._show_surroundings(line)

    @Slot(QModelIndex, QModelIndex)
    def _on_current_changed(self, current: QModelIndex, _: QModelIndex) -> None:
        if self._following or not current.isValid():
            return
        place = self._place(self.table.lines[current.row()], current.column())
        if place is not None:
            self._cursor.move(*place)

    def _place(self, line: PlanLine, column: int) -> tuple[Side, int] | None:
        """Return the step of a cell; beside a gap, the step that its plan has reached."""
        comparison = self.table.comparison
        if comparison is None or isinstance(line, FoldLine):
            return None
        side = Side.POLICY if column < PlanColumn.BETTER_STEP else Side.BETTER
        if comparison.better is None or (
            isinstance(line, StepLine) and line.aligned.better is None
        ):
            side = Side.POLICY
        elif isinstance(line, StepLine) and line.aligned.policy is None:
            side = Side.BETTER
        trace = comparison.policy if side is Side.POLICY else comparison.better
        assert trace is not None
        if isinstance(line, EndLine):
            return side, len(trace.steps)
        aligned = comparison.alignment.rows[line.row]
        step = aligned.policy if side is Side.POLICY else aligned.better
        return (side, step.index) if step is not None else None

    @Slot(QModelIndex)
    def _on_clicked(self, index: QModelIndex) -> None:
        self._unfold(index)

    def _unfold(self, index: QModelIndex) -> bool:
        if not index.isValid() or not isinstance(self.table.lines[index.row()], FoldLine):
            return False
        number = index.row()
        self.table.unfold(number)
        self._span()
        self.setCurrentIndex(self.table.index(number, PlanColumn.POLICY_ACTION))
        self.unfolded.emit()
        return True

    def _span(self) -> None:
        """Let notes and folds span all columns, and an end without a cost its cost column."""
        self.clearSpans()
        for number, line in enumerate(self.table.lines):
            if isinstance(line, NoteLine | PartLine | FoldLine):
                self.setSpan(number, 0, 1, self.table.columnCount())
            elif isinstance(line, EndLine):
                if not line.policy_cost:
                    self.setSpan(number, PlanColumn.POLICY_ACTION, 1, 3)
                if not line.better_cost:
                    self.setSpan(number, PlanColumn.BETTER_ACTION, 1, 2)

    def _copy(self) -> None:
        index = self.currentIndex()
        if index.isValid():
            QGuiApplication.clipboard().setText(str(index.data() or ""))

    @Slot()
    def _restyle(self) -> None:
        height = max(ROW_HEIGHT, self._theme.point_size * 2 + 4)
        self.verticalHeader().setDefaultSectionSize(height)
        self._fit_columns()
        self.viewport().update()

    @Slot()
    def _fit_columns(self) -> None:
        """Give numbers the width they need; both plans share the rest."""
        digit = QFontMetrics(self._theme.mono_font).horizontalAdvance("0")
        comparison = self.table.comparison
        traces = (comparison.policy, comparison.better) if comparison else ()
        steps = [step for trace in traces if trace is not None for step in trace.steps]
        number = len(str(max((step.index + 1 for step in steps), default=1))) * digit
        total = len(str(max((step.cost_after for step in steps), default=1)))
        title = self.horizontalHeader().fontMetrics().horizontalAdvance("Cost")
        cost = max(total * digit, title * 5 // 4) + 3 * PADDING
        room = self.viewport().width() > ROOM_FOR_STEP_COSTS
        self._delegate.step_costs = room and any(step.cost != 1 for step in steps)
        if self._delegate.step_costs:
            cost += (1 + max(len(str(step.cost)) for step in steps)) * digit + PADDING
        losses = comparison is not None and comparison.has_losses
        self.setColumnHidden(PlanColumn.POLICY_LOSS, not losses)
        widths = {
            PlanColumn.POLICY_STEP: number + BRACKET + 3 * PADDING + ICON,
            PlanColumn.POLICY_COST: cost,
            PlanColumn.BETTER_STEP: number + 3 * PADDING,
            PlanColumn.BETTER_COST: cost,
        }
        if losses:
            widths[PlanColumn.POLICY_LOSS] = self._loss_width(digit)
        rest = self.viewport().width() - sum(widths.values())
        widths[PlanColumn.POLICY_ACTION] = max(rest // 2, 80)
        widths[PlanColumn.BETTER_ACTION] = max(rest - rest // 2, 80)
        for column, width in widths.items():
            self.setColumnWidth(column, width)

    def _loss_width(self, digit: int) -> int:
        lines = (line for line in self.table.lines if isinstance(line, StepLine))
        longest = max((len(cell_text(line, PlanColumn.POLICY_LOSS)) for line in lines), default=1)
        title = self.horizontalHeader().fontMetrics().horizontalAdvance("Loss")
        return max(longest * digit * 9 // 8, title * 5 // 4) + 2 * PADDING


def _row_of(comparison: PlanComparison, side: Side, index: int) -> int:
    rows = comparison.alignment.rows
    for number, row in enumerate(rows):
        step = row.policy if side is Side.POLICY else row.better
        if step is not None and step.index == index:
            return number
    return len(rows) - 1
