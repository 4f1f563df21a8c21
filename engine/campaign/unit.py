"""One unit of a campaign: one problem, one policy, one seed.

The fuzzer grows a pool, and every state that enters it is examined by all oracles at once. The
same unit gives the same events in the same order, except for their times, as long as it reaches no
limit of its time or memory; that makes a campaign repeatable, and lets it be resumed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing

from engine.campaign.contestants import Contestants
from engine.campaign.findings import FindingUnit, UnitFindings, Withdraw
from engine.campaign.oracle_answers import OracleCounts, PoolState, Tested, answer_of, rivals_of
from engine.dominance.checker import DominanceChecker
from engine.errors import CancelledError, DiskError, PlumblineError, PolicyLostError
from engine.fuzzing.biases import make_bias
from engine.fuzzing.fuzzer import BLOCK, LARGE_BLOCK, Fuzzer, FuzzOptions
from engine.fuzzing.imported_pool import ImportedPool, MadePool
from engine.localize.localizer import Localizer
from engine.localize.run_searches import LocalizationLimits
from engine.oracles.clock import OracleClock
from engine.oracles.objective import OBJECTIVES
from engine.oracles.obstacle import describe_obstacle
from engine.oracles.registry import factorizations, prepare_oracle
from engine.oracles.session import Oracle, OracleSession, Origin
from engine.oracles.solo import Terms
from engine.policies.policy import bound_policy, notes_of
from engine.policies.portfolio import Portfolio, open_portfolio
from engine.policies.runs import PolicyRuns
from engine.records.config import Mode, OracleSettings, Unit, UnitLimits
from engine.records.events import (
    BugLocalized,
    FindingReported,
    OracleAnswer,
    OracleStatistics,
    RegionsChanged,
    RivalStatistics,
    RunFinished,
    StateAdded,
    StateTested,
    TaskReady,
    UnitFailed,
    UnitFinished,
    UnitProgress,
    UnitStarted,
    UnitStatistics,
    UnitStopped,
    Warned,
)
from engine.records.evidence import State
from engine.records.finding import Finding, RunOutcome
from engine.task.sas import write_sas
from engine.task.states import StateTable
from engine.task.task import Task
from engine.task.unpacked import UnpackedInputs, unpack_inputs
from engine.verify.claims import better_evidence, find_problem
from engine.workers.limits import peak_megabytes
from engine.workers.link import WorkerLink

PROGRESS_SECONDS = 0.5


def run_unit(link: WorkerLink, unit: Unit) -> None:
    """Work on a unit until it is done; the last event says how it ended."""
    link.emit(UnitStarted(unit.number, unit.problem.name, unit.policy.name, unit.seed))
    try:
        _unpack_and_work(unit, link)
    except DiskError as error:  # there was no room for the files
        link.emit(UnitFailed(unit.number, str(error)))


def _unpack_and_work(unit: Unit, link: WorkerLink) -> None:
    with unpack_inputs(unit.problem, unit.policy, unit.portfolio) as files:
        try:
            _work(unit, files, link)
        except MemoryError:
            if not link.memory_is_over():
                raise
            link.emit(_nothing_tested(unit, link))
        except CancelledError:
            link.emit(_nothing_tested(unit, link) if link.limit else UnitStopped(unit.number))
        except PlumblineError as error:
            lost = isinstance(error, PolicyLostError)
            link.emit(UnitFailed(unit.number, files.original(str(error)), lost))


def _work(unit: Unit, files: UnpackedInputs, link: WorkerLink) -> None:
    task = files.load_task(link.cancelled)
    link.emit(
        TaskReady(
            unit.number,
            write_sas(task),
            task.hash,
            len(task.variables),
            len(task.operators),
            link.seconds,
        )
    )
    for note in task.notes:
        link.emit(Warned(unit.number, files.original(note)))
    with bound_policy(files.policy_spec, task, unit.seed) as bound:
        for note in notes_of(bound):
            link.emit(Warned(unit.number, files.original(note)))
        runs = PolicyRuns(bound, StateTable(task))
        rivals = open_portfolio(files.portfolio_specs, runs.table, unit.seed, link.cancelled)
        with closing(rivals):
            _Work(unit, runs, rivals, link).run()


class _Team:
    """Oracles that share one session, so that all together find as much as possible.

    Which of them would have proved a bug alone is unknown.
    """

    touched = policy_calls = policy_states = 0  # beyond the shared table and the shared runs
    policy_errors = ()

    def __init__(
        self, testing: OracleSettings, limits: UnitLimits, session: OracleSession, unit: FindingUnit
    ) -> None:
        self._session, self._unit = session, unit
        self._skips = testing.skip_known_bugs
        self._members: list[tuple[str, OracleClock, Oracle | None]] = []
        for name in testing.oracles:
            clock = OracleClock(limits)
            self._members.append((name, clock, prepare_oracle(name, session, clock)))
        self._counts = OracleCounts()

    def examine(self, tested: PoolState) -> Tested:
        """Let all oracles examine a state, and report what they find."""
        answers: list[OracleAnswer] = []
        reported = self._unit.findings.reported
        for name, clock, oracle in self._members:
            if self._skips and tested.values in reported:
                break
            if oracle is None or clock.limit:
                continue
            examined = self._session.test(tested.state, oracle, clock)
            # What a stopped examination found is sound but not repeatable: it is not reported.
            self._unit.look()
            for finding in examined.findings:
                known = reported.get(finding.state)
                confirmed = self._unit.confirm(finding, known, self._session.withdraw)
                if confirmed is not None:
                    self._unit.report(confirmed)
            answers.append(answer_of(name, examined, reported.get(tested.values)))
        self._counts.add_answers(answers, tested)
        return Tested(tuple(answers))

    def statistics(self) -> tuple[OracleStatistics, ...]:
        first = self._unit.findings.first
        return tuple(self._counts.of(name, clock, first[name]) for name, clock, _ in self._members)

    def rivals(self) -> Iterator[RivalStatistics]:
        for name, _, oracle in self._members:
            yield from rivals_of(name, oracle)


class _Work:
    """The loop over pool states."""

    def __init__(
        self, unit: Unit, runs: PolicyRuns, portfolio: Portfolio, link: WorkerLink
    ) -> None:
        self.unit, self.runs, self.link = unit, runs, link
        self.table: StateTable = runs.table
        self.task: Task = runs.table.task
        testing = unit.testing
        self.warnings: set[str] = set()
        used = factorizations(testing.oracles, testing.factors)
        self.dominance = DominanceChecker(self.task, used, link.control)
        self.findings = UnitFindings(self.task)
        self.session = OracleSession(
            self.runs,
            OBJECTIVES[testing.objective],
            testing.step_limit,
            link.control,
            portfolio if unit.portfolio else None,
            factors=testing.factors,
        )
        if used and (note := describe_obstacle(self.task)):
            self._warn(note)
        self.oracles = self._make_oracles()
        self.fuzzer = make_fuzzer(unit, self.runs, link.cancelled)
        self.pool: list[int] = []  # state ids by number
        self.tested = self.solved = self.localized = self.foreseen = 0
        self.limit = ""  # the one that ended it early
        self.last_progress = 0.0

    def _make_oracles(self) -> _Team | Contestants:
        testing, limits, session = self.unit.testing, self.unit.limits, self.session
        if testing.mode is Mode.HUNT:
            return _Team(testing, limits, session, self)
        terms = Terms(
            self.runs,
            session.origins,
            session.objective,
            session.step_limit,
            session.factors,
            session.portfolio,
            limits,
            self.link.control,
        )
        contestants = Contestants(testing.oracles, terms, self)
        for text in contestants.weakened:
            self._warn(text)
        return contestants

    def look(self) -> None:
        """Raise after an examination if the unit cannot continue."""
        self.link.check()
        self._refuse_loss()

    def confirm(
        self, finding: Finding, known: Finding | None, withdraw: Withdraw
    ) -> Finding | None:
        """Return the finding if separate code confirms it, or what is left of it."""
        problem = find_problem(finding, self.task, self.dominance)
        if not problem:
            return finding
        self._warn_once(f"findings of {finding.oracle} were dropped: {problem}")
        rest = withdraw(finding, known)
        return None if rest is None else self.confirm(rest, known, withdraw)

    def report(self, finding: Finding) -> None:
        """Report a finding that holds and is new, or better than the known one."""
        retrospective = finding.state in self.findings.cleared
        self.link.emit(FindingReported(self.unit.number, finding, retrospective, self.link.seconds))
        self.findings.add(finding)

    @property
    def _size(self) -> int:
        is_given = self.unit.pool is not None or self.unit.made
        return len(self.fuzzer.entries) if is_given else self.unit.fuzzing.size

    def run(self) -> None:
        try:
            for number in self.fuzzer.grow():
                self._refuse_loss()
                self._take(number)
                self._test(number)
                self._report_progress()
            if self.tested < self._size and not self.fuzzer.complete:
                self._warn(f"random walks found {self.tested} of {self._size} states")
            self._localize()
        except MemoryError:
            if not self.link.memory_is_over():
                raise
            self._end_early()
        except CancelledError:
            if not self.link.limit:
                raise
            self._end_early()
        self._report_regions()
        self.link.emit(UnitFinished(self.unit.number, self._statistics()))

    def _end_early(self) -> None:
        self.limit = self.link.limit
        if self.tested < self._size:
            self._warn(f"{self.limit}: {self.tested} of {self._size} states were tested")
        left = len(self.findings.reported) - self.localized
        if left and self.unit.localization.enabled:
            self._warn(f"{self.limit} before {left} bugs were localized")

    def _take(self, number: int) -> None:
        """Add a state to the pool and run the policy in it."""
        entry = self.fuzzer.entries[number]
        (state,) = self.table.add(entry.state).tolist()
        self.pool.append(state)
        self.findings.enter(entry.state)
        operators = entry.operators or ()
        if entry.reference >= 0:
            self.session.origins[state] = Origin(self.pool[entry.reference], operators)
        self.link.emit(
            StateAdded(
                self.unit.number,
                number,
                entry.state,
                entry.reference,
                operators,
                self.link.seconds,
            )
        )
        self.runs.ask_ahead(state, self._later_states, self.session.step_limit, self.link.cancelled)
        self.session.run_policy(state)
        self._refuse_loss()
        run = self.session.trace(state)
        self.link.emit(
            RunFinished(
                self.unit.number,
                number,
                run.outcome,
                run.reason,
                run.cost,
                self.link.seconds,
            )
        )

    def _later_states(self, most: int) -> list[State]:
        """At most so many states of the pool that come later, each only once."""
        first = max(self.foreseen, len(self.pool))
        states = [entry.state for entry in self.fuzzer.entries[first : first + most]]
        self.foreseen = first + len(states)
        return states

    def _refuse_loss(self) -> None:
        """Raise if the policy is lost; the unit is run again when it is back."""
        if self.runs.lost is not None:
            raise self.runs.lost

    def _test(self, number: int) -> None:
        values = self.fuzzer.entries[number].state
        solved = self.session.trace(self.pool[number]).outcome is RunOutcome.SOLVED
        tested = self.oracles.examine(PoolState(number, self.pool[number], values, solved))
        self.solved += solved
        if values not in self.findings.reported:
            self.findings.cleared.add(values)
        self.tested += 1
        self.link.emit(
            StateTested(self.unit.number, number, tested.answers, self.link.seconds, tested.flags)
        )
        if self.findings.regions.due:
            self._report_regions()

    def _localize(self) -> None:
        """Localize all bugs; bounds found for one serve the next ones."""
        settings = self.unit.localization
        if not settings.enabled:
            return
        localizer = Localizer(
            self.table, control=self.link.control, emit=lambda _: self.link.check()
        )
        left = settings.unit_expansions
        for finding in self.findings.reported.values():
            limits = LocalizationLimits(
                search_expansions=settings.search_expansions,
                total_expansions=min(settings.bug_expansions, left),
                total_seconds=settings.bug_seconds,
            )
            found = localizer.localize_finding(finding, limits)
            # What a stopped localization found is sound but not repeatable: it is not reported.
            self.link.check()
            left -= found.expanded
            self.localized += 1
            better = better_evidence(finding, found, self.task)
            self.link.emit(
                BugLocalized(self.unit.number, finding.state, found, better, self.link.seconds)
            )
            self._report_progress()

    def _report_regions(self) -> None:
        if changes := self.findings.regions.changes():
            self.link.emit(RegionsChanged(self.unit.number, tuple(changes)))

    def _report_progress(self) -> None:
        for text in (*self.session.policy_errors, *self.oracles.policy_errors):
            self._warn_once(text)
        now = time.monotonic()
        if now - self.last_progress >= PROGRESS_SECONDS:
            self.last_progress = now
            self.link.emit(UnitProgress(self.unit.number, self._statistics()))

    def _statistics(self) -> UnitStatistics:
        fuzzing, policy = self.fuzzer.statistics, self.runs.statistics
        return UnitStatistics(
            states=len(self.pool),
            solved=self.solved,
            size=self._size,
            bugs=len(self.findings.reported),
            pool_bugs=self.findings.pool_bugs,
            localized=self.localized,
            walks=fuzzing.walks,
            duplicates=fuzzing.duplicates,
            filtered=fuzzing.filtered,
            failed_walks=fuzzing.failed_walks,
            complete=self.fuzzer.complete,
            policy_calls=policy.calls + self.oracles.policy_calls,
            policy_states=policy.evaluated + self.oracles.policy_states,
            policy_seconds=policy.seconds,
            touched_states=len(self.table) + self.oracles.touched,
            peak_megabytes=peak_megabytes(),
            seconds=self.link.seconds,
            oracles=self.oracles.statistics(),
            portfolio=tuple(self.oracles.rivals()),
            limit=self.limit,
        )

    def _warn_once(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.add(text)
            self._warn(text)

    def _warn(self, text: str) -> None:
        self.link.emit(Warned(self.unit.number, text))


def _nothing_tested(unit: Unit, link: WorkerLink) -> UnitFailed:
    return UnitFailed(unit.number, f"{link.limit}, before it could test a state")


_WALKS, _WALKS_PER_STATE = 200, 20
"""The number of walks without a time limit: a small problem may not have enough states."""


def make_fuzzer(
    unit: Unit, runs: PolicyRuns, cancelled: Callable[[], bool]
) -> Fuzzer | ImportedPool | MadePool:
    """Return the source of states: an imported pool, an earlier one, or random walks."""
    if unit.pool:
        return ImportedPool(unit.pool, runs.table.task)
    if unit.made:
        return MadePool(unit.made, complete=unit.made_complete)
    settings = unit.fuzzing
    # What oracles find out about the policy must not change the pool: their budget is their own.
    bias = make_bias(
        settings.bias,
        runs.apart(),
        horizon=settings.horizon or None,
        budget=settings.budget or None,
        cancelled=cancelled,
    )
    options = FuzzOptions(
        size=settings.size,
        walk_length=settings.walk_length,
        seed=unit.seed,
        novelty=settings.novelty,
        unsolved=settings.unsolved,
        seconds=settings.seconds,
        walks=None if settings.seconds else _WALKS + _WALKS_PER_STATE * settings.size,
        block=LARGE_BLOCK if runs.kernel is None else BLOCK,
    )
    return Fuzzer(runs.table, bias, options, cancelled)
