"""An oracle by itself: nothing it does helps or hinders another one.

It has a table of states, policy runs, bounds, findings and a clock of its own. All it is given is
the stored run from each pool state, and the states in the order of the pool. An oracle that
remembers nothing from state to state, such as a planner, gets a new session for each, and what it
proves of other states on the way does not count.
See docs/theory/oracles.md, "Comparing oracles".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from engine.native.control import Control
from engine.oracles.clock import OracleClock
from engine.oracles.kind import Screen
from engine.oracles.objective import Objective
from engine.oracles.registry import parse_oracle, prepare_oracle
from engine.oracles.session import Examination, Oracle, OracleSession, Origin
from engine.policies.portfolio import Portfolio
from engine.policies.runs import PolicyRuns
from engine.records.config import Factorization, UnitLimits
from engine.records.events import OracleVerdict
from engine.records.evidence import State
from engine.records.finding import INFINITY, Finding, RunOutcome
from engine.search.effort import NO_EFFORT
from engine.task.states import StateTable


@dataclass(frozen=True)
class Terms:
    """What all oracles of a comparison are given."""

    runs: PolicyRuns  # with the stored runs of the pool states
    origins: Mapping[int, Origin]  # of pool states
    objective: Objective
    step_limit: int | None
    factors: Factorization
    portfolio: Portfolio | None
    limits: UnitLimits
    control: Control


class SoloOracle:
    """Examines pool states, given by their ids in the table of the comparison."""

    def __init__(self, text: str, terms: Terms) -> None:
        self.name = text
        self.clock = OracleClock(terms.limits, alone=True)
        self._terms = terms
        kind, values = parse_oracle(text)
        self._remembers = kind.remembers
        self._screen = kind.screen(text, terms.runs, values)
        self._looked = NO_EFFORT  # what the screen took for the present state
        self._session = self._new_session()
        self.oracle: Oracle | None = prepare_oracle(text, self._session, self.clock)
        self.touched = 0  # states of all its tables
        self.policy_calls = self.policy_states = 0  # how many it put to the policy
        self.policy_errors: dict[str, None] = {}  # what happened where policies gave no answer

    @property
    def is_over(self) -> bool:
        """Whether a limit has ended its work."""
        return self.oracle is None or bool(self.clock.limit)

    def examine(self, state: int) -> Examination | None:
        """What it says about a pool state, if it has time left."""
        if self.is_over:
            return None
        self._looked = NO_EFFORT
        if self._screen is not None and (examined := self._look(self._screen, state)) is not None:
            return examined
        if not self._remembers:
            self._session = self._new_session()
            self.oracle = prepare_oracle(self.name, self._session, self.clock)
        if self.oracle is None:
            return None
        return self._examine(self.oracle, state)

    def values(self, state: int) -> State:
        """The values of a state of its own table."""
        return self._session.values(state)

    def withdraw(self, finding: Finding, known: Finding | None) -> Finding | None:
        """Withdraw what was found last, as the session does."""
        if self._screen is not None and finding.evidence.is_plan:
            return None
        return self._session.withdraw(finding, known)

    def _look(self, screen: Screen, state: int) -> Examination | None:
        """What the screen says about a state; None where only a session can tell."""
        terms, session, asked = self._terms, self._session, screen.asked
        run = terms.runs.record(state)
        cost = INFINITY if run.cost is None else run.cost
        limit = terms.objective.needs_less_than(run.outcome, cost)
        ended = run.outcome is not RunOutcome.ABORTED
        vain, found = limit is None, None
        with self.clock.examining(session) as lap:
            if limit is not None:
                vain = screen.is_vain(state, limit, terms.step_limit, session.cancelled)
            if not vain and ended:
                origin = terms.origins.get(state)
                reference = None if origin is None else origin.reference
                found = screen.examine(state, reference, terms.step_limit, session.cancelled)
        self.policy_calls += screen.asked > asked
        self.policy_states += screen.asked - asked
        if not (vain or ended or lap.cut_off):
            self._looked = lap.effort
            return None
        self.touched += 0 if found is None else found.touched
        if found is None or found.evidence is None:
            return Examination(OracleVerdict.NOT_REFUTED, INFINITY, (), lap.effort, lap.limited)
        evidence, findings = found.evidence, tuple[Finding, ...]()
        if kind := terms.objective.bug_kind(run.outcome, cost, evidence.bound):
            bound = evidence.bound
            findings = (Finding(evidence.state, kind, run, bound, evidence, self.name),)
        is_bug = limit is not None and found.bound < limit
        verdict = OracleVerdict.BUG if is_bug else OracleVerdict.NOT_REFUTED
        return Examination(verdict, found.bound, findings, lap.effort, lap.limited)

    def _examine(self, oracle: Oracle, state: int) -> Examination:
        session = self._session
        touched, statistics = len(session.table), session.runs.statistics
        calls, asked = statistics.calls, statistics.evaluated
        own = session.adopt_run(self._terms.runs, state)
        if (origin := self._terms.origins.get(state)) is not None:
            reference = session.adopt_run(self._terms.runs, origin.reference)
            session.origins[own] = Origin(reference, origin.operators)
        examined = session.test(own, oracle, self.clock, elsewhere=self._remembers)
        found = self._counted(examined, own)
        self.touched += len(session.table) - touched
        self.policy_calls += statistics.calls - calls
        self.policy_states += statistics.evaluated - asked
        self.policy_errors.update(dict.fromkeys(session.policy_errors))
        if session.runs.lost is not None:
            raise session.runs.lost
        return found

    def _counted(self, examination: Examination, state: int) -> Examination:
        """Add the finding in the examined state if it was made before the state entered the pool.
        An oracle that remembers nothing reports no other states.
        """
        own = self._session.findings.get(state)
        findings = [own] if own is not None else []
        if self._remembers:
            findings += [one for one in examination.findings if one is not own]
        effort = examination.effort + self._looked
        return replace(examination, findings=tuple(findings), effort=effort)

    def _new_session(self) -> OracleSession:
        terms = self._terms
        table = StateTable(terms.runs.table.task)
        rivals = terms.portfolio
        return OracleSession(
            PolicyRuns(terms.runs.policy, table),
            terms.objective,
            terms.step_limit,
            terms.control,
            None if rivals is None else rivals.on(table),
            factors=terms.factors,
        )
