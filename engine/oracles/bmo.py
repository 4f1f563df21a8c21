"""Bound-maintenance oracle: what is known of one state says something of many (ALGORITHMS 6).

All examined states are compared with each other: u(t) <= u(s) - D(s, t) in both directions, and
every fall of a bound goes on to the policy's predecessors. Different from the papers: one pass
over an array of all states takes the place of cost buckets, the direction t -> s uses the final
bound of t, and a state whose bound fell on the way is compared again, so that no pair of states
is left with something to say.
"""

from __future__ import annotations

import numpy as np

from engine.dominance.function import NO_SUM, DominanceFunction
from engine.native.library import INFINITY, Int32Array, Int64Array
from engine.oracles.bench import NOTHING_PROVEN, Bench, Proof
from engine.oracles.dominance_lookahead import DominanceLookahead
from engine.oracles.local_test import local_test


class BoundOracle:
    """`lookahead` is the number of states a look-ahead search may visit, 0 for none."""

    def __init__(
        self,
        name: str,
        bench: Bench,
        function: DominanceFunction,
        *,
        lookahead: int = 100,
        local: str = "all",
        intermediate: bool = True,
    ) -> None:
        self.name = name
        self.bench = bench
        self.function = function
        self.local = local
        self.intermediate = intermediate
        self._tested: dict[int, int] = {}  # state -> row
        self._states: Int32Array = np.empty(0, np.int32)
        self._ids: Int32Array = np.empty((0, len(function.factors)), np.int32)
        self._lookahead = DominanceLookahead(bench, lookahead) if lookahead else None

    def examine(self, state: int) -> Proof:
        limit = self.bench.needs_less_than(state)
        assert limit is not None  # the bench asks only where a bound can prove a bug
        run = self.bench.runs.trace(state)
        states = run.states if self.intermediate else (state,)
        fresh = [visited for visited in reversed(states) if visited not in self._tested]
        for visited, ids in zip(
            fresh, self.function.ids(self.bench.table.values(fresh)), strict=True
        ):
            self._compare(visited, ids)
        if self.local != "none":
            local_test(self.bench, self.function, state, self.local, self.name)
            self.spread(state)
        bound = self.bench.bounds.u(state)
        if bound >= limit and self._lookahead is not None:
            if self._lookahead.search(state, self.infer, self.name):
                self.spread(state)
            bound = self.bench.bounds.u(state)
        return Proof(bound) if bound < limit else NOTHING_PROVEN

    def infer(self, states: Int32Array) -> tuple[Int64Array, Int32Array, Int64Array]:
        """For many states the best bound that tested ones imply, from which one, with which D."""
        bounds = np.full(len(states), INFINITY, np.int64)
        sources = np.full(len(states), -1, np.int32)
        gains = np.zeros(len(states), np.int64)
        known = self.bench.bounds.all(self.tested)
        solvable = known != INFINITY
        others, known = self._known_ids[solvable], known[solvable]
        if not len(known):
            return bounds, sources, gains
        ids = self.function.ids(self.bench.table.values(states))
        values = self.function.values(others, ids)
        useful = values != NO_SUM
        implied = np.where(useful, known[:, None] - np.where(useful, values, 0), INFINITY)
        best, columns = implied.argmin(axis=0), np.arange(len(states))
        bounds = implied[best, columns]
        found = bounds != INFINITY
        sources[found] = self.tested[solvable][best[found]]
        gains[found] = values[best[found], columns[found]]
        return bounds, sources, gains

    def spread(self, state: int) -> None:
        """Let the other tested states know of a bound that may have fallen."""
        waiting = [state]
        while waiting:
            source = waiting.pop()
            bound = self.bench.bounds.u(source)
            if bound == INFINITY:
                continue  # a dominance value says nothing then (P13)
            before = self.bench.bounds.all(self.tested)
            values = self.function.from_one(self._ids[self._tested[source]], self._known_ids)
            known = values != NO_SUM
            implied = np.where(known, bound - np.where(known, values, 0), INFINITY)
            better = np.flatnonzero(implied < before)
            for row in better.tolist():
                self.bench.bounds.add_morph(
                    int(self._states[row]), source, int(values[row]), self.name
                )
            if len(better):
                after = self.bench.bounds.all(self.tested)
                fell = np.flatnonzero(after < np.minimum(before, implied))  # by propagation
                waiting += self._states[fell].tolist()

    @property
    def tested(self) -> Int32Array:
        """The states that are compared with each other."""
        return self._states[: len(self._tested)]

    @property
    def _known_ids(self) -> Int32Array:
        return self._ids[: len(self._tested)]

    def _compare(self, state: int, ids: Int32Array) -> None:
        """Compare a new state with all tested ones, in both directions."""
        bounds = self.bench.bounds
        known = bounds.all(self.tested)
        values = self.function.to_one(ids, self._known_ids)
        useful = np.flatnonzero((values != NO_SUM) & (known != INFINITY))
        self._add(state, ids)
        if len(useful):
            best = useful[np.argmin(known[useful] - values[useful])]
            bounds.add_morph(state, int(self._states[best]), int(values[best]), self.name)
        self.spread(state)

    def _add(self, state: int, ids: Int32Array) -> None:
        row = len(self._tested)
        if row == len(self._states):
            room = max(2 * row, 256)
            states, matrix = np.empty(room, np.int32), np.empty((room, len(ids)), np.int32)
            states[:row], matrix[:row] = self._states, self._ids
            self._states, self._ids = states, matrix
        self._states[row], self._ids[row] = state, ids
        self._tested[state] = row
