"""Draws the plan comparison so that bad steps stand out first, then the differences.

Common steps are plain, differing ones in the colors of their plans, gaps hatched; a bad step is
red with its loss, and a note below it says what it should have been; a loop has a bracket beside
its steps. A line with words shows where the plans diverge.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QPainter, QPen, QPolygon
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.models.plan_table import (
    LINE_ROLE,
    PARTING,
    EndLine,
    FoldLine,
    Mark,
    NoteLine,
    PartLine,
    PlanColumn,
    PlanLine,
    StepLine,
    cell_text,
)
from app.services.theme import Theme
from app.views.bugs.painting import (
    CENTER,
    ICON,
    LEFT,
    RIGHT,
    draw_elided,
    elided_action,
    icon_place,
)
from app.widgets.elision import Elider, Index, rows_near
from engine.report.plan_alignment import RowKind

PADDING = 6
BRACKET = 5


def _part_of(column: int) -> str:
    if column in PlanColumn.STEPS:
        return "step"
    if column in PlanColumn.ACTIONS:
        return "action"
    return "cost" if column in PlanColumn.COSTS else ""


_MARKS = {
    Mark.BAD: ("bad", "bad"),
    Mark.OPTIMAL: ("optimal", "proven"),
    Mark.UNDECIDED: ("unknown", "undecided"),
    Mark.LOST: ("dead-end", "muted"),
}
"""Icon and color."""


def actions_near(index: Index) -> set[str]:
    """Those of both plans in the rows around a cell."""
    lines = (index.sibling(row, index.column()).data(LINE_ROLE) for row in rows_near(index))
    rows = (line.aligned for line in lines if isinstance(line, StepLine))
    return {f"({step.action})" for row in rows for step in (row.policy, row.better) if step}


class PlanDelegate(QStyledItemDelegate):
    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._elider = Elider(elided_action)
        self.step_costs = False  # whether there is room for what each step costs

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        line: PlanLine = index.data(LINE_ROLE)
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        selected = bool(state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setClipRect(rect)
        self._background(painter, rect, line, index.column(), selected)
        match line:
            case StepLine():
                self._step(painter, rect, line, index)
            case NoteLine():
                self._note(painter, rect, line)
            case PartLine():
                self._part(painter, rect, line)
            case FoldLine(rows):
                self._fold(painter, rect, len(rows))
            case EndLine():
                self._end(painter, rect, line, index.column())
        divided = index.column() == PlanColumn.POLICY_COST or (
            isinstance(line, EndLine)
            and index.column() == PlanColumn.POLICY_ACTION
            and not line.policy_cost
        )
        if divided and not isinstance(line, NoteLine | PartLine | FoldLine):
            painter.setPen(self._theme.color("border"))
            painter.drawLine(rect.topRight(), rect.bottomRight())
        painter.restore()

    def _background(
        self, painter: QPainter, rect: QRect, line: PlanLine, column: int, selected: bool
    ) -> None:
        left = column < PlanColumn.BETTER_STEP
        bad = isinstance(line, NoteLine) or (
            isinstance(line, StepLine) and line.mark is Mark.BAD and left
        )
        if selected:
            painter.fillRect(rect, self._theme.color("selection"))
        elif bad:
            painter.fillRect(rect, self._theme.color("bad_surface"))
        elif isinstance(line, FoldLine):
            painter.fillRect(rect, self._theme.color("window"))
        elif isinstance(line, StepLine) and line.aligned.kind is RowKind.DIFFERENT:
            step = line.aligned.policy if left else line.aligned.better
            if step is not None:
                tint = self._theme.color("policy" if left else "better")
                tint.setAlpha(34 if self._theme.is_dark else 22)
                painter.fillRect(rect, tint)
        if isinstance(line, EndLine):
            painter.setPen(self._theme.color("border"))
            painter.drawLine(rect.topLeft(), rect.topRight())

    def _step(self, painter: QPainter, rect: QRect, line: StepLine, index: Index) -> None:
        column = index.column()
        left = column < PlanColumn.BETTER_STEP
        step = line.aligned.policy if left else line.aligned.better
        if step is None:
            painter.fillRect(rect, QBrush(self._theme.color("border"), Qt.BrushStyle.BDiagPattern))
            return
        if column == PlanColumn.POLICY_STEP and line.in_loop:
            self._bracket(painter, rect, line)
        if column == PlanColumn.POLICY_STEP:
            self._mark(painter, rect, line)
        inner = rect.adjusted(PADDING, 0, -PADDING, 0)
        if column in PlanColumn.STEPS:
            painter.setFont(self._theme.mono_font)
            painter.setPen(self._theme.color("muted"))
            painter.drawText(inner, RIGHT, str(step.index + 1))
        elif column in PlanColumn.ACTIONS:
            painter.setFont(self._action_font(line, left))
            painter.setPen(self._action_color(line, left))
            metrics, width = painter.fontMetrics(), inner.width()
            near = partial(actions_near, index)
            text = self._elider.shown(metrics, f"({step.action})", width, near)
            painter.drawText(inner, LEFT, text)
        elif column == PlanColumn.POLICY_LOSS:
            painter.setFont(self._action_font(line, left))
            painter.setPen(self._theme.color("bad" if line.mark is Mark.BAD else "muted"))
            painter.drawText(inner, RIGHT, cell_text(line, column))
        else:
            self._costs(painter, inner, step.cost, step.cost_after)

    def _action_font(self, line: StepLine, left: bool) -> QFont:
        font = self._theme.mono_font
        font.setBold((left and line.mark is Mark.BAD) or (not left and line.parting))
        return font

    def _action_color(self, line: StepLine, left: bool) -> QColor:
        if left and line.mark is Mark.BAD:
            return self._theme.color("bad")
        if line.aligned.kind is RowKind.DIFFERENT:
            return self._theme.color("policy" if left else "better")
        if line.aligned.kind is RowKind.SAME_ACTION:
            return self._theme.color("muted")
        return self._theme.color("text")

    def _costs(self, painter: QPainter, rect: QRect, cost: int, total: int) -> None:
        """What the step costs, quietly, and all up to it."""
        font = self._theme.mono_font
        painter.setFont(font)
        painter.setPen(self._theme.color("text"))
        painter.drawText(rect, RIGHT, str(total))
        if self.step_costs and cost != 1:
            painter.setPen(self._theme.color("muted"))
            painter.drawText(rect, LEFT, str(cost))

    def _mark(self, painter: QPainter, rect: QRect, line: StepLine) -> None:
        if line.mark in _MARKS:
            name, token = _MARKS[line.mark]
        elif line.parting:
            name, token = "parting", "muted"
        else:
            return
        place = icon_place(rect.left() + BRACKET + PADDING, rect)
        self._theme.icon(name, token).paint(painter, place)

    def _bracket(self, painter: QPainter, rect: QRect, line: StepLine) -> None:
        """A line beside the steps of a loop, with an arrow where it comes back."""
        painter.setPen(QPen(self._theme.color("policy"), 2))
        x, middle = rect.left() + BRACKET, rect.center().y()
        top = middle if line.loop_begins else rect.top()
        bottom = middle if line.loop_ends else rect.bottom()
        if line.loop_begins and line.loop_ends:
            top, bottom = middle - 5, middle + 5
        painter.drawLine(x, top, x, bottom)
        if line.loop_ends:
            painter.drawLine(x, bottom, x + 5, bottom)
        if line.loop_begins:
            tip = QPoint(x + 6, top)
            painter.drawLine(x, top, x + 4, top)
            painter.setBrush(self._theme.color("policy"))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.drawPolygon(QPolygon([tip, tip + QPoint(-5, -4), tip + QPoint(-5, 4)]))

    def _note(self, painter: QPainter, rect: QRect, line: NoteLine) -> None:
        if line.in_loop:
            painter.setPen(QPen(self._theme.color("policy"), 2))
            painter.drawLine(
                rect.left() + BRACKET, rect.top(), rect.left() + BRACKET, rect.bottom()
            )
        left = rect.left() + BRACKET + PADDING + ICON + PADDING + 4
        painter.setPen(self._theme.color("bad"))
        middle = rect.center().y()
        painter.drawLine(left, rect.top() + 2, left, middle)
        painter.drawLine(left, middle, left + 10, middle)
        room = QRect(left + 16, rect.top(), rect.right() - left - 16 - PADDING, rect.height())
        if line.better:
            self._instead(painter, room, line.better)
        painter.setFont(self._theme.ui_font)
        painter.setPen(self._theme.color("text"))
        draw_elided(painter, room, line.text)

    def _instead(self, painter: QPainter, room: QRect, action: str) -> None:
        """What the step should have been; `room` is what is left beside it."""
        font = self._theme.ui_font
        font.setBold(True)
        painter.setFont(font)
        painter.drawText(room, LEFT, "should be")
        room.setLeft(room.left() + painter.fontMetrics().horizontalAdvance("should be  "))
        font = self._theme.mono_font
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(self._theme.color("better"))
        text = elided_action(painter.fontMetrics(), action, room.width())
        painter.drawText(room, LEFT, text)
        room.setLeft(room.left() + painter.fontMetrics().horizontalAdvance(f"{action}  "))

    def _part(self, painter: QPainter, rect: QRect, line: PartLine) -> None:
        """A line with words in its middle."""
        if line.in_loop:
            painter.setPen(QPen(self._theme.color("policy"), 2))
            x = rect.left() + BRACKET
            painter.drawLine(x, rect.top(), x, rect.bottom())
        painter.setFont(self._theme.ui_font)
        painter.setPen(self._theme.color("muted"))
        width = painter.fontMetrics().horizontalAdvance(PARTING) + 2 * PADDING
        middle, center = rect.center().y(), rect.center().x()
        painter.drawText(rect, CENTER, PARTING)
        painter.setPen(QPen(self._theme.color("muted"), 1, Qt.PenStyle.DashLine))
        begin = rect.left() + BRACKET + PADDING
        painter.drawLine(begin, middle, center - width // 2, middle)
        painter.drawLine(center + width // 2, middle, rect.right() - PADDING, middle)

    def _fold(self, painter: QPainter, rect: QRect, count: int) -> None:
        painter.setFont(self._theme.ui_font)
        painter.setPen(self._theme.color("muted"))
        painter.drawText(
            rect.adjusted(PADDING, 0, -PADDING, 0), CENTER, f"⋯  {count} common steps  ⋯"
        )

    def _end(self, painter: QPainter, rect: QRect, line: EndLine, column: int) -> None:
        left = column < PlanColumn.BETTER_STEP
        good = line.policy_ends_well if left else line.better_ends_well
        inner = rect.adjusted(PADDING, 0, -PADDING, 0)
        match _part_of(column):
            case "step":
                name, token = ("goal", "policy" if left else "better") if good else ("error", "bad")
                if not left and not good:
                    name, token = "unknown", "undecided"
                place = icon_place(rect.right() - ICON - PADDING, rect)
                self._theme.icon(name, token).paint(painter, place)
            case "action":
                font = self._theme.ui_font
                font.setBold(True)
                painter.setFont(font)
                token = ("policy" if left else "better") if good else "bad" if left else "undecided"
                painter.setPen(self._theme.color(token))
                draw_elided(painter, inner, line.policy if left else line.better)
            case "cost":
                font = self._theme.mono_font
                font.setBold(True)
                painter.setFont(font)
                painter.setPen(self._theme.color("policy" if left else "better"))
                painter.drawText(inner, RIGHT, line.policy_cost if left else line.better_cost)
