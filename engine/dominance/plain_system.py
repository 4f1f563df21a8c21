"""The factored transition system of a task once more, by plain enumeration.

It serves the checker of dominance functions and shares no code with their computation. A factor's
states are all combinations of the values of its variables; what cannot be reached or cannot reach
the goal is pruned. See docs/theory/dominance.md, "Factored transition system".
Derived variables and those that axioms depend on are frozen: nothing of them is pruned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt

from engine.dominance.function import FactorTable
from engine.errors import CancelledError
from engine.native.control import Control
from engine.native.dominance import NO_VALUE
from engine.native.library import BoolArray, Int32Array, Int64Array
from engine.task.task import Operator, Task

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
        """Raise if it is to stop, in steps that are limited otherwise."""
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
    targets: Int32Array  # by label and combination; -1: not applicable
    alive: BoolArray
    frozen: bool


@dataclass(frozen=True)
class PlainSystem:
    """What is alive; the last label stands for doing nothing."""

    costs: FloatArray  # by label
    moves: tuple[Int32Array, ...]  # by factor: where a label leads from a state; -1: nowhere
    goals: tuple[BoolArray, ...]
    heights: tuple[FloatArray, ...]  # goal distances
    frozen: tuple[bool, ...]


def frozen_variables(task: Task) -> set[int]:
    """Where two states that are compared must not differ: their derived values would."""
    bearing = {variable for rule in task.axioms for variable, _ in rule.body}
    return bearing | {n for n, variable in enumerate(task.variables) if variable.layer >= 0}


def derived_tables(task: Task) -> list[FactorTable]:
    """Derived variables as factors that compare a value with itself."""
    found = []
    for number, variable in enumerate(task.variables):
        if variable.layer >= 0:
            size = len(variable.values)
            table = np.full((size, size), NO_VALUE, np.int32)
            np.fill_diagonal(table, 0)
            found.append(FactorTable((number,), np.arange(size, dtype=np.int32), table, table))
    return found


def cells(factors: Sequence[FactorTable], task: Task) -> int:
    """The size of what `views` enumerates."""
    n_labels = sum(prod(map(len, _questions(operator).values())) for operator in task.operators)
    return max((n_labels * len(factor.lookup) for factor in factors), default=0)


def views(
    factors: Sequence[FactorTable], task: Task, budget: Budget
) -> tuple[list[View], BoolArray]:
    """Every factor, pruned, and which labels are left."""
    labels = plain_labels(task)
    found = [_view(factor.variables, task, labels, budget) for factor in factors]
    return found, _prune(found, budget)


@dataclass(frozen=True)
class Label:
    """An operator with an answer to every question that its effects ask about other variables.

    An answer is the value the variable has, or None for any that no question is about.
    """

    operator: Operator
    answers: dict[int, int | None]
    asked: dict[int, list[int]]

    @cached_property
    def touched(self) -> frozenset[int]:
        facts = (*self.operator.precondition, *self.operator.effect)
        changed = (fact for _, fact in self.operator.conditional)
        return frozenset({*self.answers, *(v for v, _ in (*facts, *changed))})

    def excludes(self, variable: int, values: Int32Array) -> BoolArray:
        """Which of these values of a variable the label does not allow."""
        excluded = np.zeros(values.shape, np.bool_)
        for needed, value in self.operator.precondition:
            if needed == variable:
                excluded |= values != value
        if variable in self.answers:
            answer = self.answers[variable]
            if answer is None:
                excluded |= np.isin(values, self.asked[variable])
            else:
                excluded |= values != answer
        return excluded

    def after(self, variable: int, values: Int32Array) -> Int32Array:
        """What becomes of these values of a variable, where the label allows them."""
        result = values.copy()
        for changed, value in self.operator.effect:
            if changed == variable:
                result[:] = value
        for condition, (changed, value) in self.operator.conditional:
            if changed != variable:
                continue
            fires = np.ones(values.shape, np.bool_)
            for named, wanted in condition:
                if named == variable:
                    fires &= values == wanted
                else:
                    fires &= self.answers[named] == wanted
            result[fires] = value
        return result


def _questions(operator: Operator) -> dict[int, list[int]]:
    """By variable the values that effects on other variables depend on."""
    asked: dict[int, list[int]] = {}
    for condition, fact in operator.conditional:
        for variable, value in condition:
            if variable != fact[0] and value not in asked.setdefault(variable, []):
                asked[variable].append(value)
    return asked


def plain_labels(task: Task) -> list[Label]:
    """What can happen, operator by operator."""
    labels = []
    for operator in task.operators:
        asked = _questions(operator)
        variables = sorted(asked)
        answers: list[list[int | None]] = [
            [
                *sorted(asked[variable]),
                *([None] if len(asked[variable]) < task.domain_sizes[variable] else []),
            ]
            for variable in variables
        ]
        labels += [
            Label(operator, dict(zip(variables, chosen, strict=True)), asked)
            for chosen in product(*answers)
        ]
    return labels


def plain_system(
    factors: Sequence[FactorTable],
    task: Task,
    found: Sequence[View],
    alive: BoolArray,
    budget: Budget,
) -> PlainSystem:
    """The same with the states numbered as in the tables."""
    costs = np.array([label.operator.cost for label in plain_labels(task)], np.float64)
    costs = np.append(costs[alive], 0)
    moves, goals, heights = [], [], []
    for factor, view in zip(factors, found, strict=True):
        targets = view.targets[alive][:, factor.places]
        inside = np.where(targets >= 0, factor.lookup[np.maximum(targets, 0)], -1)
        moves.append(np.vstack([inside, np.arange(factor.n_states)]).astype(np.int32))
        goals.append(view.goal[factor.places])
        heights.append(_distances(moves[-1], goals[-1], costs, budget))
    frozen = tuple(view.frozen for view in found)
    return PlainSystem(costs, tuple(moves), tuple(goals), tuple(heights), frozen)


def distinct_rows(moves: Int32Array) -> tuple[Int32Array, Int64Array]:
    """Most labels do the same in a factor, namely nothing: the rows there are, and whose is which.

    In the order in which they come first.
    """
    known: dict[bytes, int] = {}
    of_label = [known.setdefault(row.tobytes(), len(known)) for row in moves]
    rows = np.frombuffer(b"".join(known), moves.dtype).reshape(len(known), moves.shape[1])
    return rows, np.array(of_label, np.int64)


def _view(variables: Sequence[int], task: Task, labels: Sequence[Label], budget: Budget) -> View:
    sizes = [task.domain_sizes[variable] for variable in variables]
    values = np.indices(sizes, np.int32).reshape(len(sizes), -1)
    weights = np.cumprod([1, *sizes[:0:-1]])[::-1]
    own = {variable: row for row, variable in enumerate(variables)}
    goal = np.ones(values.shape[1], np.bool_)
    frozen = not frozen_variables(task).isdisjoint(variables)
    for variable, value in task.goal:
        if variable in own and not frozen:
            goal &= values[own[variable]] == value
    targets = np.empty((len(labels), values.shape[1]), np.int32)
    for number, label in enumerate(labels):
        budget.look()
        after = np.arange(values.shape[1], dtype=np.int32)
        excluded = np.zeros(values.shape[1], np.bool_)
        for variable, row in own.items():
            if variable in label.touched:
                change = label.after(variable, values[row]) - values[row]
                after += change * np.int32(weights[row])
                excluded |= label.excludes(variable, values[row])
        targets[number] = np.where(excluded, -1, after)
    initial = sum(int(weights[row]) * task.init[variable] for variable, row in own.items())
    return View(goal, initial, targets, np.ones(values.shape[1], np.bool_), frozen)


def _prune(found: list[View], budget: Budget) -> BoolArray:
    """Mark what can be reached and can reach the goal; the labels that are left."""
    labels = np.ones(len(found[0].targets) if found else 0, np.bool_)
    while True:
        before = [labels.copy(), *(view.alive.copy() for view in found)]
        for view in found:
            if view.frozen:
                continue
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
