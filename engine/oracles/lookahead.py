"""Look-ahead oracle: would the policy do better after other first steps?

All sequences of d operators are followed level by level, the cheapest way to each state of a
level is kept, and the policy is run from all states of the last level at once, each run cut off
where it can no longer prove a bug. A goal on the way counts as well. By itself, with a
policy of the kernels, all of this is done there.
See docs/theory/oracles.md, "Look-ahead".
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from operator import itemgetter

import numpy as np

from engine.native.bounds import POLICY as BY_POLICY
from engine.native.library import Int32Array, Int64Array
from engine.native.policies import BY_LOOKAHEAD, NativePolicy, NativeScreen
from engine.native.searches import NativeFirstSteps
from engine.oracles.bounds import POLICY
from engine.oracles.kind import Option, OracleKind, Screened, Values
from engine.oracles.session import NOTHING_PROVEN, OracleSession, Proof
from engine.policies.runs import PolicyRuns
from engine.records.evidence import Evidence, Walk
from engine.records.finding import INFINITY


class LookaheadOracle:
    def __init__(self, name: str, session: OracleSession, depth: int = 2) -> None:
        self.name = name
        self.session = session
        self.depth = depth
        self._steps = NativeFirstSteps(session.table.native)

    def examine(self, state: int) -> Proof:
        session, steps = self.session, self._steps
        best, end = INFINITY, (0, 0)  # the cost of the best plan, the level and row it ends in
        limit = session.needs_less_than(state)
        assert limit is not None  # the session asks only where a bound can prove a bug
        steps.begin(state)
        for number in range(1, self.depth + 1):
            if session.cancelled():
                return NOTHING_PROVEN
            goal = steps.extend()
            if goal is not None and goal[1] < best:
                best, end = goal[1], (number, goal[0])
        leaves, costs = steps.level()
        totals = self._run_leaves(leaves, costs, min(limit, best))
        if len(totals) and (cost := int(totals.min())) < best:
            best, end = cost, (self.depth, int(totals.argmin()))
            session.add_run(session.runs.trace(int(leaves[end[1]])))
        if best == INFINITY:
            return NOTHING_PROVEN
        session.bounds.add_path(*steps.way(*end), self.name)
        return Proof(best)

    def _run_leaves(self, leaves: Int32Array, costs: Int64Array, limit: int) -> Int64Array:
        """What each leaf costs in all, INFINITY where that is not below the limit."""
        cutoffs = limit - costs if limit != INFINITY else np.full(len(leaves), INFINITY, np.int64)
        spent = self.session.runs.run_bounded(
            leaves,
            cutoffs,
            max_steps=self.session.step_limit,
            cancelled=self.session.cancelled,
        )
        reached = spent != INFINITY
        spent[reached] += costs[reached]
        return spent


class LookaheadScreen:
    """Look-ahead by itself in the kernel."""

    def __init__(self, name: str, runs: PolicyRuns, policy: NativePolicy, depth: int) -> None:
        self._runs = runs
        self._native = NativeScreen(runs.table.native, policy, depth)
        self._origins = {BY_POLICY: POLICY, BY_LOOKAHEAD: name}

    @property
    def asked(self) -> int:
        return self._native.asked

    def is_vain(
        self, state: int, limit: int, step_limit: int | None, cancelled: Callable[[], bool]
    ) -> bool:
        return self._native.is_vain(state, limit, step_limit, cancelled)

    def examine(
        self,
        state: int,
        reference: int | None,
        step_limit: int | None,
        cancelled: Callable[[], bool],
    ) -> Screened:
        runs = self._runs
        found = self._native.prove(runs.native, state, reference, step_limit, cancelled)
        if found.best == INFINITY:
            return Screened(INFINITY, None, found.touched)
        steps = groupby(zip(found.operators, found.origins, strict=True), itemgetter(1))
        walks = [
            Walk(tuple(operator for operator, _ in walk), self._origins[origin])
            for origin, walk in steps
        ]
        values = tuple(runs.table.values(state)[0].tolist())
        evidence = Evidence(values, tuple(walks), found.bound)
        return Screened(found.best, evidence, found.touched)


def _screen(text: str, runs: PolicyRuns, values: Values) -> LookaheadScreen | None:
    """For a policy of the kernels: any other one is asked about many states at once."""
    if runs.kernel is None:
        return None
    return LookaheadScreen(text, runs, runs.kernel, int(values["depth"]))


KIND = OracleKind(
    "lookahead",
    "Tries other first steps, then follows the policy.",
    {"depth": Option(2, "number of steps before the policy takes over")},
    make=lambda text, session, values: LookaheadOracle(text, session, int(values["depth"])),
    remembers=False,
    screen=_screen,
)
