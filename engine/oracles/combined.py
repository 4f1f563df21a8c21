"""Combined oracle: bound maintenance first, a planner where that shows nothing.

Aras works on the policy's own plan where it reaches the goal, hill-climbing looks for a plan
where it does not; what they find is spread to all states that bound maintenance knows.
See docs/theory/oracles.md, "Combined oracle".
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.oracles.bmo import BoundOracle
from engine.oracles.session import Oracle, OracleSession, Proof


@dataclass(frozen=True)
class CombinedOracle:
    name: str
    session: OracleSession
    bmo: BoundOracle
    external: Oracle

    def examine(self, state: int) -> Proof:
        limit = self.session.needs_less_than(state)
        assert limit is not None  # the session asks only where a bound can prove a bug
        proof = self.bmo.examine(state)
        if proof.bound < limit:
            return proof
        proof = self.external.examine(state)
        if proof.bound < limit:
            self.bmo.spread()
        return proof
