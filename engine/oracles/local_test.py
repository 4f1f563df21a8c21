"""The local test: does a policy's own run show that it wastes something?

If D(s', s) says that a later state s' of a run is not as much better than s as was paid to get
there, the way there was too expensive. "first" looks at the first step only, "all" compares every
state of the run with all later ones. See docs/theory/oracles.md, "Local test".
"""

from __future__ import annotations

import numpy as np

from engine.dominance.function import NO_SUM, DominanceFunction
from engine.oracles.session import OracleSession
from engine.records.finding import INFINITY, RunOutcome

MODES = ("none", "first", "all")


def local_test(
    session: OracleSession, function: DominanceFunction, state: int, mode: str, origin: str
) -> int:
    """The bound on h* of a state that its run proves by itself; INFINITY: nothing."""
    run = session.trace(state)
    if mode == "none" or run.outcome is not RunOutcome.SOLVED or not run.operators:
        return INFINITY
    states = np.array(run.states)
    ids = function.ids(session.table.values(states))
    bounds = np.append(session.operator_costs[list(run.operators)], 0)[::-1].cumsum()[::-1]
    if mode == "first":
        states, ids, bounds = states[:2], ids[:2], bounds[:2]
    all_values = function.values(ids, ids)
    for i in range(len(states) - 2, -1, -1):
        bounds[i] = bounds[i + 1] + session.operator_costs[run.operators[i]]
        values = all_values[i + 1 :, i]
        known = values != NO_SUM
        through = np.where(known, bounds[i + 1 :] - np.where(known, values, 0), INFINITY)
        best = int(through.argmin())
        if through[best] < bounds[i]:
            bounds[i] = through[best]
            source = int(states[i + 1 + best])
            session.bounds.add_morph(int(states[i]), source, int(values[best]), origin)
    return int(bounds[0])
