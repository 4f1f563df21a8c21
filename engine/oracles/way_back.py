"""A way to a state that dominates another one: the cheapest ways are looked at first.

D(s, t) >= 0 says that t is at least as good as s, so a bound of s holds in t, minus D(s, t).
See docs/theory/oracles.md, "Inverse and undo".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from time import monotonic

from engine.dominance.function import DominanceFunction
from engine.errors import CancelledError
from engine.native.library import Int32Array
from engine.oracles.session import OracleSession
from engine.search.forward import SearchLimits

Reached = dict[int, tuple[int, int, int]]
"""By state: the cost of the way to it, the state before (-1: none), the operator from there."""


@dataclass(frozen=True, slots=True)
class WayBack:
    """`origin` is named as the finder of the way; `limits` are those of each search."""

    origin: str
    session: OracleSession
    function: DominanceFunction
    limits: SearchLimits

    def prove(self, state: int, start: int, less_than: int) -> bool:
        """Whether a way to a state at least as good as `start` proves such a bound.

        Something has to be known of `start`. The proof goes into the session's bounds.
        """
        known = self.session.trusted_bounds.u(start)
        (source,) = self._ids(start)
        reached: Reached = {state: (0, -1, -1)}
        for current in self._cheapest_first(reached, state):
            gain = int(self.function.from_one(source, self._ids(current))[0])
            if gain >= 0 and reached[current][0] + known - gain < less_than:
                if current != start:
                    self.session.bounds.add_morph(current, start, gain, self.origin)
                self.session.bounds.add_path(*_way(reached, current), self.origin)
                return True
        return False

    def _cheapest_first(self, reached: Reached, state: int) -> Iterator[int]:
        """States in the order of what going there costs, within the limits."""
        table, costs = self.session.table, self.session.operator_costs
        queue, closed = [(0, state)], set[int]()
        most, seconds = self.limits.expansions, self.limits.seconds
        begun = monotonic()
        while queue and (most is None or len(closed) < most):
            if self.session.cancelled():
                raise CancelledError
            if seconds is not None and monotonic() - begun > seconds:
                return
            cost, current = heappop(queue)
            if current in closed:
                continue
            closed.add(current)
            yield current
            operators, successors = table.successors(current)
            for operator, successor in zip(operators.tolist(), successors.tolist(), strict=True):
                total = cost + int(costs[operator])
                if successor not in reached or total < reached[successor][0]:
                    reached[successor] = total, current, operator
                    heappush(queue, (total, successor))

    def _ids(self, state: int) -> Int32Array:
        return self.function.ids(self.session.table.values([state]))


def _way(reached: Reached, state: int) -> tuple[list[int], list[int]]:
    states, operators = [state], list[int]()
    while (step := reached[states[-1]])[1] >= 0:
        states.append(step[1])
        operators.append(step[2])
    return states[::-1], operators[::-1]
