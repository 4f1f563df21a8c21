"""Inverse and undo oracles: whoever can go back can do what is done there.

A pool state t was reached by a walk from a state r. If there is a way back from t to r, then
h*(t) <= its cost + h*(r). `inverse` takes back one step at a time by one operator each; `undo`
may also search for a longer way. The way back is concrete and its true costs count (P39-P42), so
no property of the domain is assumed. See docs/theory/oracles.md, "Inverse and undo".
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.oracles.kind import OracleKind, search_limits, search_options
from engine.oracles.session import NOTHING_PROVEN, OracleSession, Proof
from engine.records.finding import INFINITY
from engine.search.forward import SearchLimits, search

Path = tuple[list[int], list[int]]
"""States and the operators between them."""


@dataclass(frozen=True)
class InverseOracle:
    """With `search_limits`, steps that no single operator takes back may take several."""

    name: str
    session: OracleSession
    search_limits: SearchLimits | None = None

    def examine(self, state: int) -> Proof:
        origin = self.session.origins.get(state)
        if origin is None:
            return NOTHING_PROVEN
        self.session.run_policy(origin.reference)
        if self.session.trusted_bounds.u(origin.reference) == INFINITY:
            return NOTHING_PROVEN
        path = self._way_back(state, origin.reference, origin.operators)
        if path is None:
            return NOTHING_PROVEN
        states, operators = path
        self.session.bounds.add_path(states, operators, self.name)
        cost = sum(self.session.task.operators[operator].cost for operator in operators)
        return Proof(cost + self.session.trusted_bounds.u(origin.reference))

    def _way_back(self, state: int, reference: int, walk: tuple[int, ...] | None) -> Path | None:
        """Through all states of the walk, or straight to its start where the walk is not known."""
        milestones = [reference]
        for operator in (walk or ())[:-1]:
            milestones.append(int(self.session.table.apply([milestones[-1]], [operator])[0]))
        states, operators = [state], list[int]()
        for before in reversed(milestones):
            step = self._step_back(states[-1], before) or self._search_back(states[-1], before)
            if step is None:
                return None
            states += step[0]
            operators += step[1]
        return states, operators

    def _step_back(self, state: int, before: int) -> Path | None:
        """The cheapest single operator from `state` to `before`; nothing if they are the same."""
        if state == before:
            return [], []
        operators, successors = self.session.table.successors(state)
        back = [int(op) for op in operators[successors == before]]
        if not back:
            return None
        return [before], [min(back, key=lambda op: (self.session.task.operators[op].cost, op))]

    def _search_back(self, state: int, before: int) -> Path | None:
        if self.search_limits is None:
            return None
        result = search(
            self.session.task,
            "astar",
            "hmax",
            state=self.session.values(state),
            goal=list(enumerate(self.session.values(before))),
            limits=self.search_limits,
            control=self.session.control,
        )
        if result.plan is None:
            return None
        states = [state]
        for operator in result.plan:
            states.append(int(self.session.table.apply([states[-1]], [operator])[0]))
        return states[1:], list(result.plan)


KINDS = (
    OracleKind(
        "undo",
        "Undoes the walk, then follows the policy's plan from its start.",
        search_options(1000),
        make=lambda text, session, values: InverseOracle(text, session, search_limits(values)),
    ),
    OracleKind(
        "inverse",
        "Undoes the walk step by step, one action each.",
        {},
        make=lambda text, session, _: InverseOracle(text, session),
    ),
)
