"""Composite oracle: the combined one first, policy comparison where that shows nothing.

Bounds, predecessors and flags are those of the one session, and what policy comparison finds out
about states that bound maintenance knows is spread by it.
See docs/theory/oracles.md, "Composite oracle".
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.oracles.combined import COMBINED_OPTIONS, CombinedOracle, combined
from engine.oracles.kind import Needs, OracleGroup, OracleKind, Values
from engine.oracles.pco import PCO_E_OPTIONS, Contest, PcoE, pco_e
from engine.oracles.session import NOTHING_PROVEN, OracleSession, Proof


@dataclass(frozen=True)
class CompositeOracle:
    name: str
    session: OracleSession
    combined: CombinedOracle
    pco: PcoE

    @property
    def contest(self) -> Contest:
        return self.pco.contest

    def examine(self, state: int) -> Proof:
        limit = self.session.needs_less_than(state)
        assert limit is not None  # the session asks only where a bound can prove a bug
        proof = self.combined.examine(state)
        if proof.bound < limit or proof.optimal:
            return proof
        self.pco.examine(state)
        self.combined.bmo.spread()
        bound = self.session.trusted_bounds.u(state)
        return Proof(bound) if bound < limit else NOTHING_PROVEN


def _make(text: str, session: OracleSession, values: Values) -> CompositeOracle:
    first = combined("combined", session, values)
    return CompositeOracle(text, session, first, pco_e("pco-e", session, values))


KIND = OracleKind(
    "composite",
    "Uses the combined oracle, then pco-e if it finds nothing.",
    {**COMBINED_OPTIONS, **PCO_E_OPTIONS},
    make=_make,
    needs=Needs(portfolio=True, dominance=True),
    group=OracleGroup.POLICIES,
)
