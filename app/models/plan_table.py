"""The plan comparison as a table: steps and what they lose, where the plans diverge, the ends.

The policy's plan is on the left, the better one on the right. `LINE_ROLE` returns what a row shows;
the delegate draws it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from engine.records.localization import Localization, LocalizedStep, StepVerdict
from engine.report.bug_text import ending_text
from engine.report.localization_text import instead_text, verdict_text
from engine.report.loss_text import step_loss_cell
from engine.report.plan_alignment import AlignedRow, Alignment, RowKind, align
from engine.report.trace import Ending, Trace, TraceStep
from engine.task.task import Task

Index = QModelIndex | QPersistentModelIndex
LINE_ROLE = int(Qt.ItemDataRole.UserRole) + 1
CONTEXT = 2
"""How many common steps stay visible beside a difference or a bad step."""
MIN_FOLDED_STEPS = 4
PARTING = "the plans diverge here"
_NOWHERE = QModelIndex()


class PlanColumn:
    POLICY_STEP, POLICY_ACTION, POLICY_LOSS, POLICY_COST = range(4)
    BETTER_STEP, BETTER_ACTION, BETTER_COST = range(4, 7)
    TITLES = ("", "Policy", "Loss", "Cost", "", "Better plan", "Cost")
    STEPS = (POLICY_STEP, BETTER_STEP)
    ACTIONS = (POLICY_ACTION, BETTER_ACTION)
    COSTS = (POLICY_COST, BETTER_COST)
    NUMBERS = (POLICY_LOSS, *COSTS)


class Mark(Enum):
    """What localization says about a step of the policy."""

    BAD = "bad"
    OPTIMAL = "optimal"
    UNDECIDED = "undecided"
    LOST = "lost"  # the goal was already out of reach
    UNKNOWN = ""


@dataclass(frozen=True, slots=True)
class StepLine:
    """A row of the alignment."""

    row: int
    aligned: AlignedRow
    mark: Mark = Mark.UNKNOWN
    verdict: LocalizedStep | None = None
    worst: bool = False
    parting: bool = False  # both plans are in the same state and do different things
    in_loop: bool = False
    loop_begins: bool = False
    loop_ends: bool = False


@dataclass(frozen=True, slots=True)
class NoteLine:
    """The action that should have been taken instead of the step above, and what it saves."""

    row: int
    text: str
    better: str = ""
    in_loop: bool = False  # the loop continues below it


@dataclass(frozen=True, slots=True)
class PartLine:
    """Up to here both plans are the same, or have met again; below it they part."""

    row: int
    in_loop: bool = False


@dataclass(frozen=True, slots=True)
class FoldLine:
    """Common steps that are not shown."""

    rows: range


@dataclass(frozen=True, slots=True)
class EndLine:
    row: int
    policy: str
    better: str
    policy_ends_well: bool
    better_ends_well: bool
    policy_cost: str
    better_cost: str


PlanLine = StepLine | NoteLine | PartLine | FoldLine | EndLine


@dataclass(frozen=True)
class PlanComparison:
    """Two traces aligned, with what localization knows about the policy's."""

    policy: Trace
    better: Trace | None
    alignment: Alignment
    localization: Localization | None = None
    better_actions: Mapping[int, str] = field(default_factory=dict)  # by steps of the policy

    @classmethod
    def of(
        cls,
        policy: Trace,
        better: Trace | None,
        localization: Localization | None = None,
        task: Task | None = None,
    ) -> PlanComparison:
        actions = {}
        if localization is not None and task is not None:
            actions = {
                step.index: f"({task.operators[step.better_operator].name})"
                for step in localization.steps
                if step.better_operator is not None
            }
        return cls(policy, better, align(policy, better), localization, actions)

    def verdict(self, index: int) -> LocalizedStep | None:
        """The verdict on a step of the policy."""
        if self.localization is None:
            return None
        steps = self.localization.steps
        if index < len(steps) and steps[index].index == index:
            return steps[index]
        return next((step for step in steps if step.index == index), None)

    @property
    def worst_step(self) -> int | None:
        """The step that loses most; one past the last where the policy stops by itself."""
        found = self.localization
        return None if found is None else found.worst_step

    @property
    def has_losses(self) -> bool:
        return self.localization is not None and any(
            step_loss_cell(step) for step in self.localization.steps
        )


