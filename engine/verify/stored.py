"""Checks every claim of a workspace, from the stored files up.

Tasks are translated anew, policies are asked again, and everything else has to follow: states from
walks, bugs from runs and evidence, totals from rows. One module per kind of claim says when it
holds; here is the list of all of them, and who is given what. A part that cannot be read is a
false claim of its own and keeps nothing else from being checked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from engine.dominance.checker import DominanceChecker
from engine.errors import Location, PlumblineError, WorkspaceError
from engine.files import scratch_folder
from engine.policies.consent import NO_CONSENT, Consent, consent_name
from engine.records.codec import Record
from engine.records.config import CampaignConfig, Factorization
from engine.records.evidence import State
from engine.records.inputs import File
from engine.records.verification import (
    HOLDS,
    CheckedClaim,
    ClaimCount,
    ClaimKind,
    PolicyReply,
    Standing,
    Verdict,
    Verification,
    false,
    undecided,
)
from engine.task.task import Task
from engine.task.translation_cache import TranslationCache
from engine.task.unpacked import unpack_inputs
from engine.verify.cost_to_go import STATES, CostToGo
from engine.verify.inputs import (
    CampaignInputs,
    GivenFiles,
    check_campaign,
    check_given_policy,
    check_given_problem,
    check_policy,
    check_task,
)
from engine.verify.replay import find_state_problem
from engine.verify.run import opened_policy
from engine.verify.unit_claims import Subject, UnitClaims, unread_bugs
from engine.verify.val import val_program
from engine.workers.link import NULL_LINK, Link
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import BugRow, UnitInputs
from engine.workspace.workspace import campaign_key

UNCHECKED = (
    "times, memory, and the effort of searches and policies",
    "that walks were drawn with the seed of their unit; they are replayed",
    "which of its oracles a campaign found a bug with",
    "where files were; their contents count",
    "triage, notes, the log, the project and trainings",
    "comparisons of domains; 'plumbline compare --verify' checks them",
)
ONLY_SOME = "tested states, verdicts of oracles and totals, because only some bugs were asked for"
NO_VAL = "a second opinion on plans, because VAL is not installed"


@dataclass(frozen=True, slots=True)
class Finders:
    """What only those know who find bugs: functions, because a verifier imports none of them."""

    factorizations: Callable[[Sequence[str]], Iterable[Factorization]]
    """The dominance functions that oracles use, by the texts of the oracles."""
    imported_states: Callable[[File, Task], Sequence[State]]
    """The states of a pool file."""


class VerifyOptions(Record):
    """`bugs` None: everything. `states` limits the verifier's own searches in each task."""

    bugs: tuple[int, ...] | None = None
    given: GivenFiles = GivenFiles()
    states: int = STATES


EVERYTHING = VerifyOptions()


