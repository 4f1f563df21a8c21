"""All claims about one unit: its pool, what oracles say about it, its bugs and its totals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from engine.dominance.checker import TOO_LARGE, DominanceChecker
from engine.errors import PlumblineError, WorkspaceError
from engine.records.config import CampaignConfig, OracleSettings
from engine.records.evidence import State
from engine.records.finding import INFINITY, BugKind, Finding, RunOutcome
from engine.records.verification import (
    HOLDS,
    CheckedClaim,
    ClaimKind,
    PolicyReply,
    Standing,
    Verdict,
    false,
    undecided,
)
from engine.task.task import Task
from engine.verify.claims import find_gap_problem, find_run_problem
from engine.verify.cost_to_go import CostToGo
from engine.verify.evidence import verify
from engine.verify.localization import check_cause, check_localization
from engine.verify.optimality import check_answer, check_at_most, check_flag
from engine.verify.reachability import Reached, check_bug_state, check_complete, check_pool
from engine.verify.run import Decisions, check_pool_run, check_run
from engine.verify.semantics import find_state_problem
from engine.verify.statistics import UnitRows, check_regions, check_statistics
from engine.verify.val import Plan, SecondOpinions
from engine.workers.link import Link
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import AnswerRow, Bug, BugRow, FlagRow, PoolRow, UnitRow

_LAST = 2**62
_BATCH = 100
"""Bugs that are read at a time, with one call of VAL for their plans."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a unit is about: its campaign, and its task with all that is known of it."""

    config: CampaignConfig
    task: Task
    costs: CostToGo
    dominance: DominanceChecker
    has_morphs: bool  # oracles used dominance functions
    imported: tuple[State, ...] | None  # the states of an imported pool
    opinions: SecondOpinions | None = None  # VAL's, if it is there and can read the files