class PlanTable(QAbstractTableModel):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.comparison: PlanComparison | None = None
        self.lines: list[PlanLine] = []
        self._folding = True
        self._opened: set[int] = set()

    def show_comparison(self, comparison: PlanComparison | None) -> None:
        self.comparison = comparison
        self._opened.clear()
        self._rebuild()

    @property
    def folding(self) -> bool:
        return self._folding

    def set_folding(self, folding: bool) -> None:
        """Whether long common parts are folded."""
        self._folding = folding
        self._opened.clear()
        self._rebuild()

    def unfold(self, line: int) -> None:
        fold = self.lines[line]
        if isinstance(fold, FoldLine):
            self._opened.add(fold.rows.start)
            self._rebuild()

    def line_of_row(self, row: int) -> int:
        """The line that shows a row of the alignment, or the fold that hides it."""
        for number, line in enumerate(self.lines):
            if isinstance(line, FoldLine):
                if row in line.rows:
                    return number
            elif not isinstance(line, NoteLine | PartLine) and line.row == row:
                return number
        return len(self.lines) - 1

    def show_row(self, row: int) -> int:
        """Return the line of a row of the alignment; unfold it if it was folded."""
        line = self.line_of_row(row)
        if isinstance(self.lines[line], FoldLine):
            self.unfold(line)
            line = self.line_of_row(row)
        return line

    def rowCount(self, parent: Index = _NOWHERE) -> int:  # noqa: N802  Qt's name
        return 0 if parent.isValid() else len(self.lines)

    def columnCount(self, parent: Index = _NOWHERE) -> int:  # noqa: N802  Qt's name
        return 0 if parent.isValid() else len(PlanColumn.TITLES)

    def headerData(  # noqa: N802  Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return PlanColumn.TITLES[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            right = section in PlanColumn.NUMBERS
            side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        if role == Qt.ItemDataRole.ToolTipRole and section == PlanColumn.POLICY_LOSS:
            return "How much more the goal costs because of this step"
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self.lines):
            return None
        line = self.lines[index.row()]
        if role == LINE_ROLE:
            return line
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return cell_text(line, index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(line, index.column())
        return None

    def _rebuild(self) -> None:
        self.beginResetModel()
        self.lines = [] if self.comparison is None else self._build(self.comparison)
        self.endResetModel()

    def _build(self, comparison: PlanComparison) -> list[PlanLine]:
        steps = [
            _step_line(comparison, number, row)
            for number, row in enumerate(comparison.alignment.rows[:-1])
        ]
        lines: list[PlanLine] = []
        hidden = self._folds(steps)
        for step in steps:
            fold = hidden.get(step.row)
            if fold is None:
                if step.parting:
                    lines.append(PartLine(step.row, step.in_loop and not step.loop_begins))
                lines.append(step)
                if step.mark is Mark.BAD and step.verdict is not None:
                    lines.append(self._note(step, step.verdict))
            elif fold.start == step.row:
                lines.append(FoldLine(fold))
        lines.append(_end_line(comparison))
        return lines

    def _note(self, step: StepLine, verdict: LocalizedStep) -> NoteLine:
        assert self.comparison is not None
        better = self.comparison.better_actions.get(verdict.index, "")
        goes_on = step.in_loop and not step.loop_ends
        return NoteLine(step.row, instead_text(verdict), better, goes_on)

    def _folds(self, steps: Sequence[StepLine]) -> dict[int, range]:
        """For each row that is hidden, all that are hidden with it."""
        if not self._folding:
            return {}
        near = {
            row
            for step in steps
            if not step.aligned.common or step.mark is Mark.BAD
            for row in range(step.row - CONTEXT, step.row + CONTEXT + 1)
        }
        if not near:
            return {}  # nothing differs: show the steps themselves
        hidden: dict[int, range] = {}
        start = 0
        for row in range(len(steps) + 1):
            if row == len(steps) or row in near:
                rows = range(start, row)
                if len(rows) >= MIN_FOLDED_STEPS and start not in self._opened:
                    hidden |= dict.fromkeys(rows, rows)
                start = row + 1
        return hidden

    def _tip(self, line: PlanLine, column: int) -> str:
        comparison = self.comparison
        if comparison is None or not isinstance(line, StepLine):
            return cell_text(line, column)
        left = column < PlanColumn.BETTER_STEP
        step = line.aligned.policy if left else line.aligned.better
        if step is None:
            return "The other plan has an extra step here"
        parts = [f"({step.action})", f"costs {step.cost}, {step.cost_after} so far"]
        if line.parting:
            parts.append("The plans diverge here: same state, different actions")
        elif line.aligned.kind is RowKind.SAME_ACTION:
            parts.append("Same action, but the plans are in different states")
        if left and line.verdict is not None:
            parts.append(verdict_text(line.verdict))
        if left and line.in_loop:
            parts.append("Part of the loop")
        return "\n".join(parts)


def cell_text(line: PlanLine, column: int) -> str:
    match line:
        case NoteLine(_, text, better, _):
            words = f"should be {better}: {text}" if better else text
            return words if column == PlanColumn.POLICY_STEP else ""
        case PartLine():
            return PARTING if column == PlanColumn.POLICY_STEP else ""
        case FoldLine(rows):
            text = f"{len(rows)} common steps"
            return text if column == PlanColumn.POLICY_STEP else ""
        case EndLine():
            ours = ("", line.policy, "", line.policy_cost)
            return (*ours, "", line.better, line.better_cost)[column]
        case StepLine():
            if column == PlanColumn.POLICY_LOSS:
                return "" if line.verdict is None else step_loss_cell(line.verdict)
            left = column < PlanColumn.BETTER_STEP
            return _step_text(line.aligned.policy if left else line.aligned.better, column)


def _step_text(step: TraceStep | None, column: int) -> str:
    if step is None:
        return ""
    if column in PlanColumn.STEPS:
        return str(step.index + 1)
    return f"({step.action})" if column in PlanColumn.ACTIONS else str(step.cost_after)


_MARKS = {StepVerdict.OPTIMAL: Mark.OPTIMAL, StepVerdict.UNDECIDED: Mark.UNDECIDED}


def _step_line(comparison: PlanComparison, number: int, row: AlignedRow) -> StepLine:
    ours, theirs = row.policy, row.better
    if ours is None:
        return StepLine(number, row)
    verdict = comparison.verdict(ours.index)
    mark = Mark.UNKNOWN
    if verdict is not None:
        lost = verdict.lost and verdict.verdict is StepVerdict.OPTIMAL
        mark = Mark.LOST if lost else _MARKS.get(verdict.verdict, Mark.BAD)
    policy, better = comparison.policy, comparison.better
    parting = (
        row.kind is RowKind.DIFFERENT
        and theirs is not None
        and better is not None
        and policy.states[ours.index] == better.states[theirs.index]
    )
    return StepLine(
        number,
        row,
        mark,
        verdict,
        worst=ours.index == comparison.worst_step,
        parting=parting,
        in_loop=policy.in_loop(ours.index),
        loop_begins=ours.index == policy.loop_begin,
        loop_ends=policy.loop_begin is not None and ours.index == len(policy.steps) - 1,
    )


def _end_line(comparison: PlanComparison) -> EndLine:
    policy, better = comparison.policy, comparison.better
    row = len(comparison.alignment.rows) - 1
    known = better is not None and better.ending is Ending.GOAL
    return EndLine(
        row,
        ending_text(policy),
        "no better plan known" if better is None else ending_text(better),
        policy.ending is Ending.GOAL,
        known,
        str(policy.cost) if policy.ending is Ending.GOAL else "",
        str(better.cost) if better is not None and known else "",
    )
