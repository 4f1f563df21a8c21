"""Combined oracle: bound maintenance first, a planner where that shows nothing.

Aras works on the policy's own plan where it reaches the goal, hill-climbing looks for a plan
where it does not; what they find is spread to all states that bound maintenance knows.
See docs/theory/oracles.md, "Combined oracle".
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.oracles.aras import aras_ehc
from engine.oracles.bmo import BMO_OPTIONS, BoundOracle, bmo
from engine.oracles.kind import Needs, Option, OracleKind, Values
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


def combined(text: str, session: OracleSession, values: Values) -> CombinedOracle:
    limits = {"expansions": values["expansions"], "seconds": values["search_seconds"]}
    external = aras_ehc(text, session, limits)
    return CombinedOracle(text, session, bmo(text, session, values), external)


COMBINED_OPTIONS = {
    "expansions": Option(10_000, "states a search may expand"),
    "search_seconds": Option(None, "time a search may take"),
    **BMO_OPTIONS,
}

KIND = OracleKind(
    "combined",
    "Uses bmo, then aras-ehc if bmo finds nothing.",
    COMBINED_OPTIONS,
    make=combined,
    needs=Needs(dominance=True),
)
