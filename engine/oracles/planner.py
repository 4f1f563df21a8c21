"""Planner oracles: a plan that is cheaper than the policy's run proves a bug.

A* with LM-cut finds every bug and proves optimality where there is none. Greedy best-first,
enforced hill-climbing and LAMA prove bugs only: that they find nothing says nothing (P31).
See docs/theory/oracles.md, "Planner oracles".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.native.library import Outcome
from engine.oracles.kind import (
    MEMORY,
    Option,
    OracleGroup,
    OracleKind,
    Values,
    search_limits,
    search_options,
)
from engine.oracles.session import NO_BUG_POSSIBLE, NOTHING_PROVEN, OracleSession, Proof
from engine.records.finding import INFINITY
from engine.search.forward import SearchLimits, search
from engine.search.planners import Planner, PlannerOutcome, run_planner
from engine.task.translate import Limits

_NO_BETTER_PLAN = (Outcome.UNSOLVABLE, Outcome.NO_CHEAPER_PLAN)


@dataclass(frozen=True)
class SearchOracle:
    """A forward search of our own from the examined state."""

    name: str
    session: OracleSession
    algorithm: str
    heuristic: str
    limits: SearchLimits

    def examine(self, state: int) -> Proof:
        limit = self.session.needs_less_than(state)
        result = search(
            self.session.task,
            self.algorithm,
            self.heuristic,
            state=self.session.values(state),
            bound=None if limit == INFINITY else limit,
            limits=self.limits,
            control=self.session.control,
        )
        if result.plan is not None and result.cost is not None:
            self.session.bounds.add_plan(state, result.plan, self.name)
            return Proof(result.cost)
        return NO_BUG_POSSIBLE if result.outcome in _NO_BETTER_PLAN else NOTHING_PROVEN


@dataclass(frozen=True)
class LamaOracle:
    """Fast Downward's LAMA, anytime: the best plan within the limits."""

    name: str
    session: OracleSession
    limits: Limits

    def examine(self, state: int) -> Proof:
        limit = self.session.needs_less_than(state)
        result = run_planner(
            Planner.LAMA,
            self.session.task,
            self.session.values(state),
            bound=None if limit == INFINITY else limit,
            limits=self.limits,
            cancelled=self.session.cancelled,
        )
        if result.plan is not None:
            self.session.bounds.add_plan(state, result.plan.operators, self.name)
            return Proof(result.plan.cost)
        unsolvable = result.outcome is PlannerOutcome.UNSOLVABLE
        return NO_BUG_POSSIBLE if unsolvable else NOTHING_PROVEN


def _search(algorithm: str, heuristic: str) -> Callable[[str, OracleSession, Values], SearchOracle]:
    def make(text: str, session: OracleSession, values: Values) -> SearchOracle:
        return SearchOracle(text, session, algorithm, heuristic, search_limits(values))

    return make


def _lama(text: str, session: OracleSession, values: Values) -> LamaOracle:
    return LamaOracle(text, session, Limits(values["seconds"], MEMORY // 2**20))


KINDS = (
    OracleKind(
        "astar",
        "Finds an optimal plan; proves every bug with its exact gap, or the policy optimal.",
        search_options(1_000_000),
        make=_search("astar", "lmcut"),
        remembers=False,
        group=OracleGroup.PLANS,
    ),
    OracleKind(
        "gbfs",
        "Searches for a better plan with greedy best-first search.",
        search_options(1000),
        make=_search("gbfs", "ff"),
        remembers=False,
        group=OracleGroup.PLANS,
    ),
    OracleKind(
        "ehc",
        "Searches for a better plan with enforced hill climbing.",
        search_options(100_000),
        make=_search("ehc", "ff"),
        remembers=False,
        group=OracleGroup.PLANS,
    ),
    OracleKind(
        "lama",
        "Searches for a better plan with LAMA within its time limit.",
        {"seconds": Option(10, "time LAMA may take")},
        make=_lama,
        remembers=False,
        group=OracleGroup.PLANS,
    ),
)
