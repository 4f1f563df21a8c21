"""The look-ahead of the bound-maintenance oracle (ALGORITHMS 6.5).

A short greedy search with h_FF from the examined state; whatever is known of a state it visits,
by comparison with tested states, bounds the examined state as well. The policy is not asked.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.errors import CancelledError
from engine.native.library import INFINITY, Int32Array, Int64Array
from engine.native.lookahead import NativeLookahead, Visits
from engine.oracles.bench import Bench

Infer = Callable[[Int32Array], tuple[Int64Array, Int32Array, Int64Array]]

AT_ONCE = 1000
"""Visited states between two looks at whether the work was cancelled."""


class DominanceLookahead:
    """`size` is the number of visited states, the examined one included."""

    def __init__(self, bench: Bench, size: int) -> None:
        self.bench = bench
        self.size = size
        self._native = NativeLookahead(bench.table.native)

    def search(self, state: int, infer: Infer, origin: str) -> bool:
        """Whether the bound of `state` fell."""
        visits = self._visit(state)
        states = visits.states[1:]
        if not len(states):
            return False
        bounds = self.bench.bounds
        inferred, sources, gains = infer(states)
        known = bounds.all(states)
        known[self.bench.table.is_goal(states)] = 0
        best = np.minimum(inferred, known)
        reachable = best != INFINITY
        best[reachable] += visits.costs[1:][reachable]
        row = int(best.argmin())
        if best[row] >= bounds.u(state):
            return False
        if inferred[row] < known[row]:
            bounds.add_morph(int(states[row]), int(sources[row]), int(gains[row]), origin)
        path, operators = visits.way_to(row + 1)
        bounds.add_path(path, operators, origin)
        return True

    def _visit(self, start: int) -> Visits:
        self._native.begin(start)
        wanted = visited = 0
        while visited == wanted < self.size:
            if self.bench.cancelled():
                raise CancelledError
            wanted = min(wanted + AT_ONCE, self.size)
            visited = self._native.go_on(wanted)
        return self._native.visits()
