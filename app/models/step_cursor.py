"""The selected step, which plan, slider, state, graph and plot follow.

A step belongs to the policy's run or to the better plan. One past the last step is the end. Apart
from steps, a state that the evidence names can be selected.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QObject, Signal

from app.models.plan_table import PlanComparison
from engine.records.evidence import State
from engine.report.trace import Trace, TraceStep


class Side(Enum):
    POLICY = "policy"
    BETTER = "better"


@dataclass(frozen=True, slots=True)
class Sight:
    """A state to show; `after` is the next state, or the one it is compared with."""

    title: str
    state: State
    after: State | None
    step: TraceStep | None = None


class StepCursor(QObject):
    moved = Signal()
    """The cursor moved to another step or state."""
    comparison_changed = Signal()
    """Another bug is shown, or more is known about this one."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.comparison: PlanComparison | None = None
        self.side = Side.POLICY
        self.index = 0
        self._sight: Sight | None = None

    def show_comparison(self, comparison: PlanComparison | None, keep_place: bool = False) -> None:
        """Show a bug. With `keep_place` the cursor stays; else it goes to the interesting step."""
        self.comparison = comparison
        if comparison is None:
            self.side, self.index, self._sight = Side.POLICY, 0, None
        elif not keep_place:
            self.side, self.index, self._sight = Side.POLICY, interesting_step(comparison), None
        elif comparison.better is None:
            self.side = Side.POLICY
        trace = self.trace
        self.index = 0 if trace is None else min(self.index, len(trace.steps))
        self.comparison_changed.emit()
        self.moved.emit()

    def move_to_interesting_step(self) -> None:
        if self.comparison is not None:
            self.move(Side.POLICY, interesting_step(self.comparison))

    def move(self, side: Side, index: int) -> None:
        if self.comparison is None or (side is Side.BETTER and self.comparison.better is None):
            return
        wanted = (side, index, None)
        if wanted != (self.side, self.index, self._sight):
            self.side, self.index, self._sight = wanted
            self.moved.emit()

    def look_at(self, title: str, state: State, compared_with: State | None = None) -> None:
        """Look at a state that is on neither plan."""
        self._sight = Sight(title, state, compared_with)
        self.moved.emit()

    @property
    def trace(self) -> Trace | None:
        if self.comparison is None:
            return None
        return self.comparison.policy if self.side is Side.POLICY else self.comparison.better

    @property
    def aside(self) -> bool:
        """Whether the selected state is on neither plan."""
        return self._sight is not None

    @property
    def sight(self) -> Sight | None:
        """Return the state to show, or None."""
        trace = self.trace
        if self._sight is not None or trace is None:
            return self._sight
        return sight_of(trace, self.index, self.side)


def sight_of(trace: Trace, index: int, side: Side) -> Sight:
    """Return the state to show at a step of a plan, or at its end."""
    whose = "policy" if side is Side.POLICY else "better plan"
    if index < len(trace.steps):
        step = trace.steps[index]
        title = f"Before step {index + 1} of the {whose}"
        return Sight(title, trace.states[index], trace.state_after(index), step)
    last = trace.loop_begin if trace.loop_begin is not None else len(trace.states) - 1
    return Sight(f"At the end of the {whose}", trace.states[last], None)


def interesting_step(comparison: PlanComparison) -> int:
    """The worst step, or else the first step of the policy that leaves the better plan."""
    if comparison.worst_step is not None:
        return min(comparison.worst_step, len(comparison.policy.steps))
    if not comparison.alignment.differences:
        return 0
    following = comparison.alignment.rows[comparison.alignment.differences[0].start :]
    steps = (row.policy.index for row in following if row.policy is not None)
    return next(steps, len(comparison.policy.steps))
