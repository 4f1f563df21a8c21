"""The bench on which oracles work: one policy, one task, one set of bounds, all findings.

An oracle examines a state and adds what it can prove to the bounds. Which states are thereby
bugs is decided here, in one place: the examined one, but also others whose bound fell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from engine.oracles.bounds import Bounds, Parent
from engine.oracles.evidence import Evidence
from engine.oracles.objective import BugKind, Objective
from engine.policies.run_graph import Outcome
from engine.policies.runs import PolicyRuns
from engine.task.process import never_cancelled
from engine.task.states import StateTable
from engine.task.task import Task

POLICY = "policy"
"""The origin of steps that the policy under test takes itself."""


class Verdict(Enum):
    """What an oracle says about the policy in a state; none of them is "passed"."""

    BUG = "bug"
    OPTIMAL = "no bug, proven optimal"
    NOT_REFUTED = "not refuted"


class Oracle(Protocol):
    """Examines states; every proof goes into the bench's bounds."""

    name: str  # as the user wrote it, with parameters

    def examine(self, state: int) -> Verdict: ...


@dataclass(frozen=True, slots=True)
class Finding:
    """A bug with its proof. `policy_cost` is None when the policy fails."""

    state: int
    kind: BugKind
    policy_cost: int | None
    bound: int
    gap: int | None
    oracle: str
    evidence: Evidence


class Bench:
    """Policy runs and bounds that all oracles share, and the bugs they prove together."""

    def __init__(
        self,
        runs: PolicyRuns,
        objective: Objective,
        step_limit: int | None = None,
        cancelled: Callable[[], bool] = never_cancelled,
    ) -> None:
        self.runs = runs
        self.table: StateTable = runs.table
        self.task: Task = runs.table.task
        self.objective = objective
        self.step_limit = step_limit
        self.cancelled = cancelled
        self.bounds = Bounds(self.table, self._policy_parents)
        self.findings: dict[int, Finding] = {}
        self._run: set[int] = set()
        self._stopped: dict[int, int] = {}  # what ABORTED runs had cost

    def run_policy(self, state: int) -> tuple[Outcome, int]:
        """How the policy does in a state, which also bounds the states of a solved run."""
        results = self.runs.run([state], self.step_limit, self.cancelled)
        outcome, cost = Outcome(int(results.outcome[0])), int(results.cost[0])
        if outcome is Outcome.ABORTED:
            self._stopped[state] = cost
        elif outcome is Outcome.SOLVED and state not in self._run:
            trace = self.runs.trace(state)
            self.bounds.add_path(trace.states, trace.operators, POLICY)
            self._run.add(state)
        return outcome, cost

    def test(self, state: int, oracle: Oracle) -> tuple[Verdict, list[Finding]]:
        """Let an oracle examine a state; the findings that are new or better than before."""
        self.run_policy(state)
        verdict = oracle.examine(state)
        return verdict, list(self.collect(oracle.name))

    def needs_less_than(self, state: int) -> int | None:
        """Which bounds on a state prove a bug, from what is known of the policy there."""
        outcome, cost = self._known(state)
        return self.objective.needs_less_than(outcome, cost)

    def is_bug(self, state: int) -> bool:
        """Whether the present bound proves a bug."""
        limit = self.needs_less_than(state)
        return limit is not None and self.bounds.u(state) < limit

    def collect(self, oracle: str) -> Iterator[Finding]:
        """Turn fallen bounds into findings."""
        for state in self.bounds.take_changed():
            outcome, cost = self._known(state)
            bound = self.bounds.u(state)
            shortfall = self.objective.shortfall(outcome, cost, bound)
            known = self.findings.get(state)
            if shortfall is None or (known is not None and known.bound <= bound):
                continue
            policy_cost = None if outcome is Outcome.FAILED else cost
            finding = Finding(
                state=state,
                kind=shortfall.kind,
                policy_cost=policy_cost,
                bound=bound,
                gap=shortfall.gap,
                oracle=oracle if known is None else known.oracle,
                evidence=self.bounds.evidence(state),
            )
            self.findings[state] = finding
            yield finding

    def _known(self, state: int) -> tuple[Outcome, int]:
        results = self.runs.known([state])
        outcome, cost = Outcome(int(results.outcome[0])), int(results.cost[0])
        if outcome is Outcome.UNKNOWN and state in self._stopped:
            return Outcome.ABORTED, self._stopped[state]
        return outcome, cost

    def _policy_parents(self, state: int) -> Iterator[Parent]:
        parents = self.runs.parents(state)
        if parents:
            for parent, operator in zip(parents, self.runs.decisions(parents), strict=True):
                yield parent, int(operator), POLICY
