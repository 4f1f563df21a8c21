"""Look-ahead oracle: would the policy do better after other first steps?

All sequences of d operators are followed level by level, the cheapest way to each state of a
level is kept, and the policy is run from all states of the last level at once, each run cut off
where it can no longer prove a bug. A goal on the way counts as well.
See docs/theory/oracles.md, "Look-ahead".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.native.library import Int32Array, Int64Array
from engine.oracles.kind import Option, OracleKind
from engine.oracles.session import NOTHING_PROVEN, OracleSession, Proof
from engine.records.finding import INFINITY


@dataclass(frozen=True)
class _Level:
    """Distinct states with the cost of the cheapest way there and where that comes from."""

    states: Int32Array
    costs: Int64Array
    rows: Int64Array  # in the level before
    operators: Int32Array


@dataclass(frozen=True)
class LookaheadOracle:
    name: str
    session: OracleSession
    depth: int = 2

    def examine(self, state: int) -> Proof:
        levels = [_start(state)]
        best, end = INFINITY, (0, 0)  # the cost of the best plan, the level and row it ends in
        limit = self.session.needs_less_than(state)
        assert limit is not None  # the session asks only where a bound can prove a bug
        for number in range(1, self.depth + 1):
            if self.session.cancelled():
                return NOTHING_PROVEN
            levels.append(self._next(levels[-1]))
            goals = np.flatnonzero(self.session.table.is_goal(levels[-1].states))
            if len(goals):
                row = int(goals[np.argmin(levels[-1].costs[goals])])
                if (cost := int(levels[-1].costs[row])) < best:
                    best, end = cost, (number, row)
        leaves = levels[-1]
        totals = self._run_leaves(leaves, min(limit, best))
        if len(totals) and (cost := int(totals.min())) < best:
            best, end = cost, (self.depth, int(totals.argmin()))
            self.session.add_run(self.session.runs.trace(int(leaves.states[end[1]])))
        if best == INFINITY:
            return NOTHING_PROVEN
        self._record(levels, *end)
        return Proof(best)

    def _next(self, level: _Level) -> _Level:
        """The successors of all states of a level that are not goals."""
        table, costs = self.session.table, self.session.operator_costs
        open_rows = np.flatnonzero(~table.is_goal(level.states))
        begin, operators, successors = table.successors_of(level.states[open_rows])
        rows = np.repeat(open_rows, np.diff(begin))
        reached = level.costs[rows] + costs[operators]
        order = np.lexsort((operators, rows, reached, successors))
        first = np.append(True, np.diff(successors[order]) != 0)[: len(order)]
        kept = order[first]
        return _Level(successors[kept], reached[kept], rows[kept], operators[kept])

    def _run_leaves(self, leaves: _Level, limit: int) -> Int64Array:
        """What each leaf costs in all, INFINITY where that is not below the limit."""
        cutoffs = np.full(len(leaves.states), INFINITY, np.int64)
        if limit != INFINITY:
            cutoffs = limit - leaves.costs
        runs = self.session.runs
        spent = runs.run_bounded(
            leaves.states,
            cutoffs,
            max_steps=self.session.step_limit,
            cancelled=self.session.cancelled,
        )
        reached = spent != INFINITY
        spent[reached] += leaves.costs[reached]
        return spent

    def _record(self, levels: list[_Level], number: int, row: int) -> None:
        states, operators = [], []
        while number > 0:
            level = levels[number]
            states.append(int(level.states[row]))
            operators.append(int(level.operators[row]))
            row, number = int(level.rows[row]), number - 1
        states.append(int(levels[0].states[0]))
        self.session.bounds.add_path(states[::-1], operators[::-1], self.name)


def _start(state: int) -> _Level:
    return _Level(
        np.array([state], np.int32),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
        np.full(1, -1, np.int32),
    )


KIND = OracleKind(
    "lookahead",
    "Tries other first steps, then follows the policy.",
    {"depth": Option(2, "number of steps before the policy takes over")},
    make=lambda text, session, values: LookaheadOracle(text, session, int(values["depth"])),
)