class UnitClaims:
    """Iterate over `claims`; then `replies` and `plans` are there as well."""

    def __init__(
        self,
        store: WorkspaceReader,
        row: UnitRow,
        subject: Subject,
        bugs: Sequence[BugRow],
        *,
        link: Link,
    ) -> None:
        self.row = row
        self.replies: list[PolicyReply] = []
        self.plans: list[tuple[int, int]] = []  # bugs, and how many of their plans VAL accepts
        self._store, self._bugs, self._link = store, bugs, link
        self._config, self._task, self._costs = subject.config, subject.task, subject.costs
        self._imported, self._has_morphs = subject.imported, subject.has_morphs
        self._dominance, self._opinions = subject.dominance, subject.opinions
        self._damage = ""  # why the pool cannot be read
        self._pool: list[PoolRow] = []
        try:
            self._pool = store.pool(row.id)
        except WorkspaceError as error:
            self._damage = error.message
        self._answers: list[AnswerRow] = store.answers(row.id, 0, _LAST)
        self._flags: list[FlagRow] = store.flags(row.id)
        longest = self._config.fuzzing.walk_length
        self._walks = check_pool(self._pool, self._task, longest, self._imported)

    def claims(self, decisions: Decisions | str, *, whole: bool) -> Iterator[CheckedClaim]:
        """All claims of the unit, or only those about its bugs."""
        if self._damage:
            yield CheckedClaim(ClaimKind.STATES, f"unit {self.row.id}", false(self._damage))
        elif whole:
            yield from self._pool_claims(decisions)
            yield from self._answer_claims()
            yield from self._totals()
        reached = self._reached(decisions)
        for start in range(0, len(self._bugs), _BATCH):
            rows = self._bugs[start : start + _BATCH]
            bugs = {row.id: self._read(row.id) for row in rows}
            if self._opinions is not None:
                self._opinions.ask(
                    plan
                    for bug in bugs.values()
                    if isinstance(bug, Bug)
                    for _, plan in _plans_of(bug.finding)
                )
            for row in rows:
                yield from self._checked_bug(row, bugs[row.id], decisions, reached)

    def _read(self, number: int) -> Bug | PlumblineError:
        try:
            return self._store.bug(number)
        except PlumblineError as error:
            return error

    def _checked_bug(
        self, row: BugRow, bug: Bug | PlumblineError, decisions: Decisions | str, reached: Reached
    ) -> Iterator[CheckedClaim]:
        try:
            if isinstance(bug, PlumblineError):
                raise bug
            yield from self._bug_claims(row, bug, decisions, reached)
        except PlumblineError as error:
            self._link.check()
            yield CheckedClaim(ClaimKind.BUGS, row.id, false(error.message))

    def _pool_claims(self, decisions: Decisions | str) -> Iterator[CheckedClaim]:
        for row, verdict in zip(self._pool, self._walks, strict=True):
            yield CheckedClaim(ClaimKind.STATES, self._name(row.number), verdict)
        if isinstance(decisions, str):
            if any(row.outcome for row in self._pool):
                reason = undecided(f"the policy was not asked: {decisions}")
                yield CheckedClaim(ClaimKind.RUNS, f"unit {self.row.id}", reason)
            known = None
        else:
            known = decisions
            known.follow(row.state for row, _ in self._sound_pool())
        for row, _ in self._sound_pool():
            verdict = check_pool_run(known, row, self._config.testing.step_limit)
            if known is not None or verdict.standing is Standing.FALSE:
                yield CheckedClaim(ClaimKind.RUNS, self._name(row.number), verdict)

    def _sound_pool(self) -> Iterator[tuple[PoolRow, Verdict]]:
        """The rows of the pool whose walks hold."""
        for row, verdict in zip(self._pool, self._walks, strict=True):
            if verdict == HOLDS:
                yield row, verdict

    def _answer_claims(self) -> Iterator[CheckedClaim]:
        pool = {row.number: row for row, _ in self._sound_pool()}
        bugs = {row.pool_number: row for row in self._bugs}
        for answer in self._answers:
            if answer.number not in pool:
                continue  # the totals say so
            checked = check_answer(
                answer, pool[answer.number], bugs.get(answer.number), self._costs
            )
            if checked is not None:
                yield CheckedClaim(checked[0], self._name(answer.number), checked[1])
        for flag in self._flags:
            if flag.number in pool:
                verdict = check_flag(flag, pool[flag.number], bugs.get(flag.number))
                yield CheckedClaim(ClaimKind.BUGS, self._name(flag.number), verdict)

    def _totals(self) -> Iterator[CheckedClaim]:
        name, is_final = f"unit {self.row.id}", self.row.status == "finished"
        was_interrupted = self._store.was_interrupted(self.row.id)
        rows = UnitRows(
            self.row,
            self._config,
            self._pool,
            self._answers,
            self._flags,
            self._bugs,
            len(self._store.localized_bugs() & {row.id for row in self._bugs}),
            None if self._imported is None else len(self._imported),
            was_interrupted,
        )
        yield CheckedClaim(ClaimKind.STATISTICS, name, check_statistics(rows))
        if self.row.statistics.complete:
            pool = [row.state for row in self._pool]
            complete = check_complete(pool, self._task, self._costs)
            yield CheckedClaim(ClaimKind.STATISTICS, f"{name}, completeness", complete)
        states = self._store.bug_states(self.row.id)
        bugs = [(row, states[row.id]) for row in self._bugs if row.id in states]
        final = is_final and not was_interrupted
        yield CheckedClaim(ClaimKind.STATISTICS, name, check_regions(bugs, self._task, final))

    def _name(self, number: int) -> str:
        return f"unit {self.row.id}, state {number}"

    def _reached(self, decisions: Decisions | str) -> Reached:
        """What walks, the policy and evidence lead to; for tasks that are too large to explore."""
        reached = Reached(self._task, self._imported or ())
        for row, _ in self._sound_pool():
            if row.number:
                reached.add_walk(self._pool[row.reference].state, row.walk)
            if not isinstance(decisions, str):
                reached.add_states(row.state, decisions.walk(row.state).states)
        return reached

    def _bug_claims(
        self, row: BugRow, bug: Bug, decisions: Decisions | str, reached: Reached
    ) -> Iterator[CheckedClaim]:
        finding, number = bug.finding, row.id
        if problem := find_state_problem(finding.state, self._task):
            yield CheckedClaim(ClaimKind.BUGS, number, false(f"its state is invalid: {problem}"))
            return
        bound = self._check_bound(number, finding)
        yield CheckedClaim(ClaimKind.BOUNDS, number, bound)
        is_whole = (
            isinstance(decisions, Decisions)
            and decisions.is_own
            and len(finding.run.operators) < self._config.testing.step_limit
        )
        history = check_history(self._store.history(number), row, finding, is_whole)
        yield CheckedClaim(ClaimKind.BOUNDS, number, history)
        testing = self._config.testing
        problem = find_row_problem(row, finding, testing) or find_gap_problem(finding)
        yield CheckedClaim(ClaimKind.BUGS, number, false(problem) if problem else HOLDS)
        if problem := find_run_problem(finding.state, finding.run, self._task):
            yield CheckedClaim(ClaimKind.RUNS, number, false(problem))
            return
        run, answer = check_run(decisions, finding, testing.step_limit)
        self.replies.append(PolicyReply(number, answer, run.reason))
        yield CheckedClaim(ClaimKind.RUNS, number, run)
        reached.add_walk(finding.state, finding.run.operators)
        reached.add_evidence(finding.evidence)
        yield CheckedClaim(ClaimKind.STATES, number, self._check_state(row, finding, reached))
        if row.id in self._localized:
            yield from self._localization_claims(row, finding)

    @cached_property
    def _localized(self) -> set[int]:
        return self._store.localized_bugs()

    def _localization_claims(self, row: BugRow, finding: Finding) -> Iterator[CheckedClaim]:
        try:
            found = self._store.localization(row.id)
        except WorkspaceError as error:
            yield CheckedClaim(ClaimKind.LOCALIZATIONS, row.id, false(error.message))
            return
        assert found is not None
        steps = check_localization(finding, found, self._task, self._costs)
        loss = tuple(None if end == INFINITY else end for end in found.worst_loss)
        if steps == HOLDS and (row.loss, row.loss_high) != loss:
            steps = false("the listed loss differs from that of its worst step")
        yield CheckedClaim(ClaimKind.LOCALIZATIONS, row.id, steps)
        cause = check_cause(finding, found, self._task)
        if cause == HOLDS and (row.root_cause is None) != (found.cause is None):
            cause = false("its step and its root cause do not belong together")
        elif cause == HOLDS and row.root_cause is not None:
            place = self._causes.get(row.root_cause)
            if place != (row.problem, row.policy):
                cause = false("its root cause belongs to another problem or policy")
        yield CheckedClaim(ClaimKind.CAUSES, row.id, cause)

    @cached_property
    def _causes(self) -> dict[int, tuple[str, str]]:
        """Root causes by number: their problem and policy."""
        return {cause.id: (cause.problem, cause.policy) for cause in self._store.root_causes()}

    def _check_state(self, row: BugRow, finding: Finding, reached: Reached) -> Verdict:
        """A bug in the pool is where its walks lead; another one has to be reachable."""
        number = row.pool_number
        if self._damage and number is not None:
            return undecided(self._damage)
        if not self._damage and number != self._first_places.get(finding.state):
            return false("its number in the pool is not that of its state")
        if number is None:
            return check_bug_state(finding.state, reached, self._costs, self._has_morphs)
        while True:
            if number >= len(self._pool) or self._walks[number] != HOLDS:
                return false(f"the walk to its state does not hold: {self._name(number)}")
            if self._pool[number].reference < 0:
                return HOLDS
            number = self._pool[number].reference

    @cached_property
    def _first_places(self) -> dict[State, int]:
        """The numbers under which states came into the pool first."""
        return {row.state: row.number for row in reversed(self._pool)}

    def _check_bound(self, number: int, finding: Finding) -> Verdict:
        evidence = finding.evidence
        if evidence.state != finding.state or evidence.bound != finding.bound:
            return false("the evidence is for another state or bound")
        problem = verify(evidence, self._task, self._dominance).problem
        if TOO_LARGE in problem:
            verdict = check_at_most(self._costs, finding.state, finding.bound)
            return undecided(problem) if verdict.standing is Standing.UNDECIDED else verdict
        if problem:
            return false(f"evidence: {problem}")
        return self._second_opinion(number, finding)

    def _second_opinion(self, number: int, finding: Finding) -> Verdict:
        """VAL's, if it is there and can read the files."""
        if self._opinions is None:
            return HOLDS
        agreed = 0
        for name, plan in _plans_of(finding):
            opinion = self._opinions.of(*plan)
            if opinion is not None and not opinion.valid:
                return false(f"VAL rejects the {name}: {opinion.words}")
            agreed += opinion is not None
        self.plans.append((number, agreed))
        return HOLDS


