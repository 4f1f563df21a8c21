"""Bound-maintenance oracle: what is known of one state says something of many.

All examined states are compared with each other: u(t) <= u(s) - D(s, t) in both directions, and
every fall of a bound goes on to the policy's predecessors. Different from the papers: one pass
over all states takes the place of cost buckets, the direction t -> s uses the final bound of t,
and a state whose bound fell is compared again, whoever lowered it, so that no pair of states is
left with something to say. See docs/theory/oracles.md, "Bound maintenance".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from engine.dominance.function import DominanceFunction
from engine.errors import CancelledError
from engine.native.dominance import NativeComparison
from engine.native.library import Int32Array, Int64Array
from engine.native.searches import NativeLookahead, Visits
from engine.oracles.kind import (
    DOMINANCE_OPTIONS,
    Needs,
    Option,
    OracleKind,
    Values,
    count,
    dominance,
    switch,
)
from engine.oracles.local_test import local_test
from engine.oracles.session import NOTHING_PROVEN, OracleSession, Proof
from engine.records.finding import INFINITY

Infer = Callable[[Int32Array], tuple[Int64Array, Int32Array, Int64Array]]

AT_ONCE = 1000
"""Visited states between two looks at whether the work was cancelled."""


class DominanceLookahead:
    """`size` is the number of visited states, the examined one included."""

    def __init__(self, session: OracleSession, size: int) -> None:
        self.session = session
        self.size = size
        self._native = NativeLookahead(session.table.native)

    def search(self, state: int, infer: Infer, origin: str) -> bool:
        """Whether the bound of `state` fell."""
        visits = self._visit(state)
        states = visits.states[1:]
        if not len(states):
            return False
        bounds = self.session.bounds
        inferred, sources, gains = infer(states)
        known = bounds.all(states)
        known[self.session.table.is_goal(states)] = 0
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
            if self.session.cancelled():
                raise CancelledError
            wanted = min(wanted + AT_ONCE, self.size)
            visited = self._native.resume(wanted)
        return self._native.visits()


class BoundOracle:
    """`lookahead` is the number of states a look-ahead search may visit, 0 for none."""

    def __init__(
        self,
        name: str,
        session: OracleSession,
        function: DominanceFunction,
        *,
        lookahead: int = 100,
        local: str = "all",
        intermediate: bool = True,
    ) -> None:
        self.name = name
        self.session = session
        self.function = function
        self.local = local
        self.intermediate = intermediate
        self._tested: set[int] = set()
        self._comparison = NativeComparison(function.native)
        self._lookahead = DominanceLookahead(session, lookahead) if lookahead else None

    def examine(self, state: int) -> Proof:
        limit = self.session.needs_less_than(state)
        assert limit is not None  # the session asks only where a bound can prove a bug
        run = self.session.trace(state)
        self.compare(run.states[::-1] if self.intermediate else (state,))
        if self.local != "none" and not self.intermediate:
            # Where all states of the run are compared, each is compared with all later ones.
            local_test(self.session, self.function, state, self.local, self.name)
            self.spread()
        bound = self.session.trusted_bounds.u(state)
        if bound >= limit and self._lookahead is not None:
            if self._lookahead.search(state, self.infer, self.name):
                self.spread()
            bound = self.session.trusted_bounds.u(state)
        return Proof(bound) if bound < limit else NOTHING_PROVEN

    def compare(self, states: Sequence[int]) -> None:
        """Compare new states with all tested ones, in both directions."""
        self.spread()
        fresh = [state for state in states if state not in self._tested]
        if not fresh:
            return
        self._tested.update(fresh)
        bounds = self.session.bounds
        for state, ids in zip(fresh, self._ids(fresh), strict=True):
            source, gain = self._comparison.add(bounds.by_id(), state, ids)
            if source >= 0:
                bounds.add_morph(state, source, gain, self.name)
            self.spread()

    def infer(self, states: Int32Array) -> tuple[Int64Array, Int32Array, Int64Array]:
        """For many states the best bound that tested ones imply, from which one, with which D."""
        bounds = self.session.bounds.by_id()
        sources, gains = self._comparison.infer(bounds, self._ids(states))
        known = sources >= 0
        implied = np.full(len(states), INFINITY, np.int64)
        implied[known] = bounds[sources[known]] - gains[known]
        return implied, sources, gains

    def spread(self) -> None:
        """Let all tested states know of bounds that fell, whoever lowered them."""
        bounds = self.session.bounds
        while (told := self._comparison.tell(bounds.by_id())) is not None:
            source, states, gains = told
            for state, gain in zip(states, gains, strict=True):
                bounds.add_morph(state, source, gain, self.name)

    def _ids(self, states: npt.ArrayLike) -> Int32Array:
        return self.function.ids(self.session.table.values(states))


def bmo(text: str, session: OracleSession, values: Values) -> BoundOracle:
    return BoundOracle(
        text,
        session,
        dominance(session, values),
        lookahead=values["lookahead"],
        local=values["local"],
        intermediate=values["intermediate"],
    )


BMO_OPTIONS = {
    "lookahead": Option(100, "states to look ahead; 0: none", count, "whole number", "100"),
    "intermediate": Option(True, "also compare states on runs", switch, "switch", "true|false"),
    **DOMINANCE_OPTIONS,
}

KIND = OracleKind(
    "bmo",
    "Compares what is known about all tested states with each other.",
    BMO_OPTIONS,
    make=bmo,
    needs=Needs(dominance=True),
)
