"""Checks dominance values again, by code that shares nothing with what computed them.

A function is a certificate. Its stable tables must satisfy (B), (G) and (T), which is one plain
evaluation and no iteration; its final tables must follow from them by the steps of the closure
(DOMINANCE 5.1, 5.4). Factors are built anew from the operators, by enumeration. That is dear for
large factors: where it would take too long, nothing is confirmed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from engine.dominance.cache import dominance_function
from engine.dominance.compute import Factorisation
from engine.dominance.function import DominanceFunction, FactorTable
from engine.native.control import Control
from engine.native.dominance import NO_VALUE
from engine.native.library import BoolArray, Int64Array
from engine.task.task import Task

State = tuple[int, ...]

MAX_STEPS = 10_000_000_000
"""Additions that checking one function may take."""

_NEVER = -(2**60)  # minus infinity; sums of a few stay below every finite value
_FINITE = -(2**50)


class DominanceChecker:
    """Whether D(s, t) >= d, by any of the functions of a task. Made for `engine.oracles.verify`."""

    def __init__(
        self,
        task: Task,
        factorisations: Iterable[Factorisation] = (Factorisation(),),
        control: Control | None = None,
    ) -> None:
        self._task = task
        self._factorisations = tuple(factorisations)
        self._control = control
        self._problems: dict[int, str | None] = {}

    def __call__(self, source: State, target: State, gain: int) -> str | None:
        """Why the claim could not be confirmed, None when it was."""
        best: int | None = None
        for number, factorisation in enumerate(self._factorisations):
            function = dominance_function(self._task, factorisation, control=self._control)
            value = plain_value(function, source, target)
            if value is None or (best is not None and value <= best):
                continue
            best = value
            if value < gain:
                continue
            if number not in self._problems:
                self._problems[number] = problem_with(function, self._task)
            if self._problems[number] is None:
                return None
            return self._problems[number]
        if best is None:
            return "the dominance function does not compare these states"
        return f"the dominance function says {best}, not {gain}"


def plain_value(function: DominanceFunction, source: State, target: State) -> int | None:
    """D(s, t) without a kernel."""
    total = 0
    for factor in function.factors:
        places = [0, 0]
        for side, state in enumerate((source, target)):
            for variable in factor.variables:
                places[side] = places[side] * function.domain_sizes[variable] + state[variable]
        s, t = (int(factor.lookup[place]) for place in places)
        if s < 0 or t < 0 or factor.table[s, t] == NO_VALUE:
            return None
        total += int(factor.table[s, t])
    return total


def problem_with(function: DominanceFunction, task: Task) -> str | None:
    """What is wrong with a function of a task, None if it is proven."""
    if function.task_hash != task.hash:
        return "the dominance function belongs to another task"
    if sorted(v for factor in function.factors for v in factor.variables) != list(
        range(len(task.variables))
    ):
        return "the factors of the dominance function are no partition of the variables"
    if _steps(function, task) > MAX_STEPS:
        return "the factors are too large to check the dominance function again"
    if any(factor.n_states == 0 for factor in function.factors):
        return None  # nothing is compared
    return _problem_with_tables(function, task)


def _problem_with_tables(function: DominanceFunction, task: Task) -> str | None:
    if function.finer is not None and (problem := problem_with(function.finer, task)):
        return problem
    views = [_view(factor, task) for factor in function.factors]
    alive = _prune(views)
    for view, factor in zip(views, function.factors, strict=True):
        if not np.array_equal(view.alive, factor.lookup >= 0):
            return f"the states of variables {factor.variables} are not those that matter"
    plain = _Plain(task, function, views, alive)
    return plain.problem_with_base() or plain.problem_with_closure()


def _steps(function: DominanceFunction, task: Task) -> int:
    labels = len(task.operators) + 1
    return sum(
        labels * (labels + factor.n_states) * factor.n_states
        + labels * len(factor.lookup)
        + 10 * factor.n_states**3
        for factor in function.factors
    )


@dataclass
class _View:
    """All combinations of the values of some variables, pruned ones included."""

    goal: BoolArray
    initial: int
    targets: Int64Array  # by operator and combination; -1: not applicable
    alive: BoolArray


def _view(factor: FactorTable, task: Task) -> _View:
    sizes = [task.domain_sizes[variable] for variable in factor.variables]
    values = np.indices(sizes).reshape(len(sizes), -1)
    weights = np.cumprod([1, *sizes[:0:-1]])[::-1]
    own = {variable: row for row, variable in enumerate(factor.variables)}
    goal = np.ones(values.shape[1], np.bool_)
    for variable, value in task.goal:
        if variable in own:
            goal &= values[own[variable]] == value
    targets = np.empty((len(task.operators), values.shape[1]), np.int64)
    for number, operator in enumerate(task.operators):
        after = np.arange(values.shape[1])
        for variable, value in operator.effect:
            if variable in own:
                after += (value - values[own[variable]]) * weights[own[variable]]
        for variable, value in operator.precondition:
            if variable in own:
                after[values[own[variable]] != value] = -1
        targets[number] = after
    initial = sum(int(weights[row]) * task.init[variable] for variable, row in own.items())
    return _View(goal, initial, targets, np.ones(values.shape[1], np.bool_))


def _prune(views: list[_View]) -> BoolArray:
    """Mark what can be reached and can reach the goal; the labels that are left."""
    labels = np.ones(len(views[0].targets) if views else 0, np.bool_)
    while True:
        before = [labels.copy(), *(view.alive.copy() for view in views)]
        for view in views:
            from_ = np.broadcast_to(np.arange(len(view.alive)), view.targets.shape)
            kept = labels[:, None] & (view.targets >= 0) & view.alive[None, :]
            kept &= view.alive[np.maximum(view.targets, 0)]
            begin, end = from_[kept], view.targets[kept]
            reached = np.zeros_like(view.alive)
            reached[view.initial] = view.alive[view.initial]
            useful = view.goal & _marked(reached, begin, end)
            view.alive = _marked(useful, end, begin) & reached
        for view in views:
            inside = (view.targets >= 0) & view.alive[None, :]
            inside &= view.alive[np.maximum(view.targets, 0)]
            labels &= inside.any(axis=1)
        if all(map(np.array_equal, before, [labels, *(view.alive for view in views)])):
            return labels


def _marked(marks: BoolArray, begin: Int64Array, end: Int64Array) -> BoolArray:
    while not marks[end[marks[begin]]].all():
        marks[end[marks[begin]]] = True
    return marks


class _Plain:
    """Conditions and closure as they are written down, over labels that are alive and nothing."""

    def __init__(
        self, task: Task, function: DominanceFunction, views: list[_View], alive: BoolArray
    ) -> None:
        self._function = function
        costs = [operator.cost for operator in task.operators]
        self._costs = np.append(np.array(costs, np.int64)[alive], 0)
        self._moves: list[Int64Array] = []  # by label and state, the last label is "nothing"
        self._goals: list[BoolArray] = []
        self._heights: list[Int64Array] = []
        for factor, view in zip(function.factors, views, strict=True):
            places = factor.places
            targets = view.targets[alive][:, places]
            moves = np.where(targets >= 0, factor.lookup[np.maximum(targets, 0)], -1)
            self._moves.append(np.vstack([moves, np.arange(factor.n_states)]).astype(np.int64))
            self._goals.append(view.goal[places])
            self._heights.append(self._distances(len(self._heights)))

    def problem_with_base(self) -> str | None:
        """(B), (G) and (T) for the stable tables."""
        tables = [_wide(factor.base) for factor in self._function.factors]
        prices = [self._prices(i, table) for i, table in enumerate(tables)]
        total = np.sum(prices, axis=0)  # far below every finite value if one is missing
        for i, table in enumerate(tables):
            heights, goal = self._heights[i], self._goals[i]
            allowed = heights[:, None] - heights[None, :]
            allowed[np.ix_(goal, ~goal)] = _NEVER
            np.fill_diagonal(allowed, 0)
            if (table > allowed).any() or (np.diagonal(table) != 0).any():
                return self._complaint(i, "a value that the goal distances do not allow")
            others = total - prices[i]
            if not self._is_answered(i, table, others):
                return self._complaint(i, "a value for which a step has no answer")
        return None

    def _prices(self, j: int, table: Int64Array) -> Int64Array:
        """Lam_j(l, l') for all pairs of labels."""
        moves = self._moves[j]
        prices = np.empty((len(moves), len(moves)), np.int64)
        for label, row in enumerate(moves):
            sources = np.flatnonzero(row >= 0)
            answers = moves[:, sources]
            values = table[row[sources][None, :], np.maximum(answers, 0)]
            prices[label] = np.where(answers >= 0, values, _NEVER).min(axis=1)
        return prices

    def _is_answered(self, i: int, table: Int64Array, others: Int64Array) -> bool:
        moves = self._moves[i]
        stays = np.arange(len(table))
        for label, row in enumerate(moves):
            if np.array_equal(row, stays):
                continue  # answered by itself
            for after in np.unique(row[row >= 0]).tolist():
                landed = np.where(moves >= 0, table[after][np.maximum(moves, 0)], _NEVER)
                prices = self._costs[label] - self._costs + others[label]
                best = (landed + prices[:, None]).max(axis=0)
                asked = table[row == after]
                own = np.flatnonzero(row == after)
                asked[np.arange(len(own)), own] = _NEVER
                if ((asked > _FINITE) & (asked > best[None, :])).any():
                    return False
        return True

    def problem_with_closure(self) -> str | None:
        """Whether the final tables are at most what can be derived from the stable ones."""
        tables = self._start()
        for i, factor in enumerate(self._function.factors):
            if (_wide(factor.table) > tables[i]).any():
                break
        else:
            return None
        if self._function.variant == "b":
            return "walks are not checked again: use the closure 'r'"
        for table in tables:
            _close(table)
        while self._derive(tables):
            pass
        for i, factor in enumerate(self._function.factors):
            if (_wide(factor.table) > tables[i]).any():
                return self._complaint(i, "a value that does not follow from the stable ones")
        return None

    def _start(self) -> list[Int64Array]:
        """The stable tables, raised by what the finer function says of single variables."""
        tables = [_wide(factor.base) for factor in self._function.factors]
        finer = self._function.finer
        if finer is None:
            return tables
        parts = {factor.variables[0]: factor for factor in finer.factors}
        for i, factor in enumerate(self._function.factors):
            total = np.zeros_like(tables[i])
            values = self._function.factor_values(i)
            for column, variable in enumerate(factor.variables):
                states = parts[variable].lookup[values[:, column]]
                total += _wide(parts[variable].table)[np.ix_(states, states)]
            heights = self._heights[i]
            total = np.minimum(total, heights[:, None] - heights[None, :])
            tables[i] = np.maximum(tables[i], np.where(total > _FINITE, total, _NEVER))
        return tables

    def _derive(self, tables: list[Int64Array]) -> bool:
        """One round of the R-closure; whether anything rose."""
        returns = np.array([self._returns(j, table) for j, table in enumerate(tables)])
        rose = False
        for i, table in enumerate(tables):
            others = returns.sum(axis=0) - returns[i] - self._costs
            heights = self._heights[i]
            before = table.copy()
            for label, row in enumerate(self._moves[i]):
                if others[label] > _FINITE:
                    x = np.flatnonzero(row >= 0)
                    values = np.minimum(heights[row[x]] - heights[x], others[label])
                    np.maximum.at(table, (row[x], x), values)
            np.fill_diagonal(table, 0)
            if (table > before).any():
                _close(table)
                rose = True
        return rose

    def _returns(self, j: int, table: Int64Array) -> Int64Array:
        """R_j by label."""
        returns = np.zeros(len(self._moves[j]), np.int64)
        for label, row in enumerate(self._moves[j]):
            if not np.array_equal(row, np.arange(len(row))):
                u = np.flatnonzero(row >= 0)
                ways = table[u, :] + table[:, row[u]].T
                least = int(ways.max(axis=0).min())
                returns[label] = least if least > _FINITE else _NEVER
        return returns

    def _distances(self, i: int) -> Int64Array:
        heights = np.where(self._goals[i], 0, 2**60)
        while True:
            lower = heights.copy()
            for label, row in enumerate(self._moves[i]):
                x = np.flatnonzero(row >= 0)
                lower[x] = np.minimum(lower[x], heights[row[x]] + self._costs[label])
            if np.array_equal(lower, heights):
                return heights
            heights = lower

    def _complaint(self, i: int, what: str) -> str:
        return f"the table of variables {self._function.factors[i].variables} has {what}"


def _wide(table: np.ndarray) -> Int64Array:
    return np.where(table == NO_VALUE, _NEVER, table.astype(np.int64))


def _close(table: Int64Array) -> None:
    """D(a, c) >= D(a, b) + D(b, c)."""
    for middle in range(len(table)):
        through = table[:, middle, None] + table[None, middle, :]
        np.maximum(table, np.where(through > _FINITE, through, _NEVER), out=table)