def _plans_of(finding: Finding) -> Iterator[tuple[str, Plan]]:
    """Return all claimed plans of a bug, with their names."""
    if finding.evidence.is_plan:
        yield "better plan", (finding.state, finding.evidence.operators)
    if finding.run.outcome is RunOutcome.SOLVED:
        yield "policy's plan", (finding.state, finding.run.operators)


def unread_bugs(bugs: Iterable[int], verdict: Verdict) -> Iterator[CheckedClaim]:
    """Give bugs the verdict on what they rest on, if they cannot be checked."""
    for bug in bugs:
        yield CheckedClaim(ClaimKind.BUGS, bug, verdict)


History = Sequence[tuple[int, int | None, float]]
"""Bounds, gaps and times; the first one is when the bug was found."""


def find_row_problem(row: BugRow, finding: Finding, testing: OracleSettings) -> str:
    """Return why the row of a bug does not follow from its finding; empty if it does."""
    return next(_row_problems(row, finding, testing), "")


def _row_problems(row: BugRow, finding: Finding, testing: OracleSettings) -> Iterator[str]:
    if row.policy_cost != finding.run.cost:
        yield f"the policy's run costs {finding.run.cost}, not {row.policy_cost}"
    if row.gap != finding.gap:
        yield "its gap does not follow from its run and its bound"
    if row.evidence_kind != finding.evidence.kind:
        yield f"its evidence is a {finding.evidence.kind}, not a {row.evidence_kind}"
    if row.found_by not in testing.oracles:
        yield f"it was found by {row.found_by}, which the campaign did not use"
    if testing.objective == "goal" and finding.kind is not BugKind.FAILS:
        yield "the campaign asks for the goal alone, and the policy reaches it"
    if row.retrospective and row.pool_number is None:
        yield "it is marked as found in a state tested before, but the state is not in the pool"
    if row.region is not None and row.pool_number is None:
        yield "it has a region, but its state is not in the pool"


def check_history(history: History, row: BugRow, finding: Finding, is_whole: bool) -> Verdict:
    """Whether the bounds of the past lead to the present one.

    `is_whole`: the run was never stopped, so that its cost has always been known.
    """
    if not history or history[-1][:2] != (row.bound, row.gap):
        return false("its bound differs from the last one in its history")
    if history[0][2] != row.seconds:
        return false("its history does not begin when it was found")
    for bound, gap, _ in history[:-1]:
        if problem := _entry_problem(bound, gap, finding, is_whole):
            return false(f"its history: {problem}")
    return HOLDS


def _entry_problem(bound: int, gap: int | None, finding: Finding, is_whole: bool) -> str:
    cost = finding.run.cost
    if finding.run.outcome is RunOutcome.FAILED:
        possible = gap is None or (not is_whole and gap > 0)
    elif gap is None or cost is None:
        possible = False
    else:
        possible = gap == cost - bound if is_whole else gap <= cost - bound
        possible = possible and gap > 0
    return "" if possible else f"the gap at bound {bound} is wrong"
