"""The look-ahead of the bound-maintenance oracle (ALGORITHMS 6.5).

A short greedy search with h_FF from the examined state; whatever is known of a state it visits,
by comparison with tested states, bounds the examined state as well. The policy is not asked.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np

from engine.native.library import INFINITY, Int32Array, Int64Array
from engine.oracles.bench import Bench
from engine.search.heuristics import Evaluator

Infer = Callable[[Int32Array], tuple[Int64Array, Int32Array, Int64Array]]


class DominanceLookahead:
    """`size` is the number of visited states, the examined one included."""

    def __init__(self, bench: Bench, size: int) -> None:
        self.bench = bench
        self.size = size
        self._h_ff = Evaluator(bench.task, "ff")
        self._values: dict[int, int] = {}  # h_FF of states seen so far

    def search(self, state: int, infer: Infer, origin: str) -> bool:
        """Whether the bound of `state` fell."""
        reached, parents = self._visit(state)
        states = np.array([visited for visited in reached if visited != state], np.int32)
        if not len(states):
            return False
        inferred, sources, gains = infer(states)
        known = self.bench.bounds.all(states)
        known[self.bench.table.is_goal(states)] = 0
        best = np.minimum(inferred, known)
        costs = np.array([reached[visited] for visited in states.tolist()])
        totals = np.where(best == INFINITY, INFINITY, best)
        totals[best != INFINITY] += costs[best != INFINITY]
        row = int(totals.argmin())
        if totals[row] >= self.bench.bounds.u(state):
            return False
        end = int(states[row])
        if inferred[row] < known[row]:
            self.bench.bounds.add_morph(end, int(sources[row]), int(gains[row]), origin)
        path, operators = [end], list[int]()
        while path[-1] != state:
            before, operator = parents[path[-1]]
            path.append(before)
            operators.append(operator)
        self.bench.bounds.add_path(path[::-1], operators[::-1], origin)
        return True

    def _visit(self, start: int) -> tuple[dict[int, int], dict[int, tuple[int, int]]]:
        """The cost at which states were visited, and the step that led to each."""
        reached: dict[int, int] = {}
        parents: dict[int, tuple[int, int]] = {}
        queue: list[tuple[int, int, int, int, int, int]] = [(0, 0, start, 0, -1, -1)]
        pushed = 1
        while queue and len(reached) < self.size:
            _, _, state, cost, before, operator = heapq.heappop(queue)
            if state in reached:
                continue
            reached[state], parents[state] = cost, (before, operator)
            operators, successors = self.bench.table.successors(state)
            prices = cost + self.bench.operator_costs[operators]
            for op, successor, price, h in zip(
                operators.tolist(),
                successors.tolist(),
                prices.tolist(),
                self._evaluate(successors),
                strict=True,
            ):
                if h != INFINITY and successor not in reached:
                    heapq.heappush(queue, (h, pushed, successor, price, state, op))
                    pushed += 1
        return reached, parents

    def _evaluate(self, states: Int32Array) -> list[int]:
        known = self._values
        fresh = [state for state in dict.fromkeys(states.tolist()) if state not in known]
        if fresh:
            values = self._h_ff(self.bench.table.values(fresh)).tolist()
            known.update(zip(fresh, values, strict=True))
        return [known[state] for state in states.tolist()]
