"""Composite oracle: the combined one first, policy comparison where that shows nothing.

Bounds, predecessors and flags are those of the one session, and what policy comparison finds out
about states that bound maintenance knows is spread by it.
See docs/theory/oracles.md, "Composite oracle".
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.oracles.combined import CombinedOracle
from engine.oracles.pco import Contest, PcoE
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
