"""Bound-maintenance oracle: a bound of one state implies bounds of many others.

All examined states are compared with each other: u(t) <= u(s) - D(s, t) in both directions, and
every lower bound is passed on to the policy's predecessors. Unlike in the papers, one pass over all
states replaces the cost buckets, the direction t -> s uses the final bound of t, and a state whose
bound fell for any reason is compared again, so that no pair of states can lower a bound anymore.
Of the states that the look-ahead visits, only relevant ones keep their bounds, unless `visited=all`
selects Algorithm 4 as published.
See docs/theory/oracles.md, "Bound maintenance".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from engine.dominance.function import DominanceFunction
from engine.errors import CancelledError
from engine.native.bounds import NativeMaintenance
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
    one_of,
    switch,
)
from engine.oracles.local_test import local_test
from engine.oracles.session import NOTHING_PROVEN, OracleSession, Proof
from engine.records.finding import INFINITY

Infer = Callable[[Int32Array], tuple[Int64Array, Int32Array, Int64Array]]

VISITED = ("best", "all")
AT_ONCE = 1000
"""Visited states between two looks at whether the work was cancelled."""


class DominanceLookahead:
    """`size` is the number of visited states, the examined one included.

    With `keeps_all`, what is inferred of any visited state is kept, and not only what leads to the
    best bound of the examined one.
    """

    def __init__(self, session: OracleSession, size: int, *, keeps_all: bool = False) -> None:
        self.session = session
        self.size = size
        self.keeps_all = keeps_all
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
        if self.keeps_all:
            for number in np.flatnonzero(inferred < known).tolist():
                source, gain = int(sources[number]), int(gains[number])
                bounds.add_morph(int(states[number]), source, gain, origin)
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
        visited: str = "best",
    ) -> None:
        self.name = name
        self.session = session
        self.function = function
        self.local = local
        self.intermediate = intermediate
        bounds = session.bounds
        self._known = NativeMaintenance(function.native, bounds.native, bounds.number_of(name))
        self.keeps_all = visited == "all"
        self._lookahead = (
            DominanceLookahead(session, lookahead, keeps_all=self.keeps_all) if lookahead else None
        )

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
        if self._lookahead is not None and (bound >= limit or self.keeps_all):
            if self._lookahead.search(state, self.infer, self.name):
                self.spread()
            bound = self.session.trusted_bounds.u(state)
        return Proof(bound) if bound < limit else NOTHING_PROVEN

    def compare(self, states: Sequence[int]) -> None:
        """Compare new states with all tested ones, in both directions."""
        self._known.compare(states)

    def infer(self, states: Int32Array) -> tuple[Int64Array, Int32Array, Int64Array]:
        """Return for many states the best bound that a tested one implies, which one, and its D."""
        return self._known.infer(states)

    def spread(self) -> None:
        """Pass lower bounds on to all tested states, whatever lowered them."""
        self._known.compare(())


def bmo(text: str, session: OracleSession, values: Values) -> BoundOracle:
    return BoundOracle(
        text,
        session,
        dominance(session, values),
        lookahead=values["lookahead"],
        local=values["local"],
        intermediate=values["intermediate"],
        visited=values["visited"],
    )


BMO_OPTIONS = {
    "lookahead": Option(100, "states to look ahead; 0: none", count, "whole number", "100"),
    "intermediate": Option(True, "also compare states on runs", switch, "switch", "true|false"),
    "visited": Option(
        "best",
        "of which visited states to keep bounds, and whether to look ahead in bugs, too",
        one_of(*VISITED),
        "choice of states",
        "|".join(VISITED),
    ),
    **DOMINANCE_OPTIONS,
}

KIND = OracleKind(
    "bmo",
    "Compares all tested states with each other.",
    BMO_OPTIONS,
    make=bmo,
    needs=Needs(dominance=True),
)