class Verifier:
    """Iterate over `claims`, then ask for the `result`."""

    def __init__(
        self,
        store: WorkspaceReader,
        finders: Finders,
        options: VerifyOptions = EVERYTHING,
        consent: Consent = NO_CONSENT,
        link: Link = NULL_LINK,
    ) -> None:
        self._store, self._finders, self._options, self._link = store, finders, options, link
        self._consent = _with_given(consent, options.given)
        self._val = val_program()
        self._tasks: dict[int, Task | Verdict] = {}
        self._costs: dict[tuple[int, str], CostToGo] = {}
        self._dominance: dict[tuple[int, tuple[Factorization, ...]], DominanceChecker] = {}
        self._bugs: list[int] = []
        self._checked: list[CheckedClaim] = []
        self._replies: list[PolicyReply] = []
        self._plans: list[tuple[int, int]] = []

    def claims(self) -> Iterator[CheckedClaim]:
        """Check all claims, one after the other."""
        rows = self._rows()
        self._bugs += [row.id for row in rows]
        for item in self._workspace(rows):
            self._link.check()  # first: a check that was cut short says nothing
            self._checked.append(item)
            yield item

    def result(self) -> Verification:
        problems = [item for item in self._checked if item.verdict != HOLDS]
        return Verification(
            bugs=tuple(sorted(self._bugs)),
            counts=tuple(map(self._count, ClaimKind)),
            problems=tuple(
                sorted(problems, key=lambda item: item.verdict.standing is not Standing.FALSE)
            ),
            unchecked=(
                *(() if self._options.bugs is None else (ONLY_SOME,)),
                *((NO_VAL,) if self._val is None else ()),
                *UNCHECKED,
            ),
            replies=tuple(sorted(self._replies, key=lambda reply: reply.bug)),
            plans=tuple(sorted(self._plans)),
        )

    def _count(self, kind: ClaimKind) -> ClaimCount:
        found = Counter(item.verdict.standing for item in self._checked if item.claim is kind)
        return ClaimCount(
            kind, found[Standing.HOLDS], found[Standing.FALSE], found[Standing.UNDECIDED]
        )

    def _rows(self) -> list[BugRow]:
        if self._options.bugs is None:
            return self._store.bugs()
        rows = self._store.bug_rows(self._options.bugs)
        for missing in set(self._options.bugs) - {row.id for row in rows}:
            self._store.bug(missing)  # says that it is not there
        return rows

    def _workspace(self, rows: Sequence[BugRow]) -> Iterator[CheckedClaim]:
        if table := self._store.dangling():
            reason = f"a row of '{table}' refers to what is missing"
            yield CheckedClaim(ClaimKind.INPUTS, "workspace", false(reason))
        campaigns = self._store.campaign_numbers()
        if self._options.bugs is not None:
            campaigns = sorted({row.campaign for row in rows})
        with scratch_folder("verify") as folder:
            cache = TranslationCache(folder)
            for campaign in campaigns:
                bugs = [row for row in rows if row.campaign == campaign]
                yield from self._campaign(campaign, bugs, cache)

    def _campaign(
        self, campaign: int, rows: Sequence[BugRow], cache: TranslationCache
    ) -> Iterator[CheckedClaim]:
        name, units = f"campaign {campaign}", self._store.unit_inputs(campaign)
        try:
            config = self._store.campaign(campaign).config
            pool = self._store.imported_pool(campaign)
            verdict = self._check_campaign(campaign, config, pool, units)
        except WorkspaceError as error:
            yield CheckedClaim(ClaimKind.INPUTS, name, false(error.message))
            yield from unread_bugs(rows, undecided(f"{name} cannot be read"))
            return
        yield CheckedClaim(ClaimKind.INPUTS, name, verdict)
        if self._options.bugs is not None:
            wanted = {row.unit for row in rows}
            units = [unit for unit in units if unit.unit in wanted]
        for problem in dict.fromkeys(unit.problem for unit in units):
            if problem not in self._tasks:
                yield CheckedClaim(ClaimKind.INPUTS, *self._translate(problem, cache))
        for policy in dict.fromkeys(unit.policy for unit in units):
            yield CheckedClaim(ClaimKind.INPUTS, *self._check_policy(policy))
        for unit in units:
            bugs = [row for row in rows if row.unit == unit.unit]
            yield from self._unit(unit, config, pool, bugs)

    def _check_campaign(
        self,
        campaign: int,
        config: CampaignConfig,
        pool: File | None,
        units: Sequence[UnitInputs],
    ) -> Verdict:
        store = self._store
        try:
            self._finders.factorizations(config.testing.oracles)
        except PlumblineError as error:
            return false(str(error))
        inputs = CampaignInputs(
            config,
            [store.problem(number) for number in dict.fromkeys(unit.problem for unit in units)],
            [store.policy(number) for number in dict.fromkeys(unit.policy for unit in units)],
            store.portfolio(campaign),
            pool,
            units,
        )
        key = campaign_key(config, inputs.problems, inputs.policies, inputs.portfolio, pool)
        return check_campaign(inputs, store.campaign_with(key) == campaign)

    def _check_policy(self, number: int) -> tuple[str, Verdict]:
        try:
            policy = self._store.policy(number)
        except WorkspaceError as error:
            return f"policy {number}", false(error.message)
        verdict = check_policy(policy)
        if verdict == HOLDS:
            verdict = check_given_policy(policy, self._options.given)
        return f"policy {policy.name}", verdict

    def _translate(self, number: int, cache: TranslationCache) -> tuple[str, Verdict]:
        """Translate a problem, and say whether its task is the stored one."""
        name = f"problem {number}"
        try:
            problem, said = self._store.problem(number), self._store.task_hash(number)
            name = f"problem {problem.name}"
            with unpack_inputs(problem) as files:
                task = files.load_task(self._link.cancelled, cache)
            verdict = check_task(task, self._store.task(number), said) if said else HOLDS
        except WorkspaceError as error:
            self._tasks[number] = false(error.message)
            return name, false(error.message)
        except PlumblineError as error:
            verdict = self._tasks[number] = undecided(f"it cannot be translated: {error}")
            return name, verdict
        self._tasks[number] = task if verdict == HOLDS else verdict
        if verdict == HOLDS:
            verdict = check_given_problem(problem, self._options.given)
        return name, verdict

    def _unit(
        self, unit: UnitInputs, config: CampaignConfig, pool: File | None, rows: Sequence[BugRow]
    ) -> Iterator[CheckedClaim]:
        store, name, task = self._store, f"unit {unit.unit}", self._tasks[unit.problem]
        if isinstance(task, Verdict):
            reason = undecided(f"its task is uncertain: {task.reason}")
            yield CheckedClaim(ClaimKind.STATES, name, reason)
            yield from unread_bugs(rows, reason)
            return
        try:
            problem, policy = store.problem(unit.problem), store.policy(unit.policy)
            subject = self._subject(unit.problem, task, config, pool)
            claims = UnitClaims(
                store, store.unit(unit.unit), subject, rows, val=self._val, link=self._link
            )
        except PlumblineError as error:
            yield CheckedClaim(ClaimKind.STATISTICS, name, false(error.message))
            yield from unread_bugs(rows, undecided(f"{name} cannot be read"))
            return
        with opened_policy(
            policy, problem, task, unit.seed, consent=self._consent, link=self._link
        ) as decisions:
            yield from claims.claims(decisions, whole=self._options.bugs is None)
        self._replies += claims.replies
        self._plans += claims.plans

    def _subject(
        self, problem: int, task: Task, config: CampaignConfig, pool: File | None
    ) -> Subject:
        imported = None if pool is None else tuple(self._finders.imported_states(pool, task))
        used = tuple(self._finders.factorizations(config.testing.oracles))
        key = problem, "" if pool is None else pool.sha256
        if key not in self._costs:
            self._costs[key] = CostToGo(task, self._options.states, self._link.cancelled)
            others = [s for s in self._store.states(problem) if not find_state_problem(s, task)]
            self._costs[key].explore([task.init, *(imported or ())], others)
        if (problem, used) not in self._dominance:
            checker = DominanceChecker(task, used, self._link.control)
            self._dominance[problem, used] = checker
        dominance = self._dominance[problem, used]
        return Subject(config, task, self._costs[key], dominance, bool(used), imported)


def _with_given(consent: Consent, given: GivenFiles) -> Consent:
    """Who names a plug-in or a server on the command line agrees to it."""
    names = {consent_name(policy.spec) for policy in given.policies} - {""}
    return Consent(consent.agreed | names, consent.to_all)


def refuse_damaged(store: WorkspaceReader) -> None:
    if damage := store.damage():
        text = f"the file is damaged: {' '.join(damage.split())}"
        raise WorkspaceError(text, Location.of(store.path), "restore a backup")
