"""Inverse oracle: if a walk can be undone step by step, plans from its start apply.

A pool state t was reached by a walk from a state r. If each step of the walk can be taken back by
one operator, then h*(t) <= the cost of these operators + h*(r). The way back is concrete and its
true costs count (P39-P42), so no property of the domain is assumed.
See docs/theory/oracles.md, "Inverse and undo".
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.oracles.kind import Option, OracleKind, one_of
from engine.oracles.session import NOTHING_PROVEN, OracleSession, Origin, Proof
from engine.records.finding import INFINITY, RunOutcome

Path = tuple[list[int], list[int]]
"""States and the operators between them."""

PLANS = ("best", "policy")


@dataclass(frozen=True)
class InverseOracle:
    """`plan`: which plan counts at the start of the walk, any known one or the policy's own."""

    name: str
    session: OracleSession
    plan: str = "best"

    def examine(self, state: int) -> Proof:
        origin = self.session.origins.get(state)
        if origin is None:
            return NOTHING_PROVEN
        outcome, cost = self.session.run_policy(origin.reference)
        if self.plan == "policy":
            known = cost if outcome is RunOutcome.SOLVED else INFINITY
        else:
            known = self.session.trusted_bounds.u(origin.reference)
        path = None if known == INFINITY else inverse_path(self.session, state, origin)
        if path is None:
            return NOTHING_PROVEN
        states, operators = path
        self.session.bounds.add_path(states, operators, self.name)
        return Proof(int(self.session.operator_costs[operators].sum()) + known)


def inverse_path(session: OracleSession, state: int, origin: Origin) -> Path | None:
    """The way back through all states of a walk, or straight to its start if it is not known."""
    milestones = [origin.reference]
    for operator in (origin.operators or ())[:-1]:
        milestones.append(int(session.table.apply([milestones[-1]], [operator])[0]))
    states, operators = [state], list[int]()
    for before in reversed(milestones):
        if states[-1] == before:
            continue
        back = _step_back(session, states[-1], before)
        if back is None:
            return None
        states.append(before)
        operators.append(back)
    return states, operators


def _step_back(session: OracleSession, state: int, before: int) -> int | None:
    """The cheapest operator that leads from `state` to `before`."""
    operators, successors = session.table.successors(state)
    back = [int(operator) for operator in operators[successors == before]]
    return min(
        back, key=lambda operator: (session.operator_costs[operator], operator), default=None
    )


KIND = OracleKind(
    "inverse",
    "Undoes the walk step by step, one action each.",
    {
        "plan": Option(
            "best",
            "plan that counts at the start of the walk",
            one_of(*PLANS),
            "plan",
            "|".join(PLANS),
        )
    },
    make=lambda text, session, values: InverseOracle(text, session, values["plan"]),
)
