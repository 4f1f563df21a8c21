"""The session on which oracles work: one policy, one task, one set of bounds, all findings.

An oracle examines a state and adds what it can prove to the bounds. Which states are thereby
bugs is decided here, in one place: the examined one, but also others whose bound fell.
See docs/theory/oracles.md, "Which states are bugs".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from engine.dominance.function import DominanceFunction
from engine.native.control import Control
from engine.native.library import Int64Array
from engine.oracles.bounds import POLICY, Bounds
from engine.oracles.clock import OracleClock
from engine.oracles.objective import Objective
from engine.policies.portfolio import Portfolio
from engine.policies.runs import PolicyRun, PolicyRuns, RunResults
from engine.records.config import Factorization
from engine.records.events import OracleVerdict
from engine.records.finding import INFINITY, Finding, RunOutcome
from engine.search.effort import Effort
from engine.task.states import StateTable
from engine.task.task import Task

ATOMIC = Factorization()


@dataclass(frozen=True, slots=True)
class Proof:
    """What one examination proved: an upper bound on h*, or that no bound can prove a bug."""

    bound: int = INFINITY
    optimal: bool = False


NOTHING_PROVEN = Proof()
NO_BUG_POSSIBLE = Proof(optimal=True)


class Oracle(Protocol):
    """Examines states; every proof goes into the session's bounds."""

    @property
    def name(self) -> str:
        """The name as the user wrote it, with options."""
        ...

    def examine(self, state: int) -> Proof:
        """Try to prove that the policy is not optimal in a state on which it was run."""
        ...


@dataclass(frozen=True, slots=True)
class Examination:
    """An oracle's answer about one state, and all findings it led to, new or better than before."""

    verdict: OracleVerdict
    bound: int  # what this oracle showed to suffice; INFINITY: nothing
    findings: tuple[Finding, ...]
    effort: Effort
    limited: bool  # a limit cut it off


@dataclass(frozen=True, slots=True)
class Origin:
    """How the fuzzer came to a state: a walk of these operators, if known, from another state."""

    reference: int
    operators: tuple[int, ...] | None


