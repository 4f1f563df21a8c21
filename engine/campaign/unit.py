"""One unit of a campaign: one problem, one policy, one seed, one session.

The fuzzer grows a pool, and every state that enters it is examined by all oracles at once. The
same unit gives the same events in the same order, but for their times, as long as it reaches no
limit of its time or memory; that is what makes a campaign repeatable and lets it be taken up again.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing

from engine.campaign.regions import Regions
from engine.dominance.checker import DominanceChecker
from engine.errors import CancelledError, DiskError, PlumblineError, PolicyLostError
from engine.fuzzing.biases import make_bias
from engine.fuzzing.fuzzer import Fuzzer, FuzzOptions
from engine.fuzzing.imported_pool import ImportedPool
from engine.localize.localizer import Localizer
from engine.localize.run_searches import LocalizationLimits
from engine.oracles.objective import OBJECTIVES
from engine.oracles.pco import contest_of
from engine.oracles.registry import factorizations, make_oracle
from engine.oracles.session import Examination, Oracle, OracleSession, Origin
from engine.policies.policy import close_policy, notes_of, open_policy
from engine.policies.portfolio import Portfolio, open_portfolio
from engine.policies.runs import PolicyRuns
from engine.records.config import Unit
from engine.records.events import (
    BugLocalized,
    FindingReported,
    OracleAnswer,
    OracleStatistics,
    OracleVerdict,
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
from engine.records.finding import INFINITY, Finding
from engine.task.sas import write_sas
from engine.task.states import StateTable
from engine.task.task import Task
from engine.task.unpacked import UnpackedInputs, unpack_inputs
from engine.verify.claims import better_evidence, find_problem
from engine.workers.limits import peak_megabytes
from engine.workers.link import WorkerLink


class OracleCounts:
    def __init__(self, oracles: Sequence[str]) -> None:
        self._oracles = tuple(oracles)
        self._examined: Counter[str] = Counter()
        self._optimal: Counter[str] = Counter()
        self._bugs: Counter[str] = Counter()
        self._unique: Counter[str] = Counter()
        self._first: Counter[str] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def add_answers(self, answers: Sequence[OracleAnswer]) -> None:
        """All answers about one state."""
        for answer in answers:
            self._examined[answer.oracle] += 1
            self._seconds[answer.oracle] += answer.seconds
            self._optimal[answer.oracle] += answer.verdict is OracleVerdict.OPTIMAL
        successful = [answer.oracle for answer in answers if answer.verdict is OracleVerdict.BUG]
        self._bugs.update(successful)
        if len(successful) == 1:
            self._unique[successful[0]] += 1

    def add_finding(self, oracle: str) -> None:
        self._first[oracle] += 1

    def result(self) -> tuple[OracleStatistics, ...]:
        return tuple(
            OracleStatistics(
                oracle=name,
                examined=self._examined[name],
                bugs=self._bugs[name],
                unique=self._unique[name],
                optimal=self._optimal[name],
                first=self._first[name],
                seconds=self._seconds[name],
            )
            for name in self._oracles
        )


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
    domain = task.source.domain if task.source else None
    policy = open_policy(files.policy_spec, domain, unit.seed)
    try:
        bound = policy.bind(task)
        try:
            for note in notes_of(bound):
                link.emit(Warned(unit.number, files.original(note)))
            runs = PolicyRuns(bound, StateTable(task))
            rivals = open_portfolio(files.portfolio_specs, runs.table, unit.seed, link.cancelled)
            with closing(rivals):
                _Work(unit, runs, rivals, link).run()
        finally:
            close_policy(bound)
    finally:
        close_policy(policy)


class _Work:
    """The loop over pool states."""

    def __init__(
        self, unit: Unit, runs: PolicyRuns, portfolio: Portfolio, link: WorkerLink
    ) -> None:
        self.unit, self.runs, self.link = unit, runs, link
        self.table: StateTable = runs.table
        self.task: Task = runs.table.task
        testing = unit.testing
        self.session = OracleSession(
            self.runs,
            OBJECTIVES[testing.objective],
            testing.step_limit,
            link.control,
            portfolio if unit.portfolio else None,
        )
        self.oracles: list[Oracle] = [make_oracle(text, self.session) for text in testing.oracles]
        self.dominance = DominanceChecker(self.task, factorizations(testing.oracles), link.control)
        self.fuzzer = ImportedPool(unit.pool, self.task) if unit.pool else self._make_fuzzer()
        self.counts = OracleCounts(testing.oracles)
        self.regions = Regions(self.task)
        self.pool: list[int] = []  # state ids by number
        self.reported: dict[State, Finding] = {}
        self.tested = self.localized = 0
        self.limit = ""  # the one that ended it early
        self.cleared: set[State] = set()  # pool states examined without success
        self.last_progress = 0.0
        self.warnings: set[str] = set()

    def _make_fuzzer(self) -> Fuzzer:
        settings = self.unit.fuzzing
        bias = make_bias(
            settings.bias,
            self.runs,
            horizon=settings.horizon,
            budget=settings.budget,
            cancelled=self.link.cancelled,
        )
        options = FuzzOptions(
            size=settings.size,
            walk_length=settings.walk_length,
            seed=self.unit.seed,
            novelty=settings.novelty,
            prune_dead_ends=settings.prune_dead_ends,
            unsolved=settings.unsolved,
            walks=_WALKS + _WALKS_PER_STATE * settings.size,
        )
        return Fuzzer(self.table, bias, options, self.link.cancelled)

    @property
    def _size(self) -> int:
        return self.unit.fuzzing.size if self.unit.pool is None else len(self.fuzzer.entries)

    def run(self) -> None:
        try:
            for number in self.fuzzer.grow():
                self._refuse_loss()
                self._take(number)
                self._test(number)
                self._report_progress()
            if self.tested < self._size:
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
        left = len(self.reported) - self.localized
        if left and self.unit.localization.enabled:
            self._warn(f"{self.limit} before {left} bugs were localized")

    def _take(self, number: int) -> None:
        """A new pool state, and how the policy does in it."""
        entry = self.fuzzer.entries[number]
        (state,) = self.table.add(entry.state).tolist()
        self.pool.append(state)
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
        self.session.run_policy(state)
        self._refuse_loss()
        run = self.runs.trace(state)
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

    def _refuse_loss(self) -> None:
        """Without the policy nothing is worth doing; the unit is done again when it is back."""
        if self.runs.lost is not None:
            raise self.runs.lost

    def _test(self, number: int) -> None:
        state, values = self.pool[number], self.fuzzer.entries[number].state
        answers: list[OracleAnswer] = []
        for oracle in self.oracles:
            if self.unit.testing.skip_known_bugs and values in self.reported:
                break
            began = time.perf_counter()
            examination = self.session.test(state, oracle)
            # What a stopped examination found is sound but not repeatable: it is not reported.
            self.link.check()
            self._refuse_loss()
            seconds = time.perf_counter() - began
            for finding in examination.findings:
                self._report(finding)
            answers.append(self._answer(oracle.name, values, examination, seconds))
        if values not in self.reported:
            self.cleared.add(values)
        self.counts.add_answers(answers)
        self.tested += 1
        self.link.emit(StateTested(self.unit.number, number, tuple(answers), self.link.seconds))
        if self.regions.due:
            self._report_regions()

    def _answer(
        self, oracle: str, state: State, examination: Examination, seconds: float
    ) -> OracleAnswer:
        """What the oracle proved, as far as it could be confirmed."""
        verdict, bound = examination.verdict, examination.bound
        if verdict is OracleVerdict.BUG:
            if state in self.reported:
                bound = max(bound, self.reported[state].bound)
            else:
                verdict, bound = OracleVerdict.NOT_REFUTED, INFINITY
        return OracleAnswer(oracle, verdict, None if bound == INFINITY else bound, seconds)

    def _report(self, finding: Finding) -> None:
        """Tell of a finding, once it has been verified by code that shares nothing with it."""
        known = self.reported.get(finding.state)
        if problem := find_problem(finding, self.task, self.dominance):
            self._warn_once(f"findings of {finding.oracle} were dropped: {problem}")
            if (rest := self.session.withdraw(finding, known)) is not None:
                self._report(rest)
            return
        retrospective = finding.state in self.cleared
        self.link.emit(FindingReported(self.unit.number, finding, retrospective, self.link.seconds))
        self.reported[finding.state] = finding
        if known is None:
            self.regions.add(finding.state)
            self.counts.add_finding(finding.oracle)

    def _localize(self) -> None:
        """Bad steps on the runs of all bugs; what one of them teaches the next ones know."""
        settings = self.unit.localization
        if not settings.enabled:
            return
        localizer = Localizer(
            self.table, control=self.link.control, emit=lambda _: self.link.check()
        )
        left = settings.unit_expansions
        for finding in self.reported.values():
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
        if changes := self.regions.changes():
            self.link.emit(RegionsChanged(self.unit.number, tuple(changes)))

    def _report_progress(self) -> None:
        for text in self.runs.statistics.errors:
            self._warn_once(f"the policy failed: {text}")
        now = time.monotonic()
        if now - self.last_progress >= PROGRESS_SECONDS:
            self.last_progress = now
            self.link.emit(UnitProgress(self.unit.number, self._statistics()))

    def _statistics(self) -> UnitStatistics:
        fuzzing, policy = self.fuzzer.statistics, self.runs.statistics
        return UnitStatistics(
            states=len(self.pool),
            size=self._size,
            bugs=len(self.reported),
            localized=self.localized,
            walks=fuzzing.walks,
            duplicates=fuzzing.duplicates,
            filtered=fuzzing.filtered,
            failed_walks=fuzzing.failed_walks,
            policy_calls=policy.calls,
            policy_states=policy.evaluated,
            policy_seconds=policy.seconds,
            touched_states=len(self.table),
            peak_megabytes=peak_megabytes(),
            seconds=self.link.seconds,
            oracles=self.counts.result(),
            portfolio=tuple(self._rivals()),
            limit=self.limit,
        )

    def _rivals(self) -> Iterator[RivalStatistics]:
        for oracle in self.oracles:
            if (contest := contest_of(oracle)) is not None:
                for score in contest.scores:
                    yield RivalStatistics(
                        oracle.name, score.member.name, score.runs, len(score.beaten)
                    )

    def _warn_once(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.add(text)
            self._warn(text)

    def _warn(self, text: str) -> None:
        self.link.emit(Warned(self.unit.number, text))


_WALKS, _WALKS_PER_STATE = 200, 20
"""How often to walk before the pool counts as full: a small problem may not have enough states."""


def _nothing_tested(unit: Unit, link: WorkerLink) -> UnitFailed:
    return UnitFailed(unit.number, f"{link.limit}, before it could test a state")
