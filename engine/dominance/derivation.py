"""What a dominance function rests on, and what follows from that, for whoever checks one.

`problem_with_base` evaluates (B), (G) and (T) once (DOMINANCE 5.1): stable tables satisfy them.
`Derivation` then follows the steps of the R-closure (5.4) from below, so that it may stop anywhere:
tables too large to be closed as a whole are closed for those rows that somebody asks about.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from engine.dominance.plain_system import FloatArray, PlainSystem
from engine.native.library import Int32Array, Int64Array

NEVER = -np.inf

MAX_STEPS = 10_000_000_000
"""Additions that one check may take."""

MAX_DERIVATION = 2_000_000_000
"""Additions that deriving tables may take."""


ROUNDS = 2
"""Of the R-closure, where tables are too large to be closed."""


class TooLargeError(Exception):
    """More additions than a check may take."""


class Budget:
    """Counts additions."""

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise TooLargeError


def problem_with_base(
    system: PlainSystem, tables: Sequence[FloatArray], budget: Budget
) -> tuple[int, str] | None:
    """The factor whose table is not stable, and why; None if all are."""
    total = np.zeros((len(system.costs), len(system.costs)))
    missing = np.zeros(total.shape, np.int32)  # factors in which a label cannot answer another
    for moves, table in zip(system.moves, tables, strict=True):
        _add(total, missing, _prices(moves, table, budget), 1)
    for i, table in enumerate(tables):
        heights, goal = system.heights[i], system.goals[i]
        allowed = heights[:, None] - heights[None, :]
        allowed[np.ix_(goal, ~goal)] = NEVER
        np.fill_diagonal(allowed, 0)
        if (table > allowed).any() or (np.diagonal(table) != 0).any():
            return i, "a value that the goal distances do not allow"
        own = _prices(system.moves[i], table, budget)  # to keep those of all would take much room
        _add(total, missing, own, -1)
        others = np.where(missing == 0, total, NEVER)
        _add(total, missing, own, 1)
        if not _is_answered(system, i, table, others, budget):
            return i, "a value for which a step has no answer"
    return None


def _add(total: FloatArray, missing: Int32Array, prices: FloatArray, sign: Literal[-1, 1]) -> None:
    known = prices != NEVER
    total[known] += sign * prices[known]
    missing[~known] += sign


def _prices(moves: Int32Array, table: FloatArray, budget: Budget) -> FloatArray:
    """Lam_j(l, l') for all pairs of labels."""
    prices = np.empty((len(moves), len(moves)))
    for label, row in enumerate(moves):
        sources = np.flatnonzero(row >= 0)
        answers = moves[:, sources]
        budget.spend(answers.size)
        values = table[row[sources][None, :], np.maximum(answers, 0)]
        prices[label] = np.where(answers >= 0, values, NEVER).min(axis=1)
    return prices


def _is_answered(
    system: PlainSystem, i: int, table: FloatArray, others: FloatArray, budget: Budget
) -> bool:
    """(T): whatever a state can do, who claims to be as good can do as well, at that price."""
    moves = system.moves[i]
    claims = (table != NEVER).sum(axis=1) > 1  # besides that of being as good as itself
    for label, row in enumerate(moves):
        if _changes_nothing(row):
            continue  # answered by itself
        prices = system.costs[label] - system.costs + others[label]
        useful = np.flatnonzero(prices != NEVER)
        answers = moves[useful]
        asking = np.flatnonzero((row >= 0) & claims)
        for after in np.unique(row[asking]).tolist():
            budget.spend(answers.size)
            landed = np.where(answers >= 0, table[after][np.maximum(answers, 0)], NEVER)
            best = (landed + prices[useful, None]).max(axis=0, initial=NEVER)
            own = asking[row[asking] == after]
            asked = table[own]
            asked[np.arange(len(own)), own] = NEVER
            if (asked > best[None, :]).any():
                return False
    return True


def _changes_nothing(row: Int32Array) -> bool:
    return bool(np.array_equal(row, np.arange(len(row))))


class Derivation:
    """Sound tables, raised as far as can be afforded; whoever wants to know more closes rows."""

    def __init__(self, system: PlainSystem, start: Sequence[FloatArray]) -> None:
        self._system = system
        self._budget = Budget(MAX_DERIVATION)
        self.tables = [table.copy() for table in start]
        try:
            n_closed = sum(close(table, self._budget) for table in self.tables)
            # Tables that cannot be closed creep up step by step, and rows are closed on demand.
            rounds = None if n_closed == len(self.tables) else ROUNDS
            while rounds != 0 and self._derive():
                rounds = None if rounds is None else rounds - 1
        except TooLargeError:
            pass  # what has been derived is sound

    def _derive(self) -> bool:
        """One round of the R-closure; whether anything rose."""
        returns = np.array(
            [self._returns(j, table) for j, table in enumerate(self.tables)]
        )  # by factor and label
        rose = False
        for i, table in enumerate(self.tables):
            others = np.delete(returns, i, axis=0).sum(axis=0) - self._system.costs
            if self._raise(i, others):
                close(table, self._budget)
                rose = True
        return rose

    def _raise(self, i: int, others: FloatArray) -> bool:
        """Take every step of factor i back at its price."""
        table, heights = self.tables[i], self._system.heights[i]
        rose = False
        for label in np.flatnonzero(others != NEVER).tolist():
            row = self._system.moves[i][label]
            x = np.flatnonzero((row >= 0) & (row != np.arange(len(row))))
            values = np.minimum(heights[row[x]] - heights[x], others[label])
            better = values > table[row[x], x]
            rose |= bool(better.any())
            np.maximum.at(table, (row[x], x), values)
        return rose

    def _returns(self, j: int, table: FloatArray) -> FloatArray:
        """R_j by label; labels that do the same in this factor have the same."""
        returns = np.zeros(len(self._system.moves[j]))
        known: dict[bytes, float] = {}
        for label, row in enumerate(self._system.moves[j]):
            if _changes_nothing(row):
                continue
            key = row.tobytes()
            if key not in known:
                u = np.flatnonzero(row >= 0)
                self._budget.spend(len(u) * len(row))
                ways = table[u, :] + table[:, row[u]].T
                known[key] = float(ways.max(axis=0).min())
            returns[label] = known[key]
        return returns


def close(table: FloatArray, budget: Budget) -> bool:
    """D(a, c) >= D(a, b) + D(b, c), unless that would take too long."""
    known = table != NEVER
    if int(known.sum(axis=0) @ known.sum(axis=1)) > budget.left:
        return False
    for middle in range(len(table)):
        rows, columns = (
            np.flatnonzero(table[:, middle] != NEVER),
            np.flatnonzero(table[middle] != NEVER),
        )
        if len(rows) == 1 or len(columns) == 1:
            continue  # only the state itself
        budget.spend(len(rows) * len(columns))
        through = table[rows, middle][:, None] + table[middle, columns][None, :]
        if through.size == table.size:
            np.maximum(table, through, out=table)
        else:
            part = np.ix_(rows, columns)
            table[part] = np.maximum(table[part], through)
    return True


def closed_row(table: FloatArray, s: int) -> FloatArray:
    """One row of the closure; a longest way has no more steps than there are states."""
    row: FloatArray = table[s].copy()
    news: Int64Array = np.flatnonzero(row != NEVER)
    for _ in range(len(table)):
        if not len(news):
            break
        through = (row[news, None] + table[news]).max(axis=0)
        news = np.flatnonzero(through > row)
        row[news] = through[news]
    return row