class OracleSession:
    """Policy runs and bounds that all its oracles share, and the bugs they prove together.

    An oracle that is compared with others has its own session.
    """

    def __init__(
        self,
        runs: PolicyRuns,
        objective: Objective,
        step_limit: int | None = None,
        control: Control | None = None,
        portfolio: Portfolio | None = None,
        *,
        factors: Factorization = ATOMIC,
    ) -> None:
        self.runs = runs
        self.portfolio = portfolio  # policies to compare with, on the same table
        self.factors = factors  # of dominance functions for oracles that name none
        self.table: StateTable = runs.table
        self.task: Task = runs.table.task
        self.objective = objective
        self.step_limit = step_limit
        self.control = control or Control()
        self.bounds = Bounds(self.table, runs)
        self.findings: dict[int, Finding] = {}
        self.origins: dict[int, Origin] = {}
        self.functions: list[tuple[DominanceFunction, Effort]] = []  # and what getting them took
        self._results: dict[int, tuple[RunOutcome, int]] = {}  # of states on finished runs
        self._trace: PolicyRun | None = None  # the last one that was asked for
        self._unjudged: dict[int, None] = {}  # the policy's result is news, the bound may be old
        self._stopped: dict[int, int] = {}  # what ABORTED runs had cost
        self._doubtful: set[int] = set()  # their bounds rest on what was not confirmed

    @cached_property
    def operator_costs(self) -> Int64Array:
        return np.array(self.task.costs, np.int64)

    @property
    def trusted_bounds(self) -> Bounds:
        """What oracles build on: all bounds, or those that plans prove once a value is in doubt."""
        return self.bounds.plans if self._doubtful else self.bounds

    @property
    def policy_errors(self) -> Iterator[str]:
        """What happened where policies gave no answer."""
        for text in self.runs.statistics.errors:
            yield f"the policy failed: {text}"
        for member in () if self.portfolio is None else self.portfolio.members:
            for text in member.runs.statistics.errors:
                yield f"{member.name} of the portfolio failed: {text}"

    def cancelled(self) -> bool:
        return self.control.cancelled

    def run_policy(self, state: int) -> tuple[RunOutcome, int]:
        """Run the policy from a state; its run bounds the cost of all its states."""
        if (known := self._results.get(state)) is not None:
            return known
        if self.trace(state).outcome is RunOutcome.ABORTED and state not in self._stopped:
            self.runs.run([state], self.step_limit, self.cancelled)
        run = self.trace(state)
        if run.outcome is not RunOutcome.ABORTED:
            self.add_run(run)
            return self._results[state]
        self._stopped[state] = _cost(run)
        self._unjudged[state] = None
        self._add_walk(run)
        return run.outcome, _cost(run)

    def adopt_run(self, other: PolicyRuns, start: int) -> int:
        """Take over a run from another table; return its first state in this one."""
        state, so_far = self.runs.adopt(other, start)
        if so_far is not None:
            self._stopped[state] = so_far
        return state

    def trace(self, state: int) -> PolicyRun:
        """The policy's run from a state as far as it was walked."""
        last = self._trace
        if last is None or last.states[0] != state or last.outcome is RunOutcome.ABORTED:
            self._trace = last = self.runs.trace(state)
        return last

    def add_run(self, run: PolicyRun) -> None:
        """Record a finished run of the policy under test, with results for all its states."""
        if run.states[0] in self._results:
            return
        self._unjudged.update(dict.fromkeys(run.states))
        if run.outcome is RunOutcome.SOLVED:
            left, costs = _cost(run), self.task.costs
            for state, operator in zip(run.states, (*run.operators, None), strict=True):
                self._results[state] = run.outcome, left
                left -= costs[operator] if operator is not None else 0
        else:
            self._results.update(dict.fromkeys(run.states, (run.outcome, INFINITY)))
        self._add_walk(run)

    def test(
        self,
        state: int,
        oracle: Oracle,
        clock: OracleClock | None = None,
        *,
        elsewhere: bool = True,
    ) -> Examination:
        """Let an oracle examine a state, within the limits of its clock.

        Without `elsewhere`, what it proves of other states makes no findings.
        """
        judged = None if elsewhere else state
        proof = NOTHING_PROVEN
        findings: list[Finding] = []
        with (clock or OracleClock()).examining(self) as lap:
            self.run_policy(state)
            # Where only the goal counts no run that reaches it can be a bug, optimal or not.
            if self.needs_less_than(state) is not None:
                proof = oracle.examine(state)
            findings.extend(self._collect(oracle.name, judged))
        if lap.cut_off:
            proof = self._known_proof(state)
            findings.extend(self._collect(oracle.name, judged))
        verdict = self._verdict(state, proof)
        return Examination(verdict, proof.bound, tuple(findings), lap.effort, lap.limited)

    def withdraw(self, finding: Finding, known: Finding | None) -> Finding | None:
        """Replace a finding that could not be confirmed by the last one that was. The oracle that
        proves it next has found it. Where a dominance value is in doubt, plans may still prove a
        bug: that finding is returned.
        """
        (state,) = self.table.add(finding.state).tolist()
        if known is None:
            del self.findings[state]
        else:
            self.findings[state] = known
        if finding.evidence.is_plan:
            return None
        self._doubtful.add(state)
        return next(self._judge([state], self.bounds.plans, finding.oracle), None)

    def needs_less_than(self, state: int) -> int | None:
        """Bounds below this prove a bug in a state; INFINITY: any does; None: no bound can."""
        return self.objective.needs_less_than(*self.policy_result(state))

    def policy_result(self, state: int) -> tuple[RunOutcome, int]:
        """What is known of the policy in a state without asking it."""
        return self._results.get(state) or next(self._policy_results([state]))

    def values(self, state: int) -> tuple[int, ...]:
        return tuple(self.table.values([state])[0].tolist())

    def _add_walk(self, run: PolicyRun) -> None:
        """Add the walk of a run, however it ended: it may meet states with bounds."""
        self.bounds.add_path(run.states, run.operators, POLICY)

    def _known_proof(self, state: int) -> Proof:
        """What an examination proved that was cut off: its bounds hold, others may be missing."""
        bound, limit = self.trusted_bounds.u(state), self.needs_less_than(state)
        return Proof(bound) if limit is not None and bound < limit else NOTHING_PROVEN

    def _verdict(self, state: int, proof: Proof) -> OracleVerdict:
        outcome, cost = self.policy_result(state)
        limit = self.objective.needs_less_than(outcome, cost)
        if limit is not None and proof.bound < limit:
            return OracleVerdict.BUG
        # That nothing is cheaper than a stopped run says nothing about the whole run (P15).
        proven = proof.optimal and outcome is not RunOutcome.ABORTED
        return OracleVerdict.OPTIMAL if proven else OracleVerdict.NOT_REFUTED

    def _policy_results(self, states: list[int]) -> Iterator[tuple[RunOutcome, int]]:
        others = [state for state in states if state not in self._results]
        known = self.runs.known(others) if others else None
        results = dict(self._results_of(others, known)) if known else {}
        for state in states:
            yield self._results.get(state) or results[state]

    def _results_of(
        self, states: list[int], known: RunResults
    ) -> Iterator[tuple[int, tuple[RunOutcome, int]]]:
        for state, outcome, cost in zip(
            states, known.outcome.tolist(), known.cost.tolist(), strict=True
        ):
            if outcome is RunOutcome.UNKNOWN and state in self._stopped:
                yield state, (RunOutcome.ABORTED, self._stopped[state])
            else:
                yield state, (outcome, cost)

    def _collect(self, oracle: str, only: int | None) -> Iterator[Finding]:
        """Compare bounds with the policy wherever, or where `only`, one of the two is news."""
        news = dict.fromkeys([*self._unjudged, *self.bounds.take_changed()])
        wanted = [state for state in news if only is None or state == only]
        yield from self._judge(wanted, self.bounds, oracle)
        news.update(dict.fromkeys(self.bounds.plans.take_changed()))
        doubtful = [state for state in news if state in self._doubtful]
        yield from self._judge(doubtful, self.bounds.plans, oracle)
        self._unjudged = {}

    def _judge(self, states: list[int], bounds: Bounds, oracle: str) -> Iterator[Finding]:
        """Yield the bugs that bounds prove and that are new or better than known ones."""
        if not states:
            return
        news = zip(states, self._policy_results(states), bounds.all(states).tolist(), strict=True)
        for state, (outcome, cost), bound in news:
            kind = self.objective.bug_kind(outcome, cost, bound)
            known = self.findings.get(state)
            if kind is None or (known is not None and known.bound <= bound):
                continue
            evidence = bounds.evidence(state)
            finding = self.findings[state] = Finding(
                state=evidence.state,
                kind=kind,
                run=self.runs.record(state),
                bound=bound,
                evidence=evidence,
                oracle=oracle if known is None else known.oracle,
            )
            yield finding


def _cost(run: PolicyRun) -> int:
    return INFINITY if run.cost is None else run.cost
