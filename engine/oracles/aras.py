"""Aras oracles: make the policy's own plan cheaper.

`aras` examines states the policy solves; `aras-ehc` also looks for a plan by enforced
hill-climbing where it does not, as the papers' planner baseline does.
See docs/theory/oracles.md, "Aras".
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.oracles.kind import OracleGroup, OracleKind, Values, search_limits, search_options
from engine.oracles.planner import SearchOracle
from engine.oracles.session import NO_BUG_POSSIBLE, NOTHING_PROVEN, Oracle, OracleSession, Proof
from engine.records.finding import RunOutcome
from engine.search.aras import aras
from engine.search.forward import SearchLimits


@dataclass(frozen=True)
class ArasOracle:
    name: str
    session: OracleSession
    limits: SearchLimits

    def examine(self, state: int) -> Proof:
        run = self.session.trace(state)
        if run.outcome is not RunOutcome.SOLVED:
            return NOTHING_PROVEN
        result = aras(
            self.session.task,
            self.session.values(state),
            run.operators,
            self.limits,
            self.session.control,
        )
        if run.cost is not None and result.cost < run.cost:
            self.session.bounds.add_plan(state, result.plan, self.name)
            return Proof(result.cost)
        return NO_BUG_POSSIBLE if result.exhausted else NOTHING_PROVEN


@dataclass(frozen=True)
class SolvedOrNot:
    """One oracle for states the policy solves, another one for all others."""

    name: str
    session: OracleSession
    solved: Oracle
    unsolved: Oracle

    def examine(self, state: int) -> Proof:
        outcome, _ = self.session.policy_result(state)
        oracle = self.solved if outcome is RunOutcome.SOLVED else self.unsolved
        return oracle.examine(state)


def _aras(text: str, session: OracleSession, values: Values) -> ArasOracle:
    return ArasOracle(text, session, search_limits(values))


def aras_ehc(text: str, session: OracleSession, values: Values) -> SolvedOrNot:
    ehc = SearchOracle(text, session, "ehc", "ff", search_limits(values))
    return SolvedOrNot(text, session, _aras(text, session, values), ehc)


KINDS = (
    OracleKind(
        "aras",
        "Improves the policy's own plan to show that it is too expensive.",
        search_options(10_000),
        make=_aras,
        remembers=False,
        group=OracleGroup.PLANS,
    ),
    OracleKind(
        "aras-ehc",
        "Uses aras if the policy reaches the goal, else enforced hill climbing.",
        search_options(10_000),
        make=aras_ehc,
        remembers=False,
        group=OracleGroup.PLANS,
    ),
)
