"""State-morphing oracle: is the policy better where it should be worse?

Other states s are made from t by a change such that D(s, t) is known. If the policy solves s at
cost c, then h*(t) <= c - D(s, t). Of all morphs that differ in one factor, `best` tries those with
the largest D, all at once; `random` draws from those that differ in one variable, one after the
other until one proves a bug, as Algorithms 1 and 2 of the paper do. Each run is cut off where it
can no longer prove a bug. See docs/theory/oracles.md, "State morphing".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from random import Random

import numpy as np

from engine.dominance.function import NO_SUM, NO_VALUE, DominanceFunction
from engine.native.library import BoolArray, Int32Array, Int64Array
from engine.oracles.kind import (
    DOMINANCE_OPTIONS,
    Needs,
    Option,
    OracleKind,
    Values,
    count,
    dominance,
    one_of,
)
from engine.oracles.local_test import local_test
from engine.oracles.session import NOTHING_PROVEN, OracleSession, Proof
from engine.records.finding import INFINITY, RunOutcome
from engine.search.heuristics import Evaluator

MORPHS = ("best", "random")


@dataclass(frozen=True)
class MorphOracle:
    name: str
    session: OracleSession
    function: DominanceFunction
    maxsize: int = 10
    local: str = "all"
    morphs: str = "best"
    seed: int = 0

    def examine(self, state: int) -> Proof:
        limit = self.session.needs_less_than(state)
        assert limit is not None  # the session asks only where a bound can prove a bug
        bound = local_test(self.session, self.function, state, self.local, self.name)
        if bound < limit:
            return Proof(bound)
        morphs, gains = self.drawn_morphs(state) if self.morphs == "random" else self._best(state)
        at_once = 1 if self.morphs == "random" else len(morphs)
        for begin in range(0, len(morphs), max(at_once, 1)):
            chosen = slice(begin, begin + at_once)
            bound = self._run(state, morphs[chosen], gains[chosen], limit)
            if bound < limit:
                return Proof(bound)
        return NOTHING_PROVEN

    def drawn_morphs(self, state: int) -> tuple[Int32Array, Int64Array]:
        """Up to `maxsize` states s that differ from t in one variable, at random."""
        values = self.session.table.values([state])[0]
        task = self.session.task
        changes = [
            (v, x)
            for v in task.state_variables
            for x in range(task.domain_sizes[v])
            if x != values[v]
        ]
        changed = np.repeat(values[None, :], len(changes), axis=0)
        if changes:
            changed[np.arange(len(changes)), [v for v, _ in changes]] = [x for _, x in changes]
        target = self.function.ids(values)[0]
        all_gains = self.function.to_one(target, self.function.ids(changed))
        known = np.flatnonzero(all_gains != NO_SUM).tolist()
        random = Random(f"{self.seed} {values.tolist()}")
        chosen = random.sample(known, min(self.maxsize, len(known)))
        return changed[chosen], all_gains[chosen]

    def _best(self, state: int) -> tuple[Int32Array, Int64Array]:
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
            sources,
            cutoffs,
            max_steps=self.session.step_limit,
            dead_end=self._is_dead_end if self.morphs == "random" else None,
            cancelled=self.session.cancelled,
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

    def _is_dead_end(self, states: Int32Array) -> BoolArray:
        dead: BoolArray = self._hmax(self.session.table.values(states)) == INFINITY
        return dead

    @cached_property
    def _hmax(self) -> Evaluator:
        return Evaluator(self.session.task, "hmax")


def _make(text: str, session: OracleSession, values: Values) -> MorphOracle:
    return MorphOracle(
        text,
        session,
        dominance(session, values),
        int(values["maxsize"]),
        values["local"],
        values["morphs"],
        values["seed"],
    )


KIND = OracleKind(
    "smo",
    "Runs the policy from a similar state, where it may do better.",
    {
        "maxsize": Option(10, "states to compare with"),
        "morphs": Option(
            "best",
            "which states: those that promise most, or a random choice",
            one_of(*MORPHS),
            "choice of states",
            "|".join(MORPHS),
        ),
        "seed": Option(0, "of the random choice", count, "whole number", "1"),
        **DOMINANCE_OPTIONS,
    },
    make=_make,
    needs=Needs(dominance=True),
)
