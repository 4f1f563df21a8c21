"""The plan comparison as a table: steps, notes under bad steps, folded common parts, the ends.

The policy's plan is on the left, the better one on the right. What a row is comes through
`LINE_ROLE`; the delegate draws it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from engine.records.localization import Localization, LocalizedStep, StepVerdict
from engine.report.bug_text import ending_text, verdict_text
from engine.report.plan_alignment import AlignedRow, Alignment, RowKind, align
from engine.report.trace import Ending, Trace, TraceStep
from engine.task.task import Task

Index = QModelIndex | QPersistentModelIndex
LINE_ROLE = int(Qt.ItemDataRole.UserRole) + 1
CONTEXT = 2
"""How many common steps stay visible beside a difference or a bad step."""
MIN_FOLDED_STEPS = 4
_NOWHERE = QModelIndex()


class PlanColumn:
    POLICY_STEP, POLICY_ACTION, POLICY_COST, BETTER_STEP, BETTER_ACTION, BETTER_COST = range(6)
    TITLES = ("", "Policy", "Cost", "", "Better plan", "Cost")


class Mark(Enum):
    """What localization says about a step of the policy."""

    BAD = "bad"
    OPTIMAL = "optimal"
    UNDECIDED = "undecided"
    LOST = "lost"  # the goal was out of reach already
    UNKNOWN = ""


@dataclass(frozen=True, slots=True)
class StepLine:
    """A row of the alignment."""

    row: int
    aligned: AlignedRow
    mark: Mark = Mark.UNKNOWN
    verdict: LocalizedStep | None = None
    cause_step: bool = False
    parting: bool = False  # both plans are in the same state and do different things
    in_loop: bool = False
    loop_begins: bool = False
    loop_ends: bool = False


@dataclass(frozen=True, slots=True)
class NoteLine:
    """What is wrong with the step above, and the action that would have been right."""

    row: int
    text: str
    better: str = ""
    in_loop: bool = False  # the loop goes on below it


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


PlanLine = StepLine | NoteLine | FoldLine | EndLine


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
        """On a step of the policy."""
        if self.localization is None:
            return None
        steps = self.localization.steps
        if index < len(steps) and steps[index].index == index:
            return steps[index]
        return next((step for step in steps if step.index == index), None)

    @property
    def cause_step(self) -> int | None:
        """The root cause; without one the first bad step, if any."""
        found = self.localization
        if found is None:
            return None
        if found.cause is not None:
            return found.cause.index
        return next(iter(found.bad_steps), None)


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
        """Where a row of the alignment is shown, or the fold that hides it."""
        for number, line in enumerate(self.lines):
            if isinstance(line, FoldLine):
                if row in line.rows:
                    return number
            elif not isinstance(line, NoteLine) and line.row == row:
                return number
        return len(self.lines) - 1

    def show_row(self, row: int) -> int:
        """Where a row of the alignment is, opened if it was folded."""
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
            right = section in (PlanColumn.POLICY_COST, PlanColumn.BETTER_COST)
            side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
            return int(side | Qt.AlignmentFlag.AlignVCenter)
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
        return NoteLine(step.row, note_text(verdict), better, goes_on)

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
            return {}  # nothing differs: then the steps themselves are what there is to see
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


def note_text(verdict: LocalizedStep) -> str:
    """As in "step 4: cost-to-go 9, should be 7"."""
    return f"step {verdict.index + 1}: {verdict_text(verdict)}"


def cell_text(line: PlanLine, column: int) -> str:
    match line:
        case NoteLine(_, text, better, _):
            instead = f", better: {better}" if better else ""
            return text + instead if column == PlanColumn.POLICY_STEP else ""
        case FoldLine(rows):
            text = f"{len(rows)} common steps"
            return text if column == PlanColumn.POLICY_STEP else ""
        case EndLine():
            texts = ("", line.policy, line.policy_cost, "", line.better, line.better_cost)
            return texts[column]
        case StepLine():
            left = column < PlanColumn.BETTER_STEP
            return _step_text(line.aligned.policy if left else line.aligned.better, column % 3)


def _step_text(step: TraceStep | None, column: int) -> str:
    if step is None:
        return ""
    return (str(step.index + 1), f"({step.action})", str(step.cost_after))[column]


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
        cause_step=ours.index == comparison.cause_step,
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
