"""State-morphing oracle: is the policy better where it should be worse?

Other states s are made from t by changing one factor such that D(s, t) is known. If the policy
solves s at cost c, then h*(t) <= c - D(s, t). Different from the papers: the morphs are not drawn
at random but tried from the largest D down, all at once, each run cut off where it can no longer
prove a bug. See docs/theory/oracles.md, "State morphing".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.dominance.function import NO_VALUE, DominanceFunction
from engine.native.library import Int32Array, Int64Array
from engine.oracles.kind import (
    DOMINANCE_OPTIONS,
    Needs,
    Option,
    OracleKind,
    Values,
    dominance,
)
from engine.oracles.local_test import local_test
from engine.oracles.session import NOTHING_PROVEN, OracleSession, Proof
from engine.records.finding import INFINITY, RunOutcome


@dataclass(frozen=True)
class MorphOracle:
    name: str
    session: OracleSession
    function: DominanceFunction
    maxsize: int = 10
    local: str = "all"

    def examine(self, state: int) -> Proof:
        limit = self.session.needs_less_than(state)
        assert limit is not None  # the session asks only where a bound can prove a bug
        bound = local_test(self.session, self.function, state, self.local, self.name)
        if bound < limit:
            return Proof(bound)
        morphs, gains = self._morphs(state)
        bound = INFINITY
        if len(morphs):
            bound = self._run(state, morphs, gains, limit)
        return Proof(bound) if bound < limit else NOTHING_PROVEN

    def _morphs(self, state: int) -> tuple[Int32Array, Int64Array]:
        """Up to `maxsize` states s that differ from t in one factor, and their D(s, t)."""
        values = self.session.table.values([state])[0]
        rows, gains = [np.empty((0, len(values)), np.int32)], [np.empty(0, np.int64)]
        ids = self.function.ids(values)[0]
        for number, factor in enumerate(self.function.factors):
            if ids[number] < 0:
                return rows[0], gains[0]  # nothing is known of such a state
            column = factor.transposed[ids[number]]
            known = np.flatnonzero(column != NO_VALUE)
            known = known[known != ids[number]]
            changed = np.repeat(values[None, :], len(known), axis=0)
            changed[:, list(factor.variables)] = self.function.factor_values(number)[known]
            rows.append(changed)
            gains.append(column[known].astype(np.int64))
        morphs, all_gains = np.concatenate(rows), np.concatenate(gains)
        chosen = np.argsort(-all_gains, kind="stable")[: self.maxsize]
        return morphs[chosen], all_gains[chosen]

    def _run(self, state: int, morphs: Int32Array, gains: Int64Array, limit: int) -> int:
        """The best bound that the policy's runs on morphs prove."""
        sources = self.session.table.add(morphs)
        cutoffs = np.full(len(sources), INFINITY, np.int64)
        if limit != INFINITY:
            cutoffs = limit + gains
        runs = self.session.runs
        costs = runs.run_bounded(
            sources, cutoffs, max_steps=self.session.step_limit, cancelled=self.session.cancelled
        )
        best = INFINITY
        for row in np.flatnonzero(costs != INFINITY).tolist():
            source, gain = int(sources[row]), int(gains[row])
            run = runs.trace(source)
            assert run.outcome is RunOutcome.SOLVED
            self.session.add_run(run)
            self.session.bounds.add_morph(state, source, gain, self.name)
            best = min(best, int(costs[row]) - gain)
        return best


def _make(text: str, session: OracleSession, values: Values) -> MorphOracle:
    function = dominance(session, values)
    return MorphOracle(text, session, function, int(values["maxsize"]), values["local"])


KIND = OracleKind(
    "smo",
    "Runs the policy from a dominated state, where it may cost less.",
    {"maxsize": Option(10, "states to compare with"), **DOMINANCE_OPTIONS},
    make=_make,
    needs=Needs(dominance=True),
)
