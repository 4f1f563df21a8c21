"""The factored transition system of a task once more, by plain enumeration.

For whoever checks a dominance function: nothing here is shared with what computes one. A factor's
states are all combinations of the values of its variables; what cannot be reached or cannot reach
the goal is pruned. See docs/theory/dominance.md, "Factored transition system".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.dominance.function import FactorTable
from engine.errors import CancelledError
from engine.native.control import Control
from engine.native.library import BoolArray, Int32Array, Int64Array
from engine.task.task import Task

MAX_STEPS = 10_000_000_000
"""Additions that one check may take."""


class TooLargeError(Exception):
    """More additions than a check may take."""


class Budget:
    """Counts additions."""

    def __init__(self, control: Control | None = None, steps: int = MAX_STEPS) -> None:
        self.left = steps
        self._control = control

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise TooLargeError
        self.look()

    def look(self) -> None:
        """For steps that are limited otherwise: only whether it is to stop."""
        if self._control is not None and self._control.cancelled:
            raise CancelledError


FloatArray = npt.NDArray[np.float64]

MAX_CELLS = 200_000_000
"""Operators times combinations of values of a factor: what is enumerated at most."""


@dataclass
class View:
    """All combinations of the values of some variables, pruned ones included."""

    goal: BoolArray
    initial: int
    targets: Int32Array  # by operator and combination; -1: not applicable
    alive: BoolArray


@dataclass(frozen=True)
class PlainSystem:
    """What is alive; the last label stands for doing nothing."""

    costs: FloatArray  # by label
    moves: tuple[Int32Array, ...]  # by factor: where a label leads from a state; -1: nowhere
    goals: tuple[BoolArray, ...]
    heights: tuple[FloatArray, ...]  # goal distances


def cells(factors: Sequence[FactorTable], task: Task) -> int:
    """The size of what `views` enumerates."""
    return max((len(task.operators) * len(factor.lookup) for factor in factors), default=0)


def views(
    factors: Sequence[FactorTable], task: Task, budget: Budget
) -> tuple[list[View], BoolArray]:
    """Every factor, pruned, and which operators are left."""
    found = [_view(factor.variables, task, budget) for factor in factors]
    return found, _prune(found, budget)


def plain_system(
    factors: Sequence[FactorTable],
    task: Task,
    found: Sequence[View],
    alive: BoolArray,
    budget: Budget,
) -> PlainSystem:
    """The same with the states numbered as in the tables."""
    costs = np.append(np.array([op.cost for op in task.operators], np.float64)[alive], 0)
    moves, goals, heights = [], [], []
    for factor, view in zip(factors, found, strict=True):
        targets = view.targets[alive][:, factor.places]
        inside = np.where(targets >= 0, factor.lookup[np.maximum(targets, 0)], -1)
        moves.append(np.vstack([inside, np.arange(factor.n_states)]).astype(np.int32))
        goals.append(view.goal[factor.places])
        heights.append(_distances(moves[-1], goals[-1], costs, budget))
    return PlainSystem(costs, tuple(moves), tuple(goals), tuple(heights))


def distinct_rows(moves: Int32Array) -> tuple[Int32Array, Int64Array]:
    """Most labels do the same in a factor, namely nothing: the rows there are, and whose is which.

    In the order in which they come first.
    """
    known: dict[bytes, int] = {}
    of_label = [known.setdefault(row.tobytes(), len(known)) for row in moves]
    rows = np.frombuffer(b"".join(known), moves.dtype).reshape(len(known), moves.shape[1])
    return rows, np.array(of_label, np.int64)


def _view(variables: Sequence[int], task: Task, budget: Budget) -> View:
    sizes = [task.domain_sizes[variable] for variable in variables]
    values = np.indices(sizes, np.int32).reshape(len(sizes), -1)
    weights = np.cumprod([1, *sizes[:0:-1]])[::-1]
    own = {variable: row for row, variable in enumerate(variables)}
    goal = np.ones(values.shape[1], np.bool_)
    for variable, value in task.goal:
        if variable in own:
            goal &= values[own[variable]] == value
    targets = np.empty((len(task.operators), values.shape[1]), np.int32)
    for number, operator in enumerate(task.operators):
        budget.look()
        after = np.arange(values.shape[1], dtype=np.int32)
        for variable, value in operator.effect:
            if variable in own:
                after += (value - values[own[variable]]) * np.int32(weights[own[variable]])
        for variable, value in operator.precondition:
            if variable in own:
                after[values[own[variable]] != value] = -1
        targets[number] = after
    initial = sum(int(weights[row]) * task.init[variable] for variable, row in own.items())
    return View(goal, initial, targets, np.ones(values.shape[1], np.bool_))


def _prune(found: list[View], budget: Budget) -> BoolArray:
    """Mark what can be reached and can reach the goal; the labels that are left."""
    labels = np.ones(len(found[0].targets) if found else 0, np.bool_)
    while True:
        before = [labels.copy(), *(view.alive.copy() for view in found)]
        for view in found:
            budget.look()
            kept = _inside(view) & labels[:, None]
            begin, end = np.nonzero(kept)[1], view.targets[kept]
            moving = begin != end
            begin, end = begin[moving], end[moving]
            reached = np.zeros_like(view.alive)
            reached[view.initial] = view.alive[view.initial]
            useful = view.goal & _marked(reached, begin, end, budget)
            view.alive = _marked(useful, end, begin, budget) & reached
        for view in found:
            labels &= _inside(view).any(axis=1)
        if all(map(np.array_equal, before, [labels, *(view.alive for view in found)])):
            return labels


def _inside(view: View) -> BoolArray:
    """Which steps lead from an alive combination to an alive one."""
    inside: BoolArray = (view.targets >= 0) & view.alive[None, :]
    inside &= view.alive[np.maximum(view.targets, 0)]
    return inside


def _marked(marks: BoolArray, begin: Int64Array, end: Int64Array, budget: Budget) -> BoolArray:
    while not marks[end[marks[begin]]].all():
        budget.look()
        marks[end[marks[begin]]] = True
    return marks


def _distances(moves: Int32Array, goal: BoolArray, costs: FloatArray, budget: Budget) -> FloatArray:
    rows, of_label = distinct_rows(moves)
    cheapest = np.full(len(rows), np.inf)
    np.minimum.at(cheapest, of_label, costs)
    heights = np.where(goal, 0.0, np.inf)
    while True:
        budget.look()
        lower = heights.copy()
        for row, cost in zip(rows, cheapest.tolist(), strict=True):
            x = np.flatnonzero(row >= 0)
            lower[x] = np.minimum(lower[x], heights[row[x]] + cost)
        if np.array_equal(lower, heights):
            return heights
        heights = lower
