"""Lets oracles examine the states of a pool: one after the other by itself, or all as a team."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from engine.errors import CancelledError
from engine.fuzzing.pool_file import PoolEntry, read_pool
from engine.oracles import objective, registry
from engine.oracles.clock import OracleClock
from engine.oracles.obstacle import describe_obstacle
from engine.oracles.pco import Contest, contest_of
from engine.oracles.session import Oracle, OracleSession, Origin
from engine.oracles.solo import SoloOracle, Terms
from engine.policies.policy import bound_policy
from engine.policies.portfolio import Portfolio, named_policies, open_portfolio
from engine.policies.runs import STEP_LIMIT, PolicyRuns
from engine.records.config import Mode, OracleSettings, UnitLimits
from engine.records.events import OracleVerdict
from engine.records.evidence import Evidence, State
from engine.records.finding import Finding, RunOutcome
from engine.search.effort import Effort
from engine.task.states import StateTable
from engine.task.task import Task
from engine.workers.link import Link

MODES = tuple(mode.value for mode in Mode)
OBJECTIVES = tuple(objective.OBJECTIVES)
ORACLES = tuple(registry.ORACLES)


@dataclass(frozen=True, slots=True)
class ExamineOptions:
    oracles: tuple[str, ...]
    portfolio: tuple[str, ...] = ()  # policies, and folders of policies, to compare with
    objective: str = "any"
    step_limit: int | None = STEP_LIMIT
    seed: int = 0
    mode: Mode = Mode.COMPARE


@dataclass(frozen=True, slots=True)
class Flag:
    """A bug that one oracle proves; the gap is None if the policy fails."""

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
    """One oracle's work on the pool, or on a part of it if it was stopped; by state number.

    In a team, flags rest on shared bounds, and bugs that an examination of another state proves
    belong to the first finder.
    """

    oracle: str
    verdicts: dict[int, OracleVerdict]
    flags: dict[int, Flag]
    by_products: tuple[Flag, ...]  # bugs outside the pool that were found on the way
    portfolio: tuple[Standing, ...] | None  # None: the oracle runs no other policies
    effort: Effort
    factors: str  # of its dominance function: "atomic", "merged", or empty


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
    policy_calls: int
    policy_states: int
    stopped: bool  # by the user; results so far are returned
    policy_errors: tuple[str, ...] = ()  # what happened where policies gave no answer


def declined_by(oracles: Iterable[str], task: Task) -> str:
    """What these oracles cannot do on the task and what they do instead, or nothing."""
    return describe_obstacle(task) if registry.factorizations(oracles) else ""


def examine_pool(
    link: Link, task: Task, policy: str, pool: Path, options: ExamineOptions
) -> PoolResult:
    """Run a policy from all states of a pool file and let oracles judge it."""
    entries = read_pool(pool, task)
    rivals = named_policies(options.portfolio)
    started = time.monotonic()
    with bound_policy(policy, task, options.seed) as bound:
        table = StateTable(task)
        pool_test = _PoolTest(link, PolicyRuns(bound, table), entries, options)
        with closing(open_portfolio(rivals, table, options.seed, link.cancelled)) as portfolio:
            oracles = tuple(pool_test.results(portfolio if rivals else None))
    return PoolResult(
        pool_test.states,
        oracles,
        time.monotonic() - started,
        pool_test.policy_calls,
        pool_test.policy_states,
        link.cancelled(),
        tuple(pool_test.policy_errors),
    )


class _PoolTest:
    def __init__(
        self, link: Link, runs: PolicyRuns, entries: Sequence[PoolEntry], options: ExamineOptions
    ) -> None:
        self._link, self._runs, self._options = link, runs, options
        self._own_calls = self._own_states = 0  # of oracles with runs of their own
        self._ids = runs.table.add([entry.state for entry in entries]).tolist()
        self._origins = {
            state: Origin(self._ids[entry.reference], entry.operators)
            for state, entry in zip(self._ids, entries, strict=True)
            if entry.reference >= 0
        }
        results = runs.run(self._ids, options.step_limit, link.cancelled)
        self._refuse_loss()
        errors = (f"the policy failed: {text}" for text in runs.statistics.errors)
        self.policy_errors = dict.fromkeys(errors)
        self.states = tuple(
            PoolState(entry.state, outcome, int(cost) if outcome is RunOutcome.SOLVED else None)
            for entry, outcome, cost in zip(entries, results.outcome, results.cost, strict=True)
        )

    @property
    def policy_calls(self) -> int:
        return self._runs.statistics.calls + self._own_calls

    @property
    def policy_states(self) -> int:
        return self._runs.statistics.evaluated + self._own_states

    def _refuse_loss(self) -> None:
        """Raise if the policy no longer answers."""
        if self._runs.lost is not None:
            raise self._runs.lost

    def results(self, portfolio: Portfolio | None) -> Iterator[OracleResult]:
        if self._options.mode is Mode.HUNT:
            yield from self._team(portfolio)
            return
        for name in dict.fromkeys(self._options.oracles):
            try:
                self._link.check()
                yield self._alone(name, portfolio)
            except CancelledError:  # before its first examination
                return

    def _alone(self, name: str, portfolio: Portfolio | None) -> OracleResult:
        testing = OracleSettings((name,), mode=Mode.COMPARE)
        terms = Terms(
            self._runs,
            self._origins,
            objective.OBJECTIVES[self._options.objective],
            self._options.step_limit,
            testing.factors,
            portfolio,
            UnitLimits(),
            self._link.control,
        )
        oracle = SoloOracle(name, terms)
        verdicts: dict[int, OracleVerdict] = {}
        found: dict[State, Finding] = {}
        with suppress(CancelledError):  # return results so far
            for number, state in enumerate(self._ids):
                examined = oracle.examine(state)
                self._link.check()
                assert examined is not None  # it has no limits
                verdicts[number] = examined.verdict
                found.update({one.state: one for one in examined.findings})
                self._link.progress(number + 1, len(self._ids), f"{name}: {len(found)} bugs")
        self._own_calls += oracle.policy_calls
        self._own_states += oracle.policy_states
        self.policy_errors.update(oracle.policy_errors)
        contest = None if oracle.oracle is None else contest_of(oracle.oracle)
        pool = {tested.state for tested in self.states}
        return OracleResult(
            name,
            verdicts,
            {
                number: _flag(found[tested.state])
                for number, tested in enumerate(self.states)
                if tested.state in found
            },
            tuple(_flag(finding) for state, finding in found.items() if state not in pool),
            None if contest is None else tuple(_standings(contest, oracle.values, found.values())),
            oracle.clock.spent,
            oracle.clock.factors,
        )

    def _team(self, portfolio: Portfolio | None) -> Iterator[OracleResult]:
        session = OracleSession(
            self._runs,
            objective.OBJECTIVES[self._options.objective],
            self._options.step_limit,
            self._link.control,
            portfolio,
        )
        session.origins.update(self._origins)
        clocks = {name: OracleClock() for name in self._options.oracles}
        verdicts: dict[str, dict[int, OracleVerdict]] = {name: {} for name in clocks}
        oracles: dict[str, Oracle | None] = {}
        with suppress(CancelledError):
            for name, clock in clocks.items():
                oracles[name] = registry.prepare_oracle(name, session, clock)
            for number, state in enumerate(self._ids):
                for name, clock in clocks.items():
                    oracle = oracles[name]
                    assert oracle is not None  # it has no limits
                    examined = session.test(state, oracle, clock)
                    self._link.check()
                    self._refuse_loss()
                    verdicts[name][number] = examined.verdict
                text = f"{len(session.findings)} bugs"
                self._link.progress(number + 1, len(self._ids), text)
        self.policy_errors.update(dict.fromkeys(session.policy_errors))
        found = {finding.state: finding for finding in session.findings.values()}
        pool = {tested.state for tested in self.states}
        for name, clock in clocks.items():
            working = oracles.get(name)
            contest = None if working is None else contest_of(working)
            first = [finding for finding in found.values() if finding.oracle == name]
            yield OracleResult(
                name,
                verdicts[name],
                {
                    number: _flag(finding)
                    for number, tested in enumerate(self.states)
                    if (finding := found.get(tested.state)) is not None
                    and (
                        verdicts[name].get(number) is OracleVerdict.BUG
                        or finding.oracle == name  # also of a state that was examined before
                    )
                },
                tuple(_flag(finding) for finding in first if finding.state not in pool),
                None if contest is None else tuple(_standings(contest, session.values, first)),
                clock.spent,
                clock.factors,
            )


def _flag(finding: Finding) -> Flag:
    return Flag(finding.state, finding.gap, finding.bound, finding.evidence)


def _standings(
    contest: Contest, values: Callable[[int], State], findings: Iterable[Finding]
) -> Iterator[Standing]:
    proofs = Counter(
        origin
        for finding in findings
        for origin in {step.origin for step in finding.evidence.steps}
    )
    for score in contest.scores:
        name = score.member.name
        beaten = tuple(values(state) for state in score.beaten)
        yield Standing(name, score.runs, beaten, proofs[name])
