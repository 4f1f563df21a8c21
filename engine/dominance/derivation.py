"""Checks the base of a dominance function, and derives what follows from it.

`problem_with_base` evaluates (B), (G) and (T) once: stable tables satisfy them.
`Derivation` then follows the steps of the R-closure from below, so that it may stop anywhere:
tables too large to be closed as a whole are closed for the rows that are asked about.
See docs/theory/dominance.md, "Conditions on tables".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.dominance.plain_system import (
    Budget,
    FloatArray,
    PlainSystem,
    TooLargeError,
    distinct_rows,
)
from engine.native.control import Control
from engine.native.library import Int32Array, Int64Array

NEVER = -np.inf

MAX_DERIVATION = 2_000_000_000
"""Additions that deriving tables may take."""

ROUNDS = 2
"""Of the R-closure, where tables are too large to be closed."""


def problem_with_base(
    system: PlainSystem, tables: Sequence[FloatArray], budget: Budget
) -> tuple[int, str] | None:
    """The factor whose table is not stable, and why; None if all are."""
    for i, table in enumerate(tables):
        budget.look()
        heights, goal = system.heights[i], system.goals[i]
        allowed = heights[:, None] - heights[None, :]
        allowed[np.ix_(goal, ~goal)] = NEVER
        np.fill_diagonal(allowed, 0)
        if (table > allowed).any() or (np.diagonal(table) != 0).any():
            return i, "a value that the goal distances do not allow"
    pairs = zip(system.moves, tables, strict=True)
    factors = [_Factor(moves, table, budget) for moves, table in pairs]
    for label in range(len(system.costs)):
        budget.spend(len(factors) * len(system.costs))
        unanswered = _unanswered(label, system.costs, factors, budget)
        if unanswered is not None:
            return unanswered, "a value for which a step has no answer"
    return None


class _Factor:
    """A table and what labels do in it; those that do the same are looked at together."""

    def __init__(self, moves: Int32Array, table: FloatArray, budget: Budget) -> None:
        self.table = table
        self.rows, self.of_label = distinct_rows(moves)
        self.idle = [_changes_nothing(row) for row in self.rows]
        self._prices = _prices(self.rows, table, budget)
        self._order = np.argsort(self.of_label, kind="stable")
        self._begins = np.searchsorted(self.of_label[self._order], np.arange(len(self.rows)))
        self._claims = (table != NEVER).sum(axis=1) > 1  # besides that of being as good as itself

    def prices(self, label: int) -> FloatArray:
        """Lam_j(l, l') for all l'."""
        own: FloatArray = self._prices[self.of_label[label]][self.of_label]
        return own

    def is_answered(self, label: int, prices: FloatArray, budget: Budget) -> bool:
        """(T): a state that claims to be as good can do the same, at that price."""
        row, best_prices = self.rows[self.of_label[label]], self._by_row(prices)
        useful = np.flatnonzero(best_prices != NEVER)
        answers = self.rows[useful]
        asking = np.flatnonzero((row >= 0) & self._claims)
        for after in np.unique(row[asking]).tolist():
            budget.spend(answers.size)
            landed = np.where(answers >= 0, self.table[after][np.maximum(answers, 0)], NEVER)
            best = (landed + best_prices[useful, None]).max(axis=0, initial=NEVER)
            own = asking[row[asking] == after]
            asked = self.table[own]
            asked[np.arange(len(own)), own] = NEVER
            if (asked > best[None, :]).any():
                return False
        return True

    def _by_row(self, prices: FloatArray) -> FloatArray:
        """The best price among the labels that do the same."""
        best: FloatArray = np.maximum.reduceat(prices[self._order], self._begins)
        return best


def _unanswered(
    label: int, costs: FloatArray, factors: Sequence[_Factor], budget: Budget
) -> int | None:
    """The first factor in which the label asks for more than the other factors allow."""
    prices = np.array([factor.prices(label) for factor in factors])
    known = prices != NEVER
    finite = np.where(known, prices, 0)
    total, n_known = finite.sum(axis=0), known.sum(axis=0)
    for i, factor in enumerate(factors):
        if factor.idle[factor.of_label[label]]:
            continue  # answered by itself
        possible = n_known - known[i] == len(factors) - 1
        others = np.where(possible, total - finite[i], NEVER)
        if not factor.is_answered(label, costs[label] - costs + others, budget):
            return i
    return None


def _prices(rows: Int32Array, table: FloatArray, budget: Budget) -> FloatArray:
    """Lam_j for all pairs of rows."""
    prices = np.empty((len(rows), len(rows)))
    for number, row in enumerate(rows):
        sources = np.flatnonzero(row >= 0)
        answers = rows[:, sources]
        budget.spend(answers.size)
        values = table[row[sources][None, :], np.maximum(answers, 0)]
        prices[number] = np.where(answers >= 0, values, NEVER).min(axis=1)
    return prices


def _changes_nothing(row: Int32Array) -> bool:
    return bool(np.array_equal(row, np.arange(len(row))))


class Derivation:
    """Sound tables, raised as far as the budget allows; rows can be closed on demand."""

    def __init__(
        self, system: PlainSystem, start: Sequence[FloatArray], control: Control | None = None
    ) -> None:
        self._system = system
        self._budget = Budget(control, MAX_DERIVATION)
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
            if self._system.frozen[i]:
                continue
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
            self._budget.look()
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


def closed_row(table: FloatArray, s: int, budget: Budget) -> FloatArray:
    """One row of the closure; a longest way has no more steps than there are states."""
    row: FloatArray = table[s].copy()
    news: Int64Array = np.flatnonzero(row != NEVER)
    for _ in range(len(table)):
        if not len(news):
            break
        budget.look()
        through = (row[news, None] + table[news]).max(axis=0)
        news = np.flatnonzero(through > row)
        row[news] = through[news]
    return row
