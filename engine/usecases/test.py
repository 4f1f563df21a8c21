"""Lets oracles examine the states of a pool.

Every oracle has a session of its own, so that its flags are its own; the runs of the policy and
of a portfolio are shared.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from engine.errors import CancelledError
from engine.fuzzing.pool_file import PoolEntry, read_pool
from engine.oracles import objective, registry
from engine.oracles.pco import Contest, contest_of
from engine.oracles.session import OracleSession, Origin
from engine.policies.policy import close_policy, open_policy
from engine.policies.portfolio import Portfolio, named_policies, open_portfolio
from engine.policies.runs import STEP_LIMIT, PolicyRuns
from engine.records.events import OracleVerdict
from engine.records.evidence import Evidence, State
from engine.records.finding import Finding, RunOutcome
from engine.task.states import StateTable
from engine.task.task import Task
from engine.workers.link import Link

OBJECTIVES = tuple(objective.OBJECTIVES)
ORACLES = tuple(registry.ORACLES)


@dataclass(frozen=True, slots=True)
class ExamineOptions:
    oracles: tuple[str, ...]
    portfolio: tuple[str, ...] = ()  # policies, and folders of policies, to compare with
    objective: str = "any"
    step_limit: int | None = STEP_LIMIT
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Flag:
    """A bug in the eyes of one oracle; the gap is None if the policy fails."""

    state: State
    gap: int | None
    bound: int
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Standing:
    """How often a policy of the portfolio was run, and what that proved."""

    policy: str
    runs: int
    beaten: tuple[State, ...]  # where it proved a bug
    proofs: int  # that use its steps


@dataclass(frozen=True, slots=True)
class OracleResult:
    """One oracle's work on the pool, or on a part of it if it was stopped; by state number."""

    oracle: str
    verdicts: dict[int, OracleVerdict]
    flags: dict[int, Flag]
    by_products: tuple[Flag, ...]  # bugs outside the pool that were found on the way
    portfolio: tuple[Standing, ...] | None  # None: the oracle runs no other policies


@dataclass(frozen=True, slots=True)
class PoolState:
    """How the policy does in a state of the pool; the cost is None unless it reaches the goal."""

    state: State
    outcome: RunOutcome
    policy_cost: int | None


@dataclass(frozen=True, slots=True)
class PoolResult:
    states: tuple[PoolState, ...]
    oracles: tuple[OracleResult, ...]
    seconds: float
    stopped: bool  # by the user, who is told what is known so far


def examine_pool(
    link: Link, task: Task, policy: str, pool: Path, options: ExamineOptions
) -> PoolResult:
    """Run a policy from all states of a pool file and let one oracle after the other judge it."""
    entries = read_pool(pool, task)
    rivals = named_policies(options.portfolio)
    domain = task.source.domain if task.source else None
    opened = open_policy(policy, domain, options.seed)
    started = time.monotonic()
    try:
        table = StateTable(task)
        examiner = _Examiner(link, PolicyRuns(opened.bind(task), table), entries, options)
        with closing(open_portfolio(rivals, table, options.seed, link.cancelled)) as portfolio:
            oracles = tuple(examiner.results(portfolio if rivals else None))
    finally:
        close_policy(opened)
    return PoolResult(examiner.states, oracles, time.monotonic() - started, link.cancelled())


class _Examiner:
    def __init__(
        self, link: Link, runs: PolicyRuns, entries: Sequence[PoolEntry], options: ExamineOptions
    ) -> None:
        self._link, self._runs, self._entries, self._options = link, runs, entries, options
        self._ids = runs.table.add([entry.state for entry in entries]).tolist()
        results = runs.run(self._ids, options.step_limit, link.cancelled)
        self.states = tuple(
            PoolState(entry.state, outcome, int(cost) if outcome is RunOutcome.SOLVED else None)
            for entry, outcome, cost in zip(entries, results.outcome, results.cost, strict=True)
        )

    def results(self, portfolio: Portfolio | None) -> Iterator[OracleResult]:
        for name in dict.fromkeys(self._options.oracles):
            try:
                self._link.check()
                yield self._result(name, portfolio)
            except CancelledError:  # before its first examination
                return

    def _result(self, name: str, portfolio: Portfolio | None) -> OracleResult:
        link, ids = self._link, self._ids
        session = OracleSession(
            self._runs,
            objective.OBJECTIVES[self._options.objective],
            self._options.step_limit,
            link.control,
            portfolio,
        )
        for state, entry in zip(ids, self._entries, strict=True):
            if entry.reference >= 0:
                session.origins[state] = Origin(ids[entry.reference], entry.operators)
        oracle = registry.make_oracle(name, session)
        verdicts: dict[int, OracleVerdict] = {}
        with suppress(CancelledError):  # what is known so far is told
            for number, state in enumerate(ids):
                verdict = session.test(state, oracle).verdict
                link.check()
                verdicts[number] = verdict
                link.progress(number + 1, len(ids), f"{name}: {len(session.findings)} bugs")
        contest, found, pool = contest_of(oracle), session.findings, set(ids)
        return OracleResult(
            name,
            verdicts,
            {number: _flag(found[state]) for number, state in enumerate(ids) if state in found},
            tuple(_flag(finding) for state, finding in found.items() if state not in pool),
            None if contest is None else tuple(_standings(contest, session)),
        )


def _flag(finding: Finding) -> Flag:
    return Flag(finding.state, finding.gap, finding.bound, finding.evidence)


def _standings(contest: Contest, session: OracleSession) -> Iterator[Standing]:
    proofs = Counter(
        origin
        for finding in session.findings.values()
        for origin in {step.origin for step in finding.evidence.steps}
    )
    for score in contest.scores:
        name = score.member.name
        beaten = tuple(session.values(state) for state in score.beaten)
        yield Standing(name, score.runs, beaten, proofs[name])
