"""Checks every claim of a workspace, from the stored files up.

Tasks are translated again, policies are asked again, and everything else has to follow: states from
walks, bugs from runs and evidence, totals from rows. One module per kind of claim says when it
holds; here is the list of all kinds. A part that cannot be read is a
false claim of its own and keeps nothing else from being checked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.dominance.checker import DominanceChecker
from engine.errors import Location, PlumblineError, WorkspaceError
from engine.files import scratch_folder
from engine.policies.consent import NO_CONSENT, Consent, consent_name
from engine.records.codec import Record
from engine.records.config import CampaignConfig, Factorization, OracleSettings
from engine.records.evidence import State
from engine.records.experiment import (
    ExperimentConfig,
    PairResult,
    RunPlan,
    RunResult,
    Trial,
    TrialResult,
)
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
from engine.task.translate import warm_translator
from engine.task.translation_cache import TranslationCache
from engine.task.unpacked import unpack_inputs
from engine.verify.claims import require_fit
from engine.verify.cost_to_go import STATES, CostToGo
from engine.verify.experiment import Plan, check_experiment
from engine.verify.inputs import (
    CampaignInputs,
    GivenFiles,
    check_campaign,
    check_given_policy,
    check_given_portfolio,
    check_given_problem,
    check_policy,
    check_task,
)
from engine.verify.pattern import check_distinct, check_membership
from engine.verify.run import opened_policy
from engine.verify.semantics import find_state_problem
from engine.verify.trials import (
    check_actions,
    check_given_trial,
    check_pair,
    check_policy_run,
    check_runs,
    find_question_problem,
    joined,
)
from engine.verify.unit_claims import Subject, UnitClaims, unread_bugs
from engine.verify.val import SecondOpinions, val_program
from engine.verify.witness import Made, Origin, check_place, check_witness, with_minimizer
from engine.workers.link import NULL_LINK, Link
from engine.workers.translator import Translator
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import BugRow, PatternRow, UnitInputs, WitnessRow, WitnessUnit
from engine.workspace.workspace import campaign_key

UNCHECKED = (
    "times, memory, and the effort of walks, searches and policies",
    "that walks were drawn as the settings of fuzzing and their seed say; they are replayed",
    "which oracle or policy of the portfolio proved a bug, and whether first or in retrospect",
    "settings that nothing contradicts that was found, such as the objective",
    "which limits were set or reached, and how far dominance functions were computed",
    "whether and why units, trials and searches for witnesses failed or ended without a result",
    "verdicts and bounds that are weaker than they could be",
    "paths of files; only their contents are checked",
    "triage, notes, the log, the project and trainings",
    "comparisons of domains; 'plumbline compare --verify' checks them",
    "what experiments left undecided, stopped at a limit, or drew at random",
    "which preset and scale an experiment began with, and whether it is about oracles or fuzzing",
    "what an experiment calls its oracles, how it groups them, and how many states it asks of each",
    "what an experiment expects of a pair of domains, and what it says decided about an action",
    "that no smaller witness exists, and the run and loss of its origin",
    "that a pattern is too symmetric to be compared with others",
)
ONLY_SOME = "tested states, verdicts of oracles and totals, because only some bugs were selected"
NO_VAL = "a second opinion on plans, because VAL is not installed"


@dataclass(frozen=True, slots=True)
class Finders:
    """What only the finders of bugs know, as functions, because a verifier imports no finder."""

    factorizations: Callable[[OracleSettings], Iterable[Factorization]]
    """The dominance functions that oracles use."""
    imported_states: Callable[[File, Task], Sequence[State]]
    """The states of a pool file."""
    experiment_key: Callable[[ExperimentConfig, Sequence[Trial]], str]
    """The key of an experiment: a hash of its settings and inputs."""
    plan_trials: Plan
    """The trials that settings ask for."""


class VerifyOptions(Record):
    """`bugs` None: everything. `states` limits the verifier's own searches in each task.

    After `seconds` the caller cancels; then what was not checked is undecided.
    """

    bugs: tuple[int, ...] | None = None
    given: GivenFiles = GivenFiles()
    states: int = STATES
    seconds: float | None = None


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
        self._translator: Translator | None = None
        self._tasks: dict[int, Task | Verdict] = {}
        self._costs: dict[tuple[int, str], CostToGo] = {}
        self._dominance: dict[tuple[int, tuple[Factorization, ...]], DominanceChecker] = {}
        self._opinions: dict[int, SecondOpinions] = {}
        self._bugs: list[int] = []
        self._checked: list[CheckedClaim] = []
        self._replies: list[PolicyReply] = []
        self._plans: list[tuple[int, int]] = []

    def claims(self) -> Iterator[CheckedClaim]:
        """Check all claims, one after the other."""
        rows = self._rows()
        self._bugs += [row.id for row in rows]
        if self._options.bugs is None:
            units = self._store.witness_units()
            self._bugs += [unit.bug for unit in units if unit.bug is not None]
        for item in self._workspace(rows):
            self._link.check()  # first: a check that was cut short says nothing
            self._checked.append(item)
            yield item

    def stop(self, reason: str) -> None:
        """Let everything be undecided that was not checked yet."""
        told = {item.id for item in self._checked if item.claim is ClaimKind.STATES}
        left = [bug for bug in self._bugs if bug not in told]
        self._checked += unread_bugs(left, undecided(reason))
        self._checked.append(CheckedClaim(ClaimKind.INPUTS, "workspace", undecided(reason)))

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
            reason = f"a row of '{table}' refers to a missing row"
            yield CheckedClaim(ClaimKind.INPUTS, "workspace", false(reason))
        campaigns = self._store.campaign_numbers()
        if self._options.bugs is not None:
            made = {unit.unit for unit in self._store.witness_units()}
            rows = [row for row in rows if row.unit not in made]
            campaigns = sorted({row.campaign for row in rows})
        with scratch_folder("verify") as folder, warm_translator() as self._translator:
            cache = TranslationCache(folder)
            for campaign in campaigns:
                bugs = [row for row in rows if row.campaign == campaign]
                yield from self._campaign(campaign, bugs, cache)
            yield from self._witnesses(cache)
            if self._options.bugs is None:
                yield from self._trials(cache)

    def _trials(self, cache: TranslationCache) -> Iterator[CheckedClaim]:
        """Check the answers behind the tables of experiments."""
        experiments = self._store.experiments
        try:
            rows = experiments.rows()
        except WorkspaceError as error:
            yield CheckedClaim(ClaimKind.TRIALS, "experiments", false(error.message))
            return
        for row in rows:
            name = f"experiment {row.id}"
            try:
                asked = experiments.trials(row.id)
                trials = [experiments.trial_inputs(trial.id) for trial in asked]
            except WorkspaceError as error:
                yield CheckedClaim(ClaimKind.TRIALS, name, false(error.message))
                continue
            key = self._finders.experiment_key(row.config, trials)
            verdict = false("its key is not that of its settings and inputs")
            if experiments.with_key(key) == row.id:
                plan = self._finders.plan_trials
                given = (check_given_trial(trial, self._options.given) for trial in trials)
                verdict = joined([check_experiment(row, asked, trials, self._store, plan), *given])
            yield CheckedClaim(ClaimKind.INPUTS, name, verdict)
            for trial, inputs in zip(asked, trials, strict=True):
                problem = find_question_problem(inputs, trial.status, trial.result)
                if trial.result is None and not problem:
                    continue
                verdict = false(problem)
                if trial.result is not None and not problem:
                    verdict = self._trial(inputs, trial.result, cache)
                yield CheckedClaim(ClaimKind.TRIALS, f"trial {trial.id}", verdict)

    def _trial(self, inputs: Trial, result: TrialResult, cache: TranslationCache) -> Verdict:
        if isinstance(result, PairResult):
            return check_pair(result, inputs.files, self._link)
        if inputs.problem is None:
            return false("it has no problem")
        try:
            with unpack_inputs(inputs.problem) as files:
                task = files.load_task(self._link.cancelled, cache, self._translator)
        except PlumblineError as error:
            return undecided(f"its problem cannot be translated: {error}")
        if isinstance(result, RunResult):
            return joined([check_runs(result, task), *self._asked_again(inputs, result, task)])
        return check_actions(
            result, task, CostToGo(task, self._options.states, self._link.cancelled)
        )

    def _asked_again(self, trial: Trial, result: RunResult, task: Task) -> Iterator[Verdict]:
        """The policies of a trial, which are asked about their runs."""
        assert isinstance(trial.plan, RunPlan)
        assert trial.problem is not None
        policies = {policy.name: policy for policy in trial.policies}
        for run in result.runs:
            with opened_policy(
                policies[run.policy],
                trial.problem,
                task,
                trial.plan.seed,
                consent=self._consent,
                link=self._link,
            ) as decisions:
                yield check_policy_run(run, decisions, task)

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
            yield from unread_bugs(_numbers(rows), undecided(f"{name} cannot be read"))
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
        for member in self._store.portfolio(campaign):
            verdict = check_policy(member)
            if verdict == HOLDS:
                verdict = check_given_portfolio(member, self._options.given)
            yield CheckedClaim(ClaimKind.INPUTS, f"policy {member.name}", verdict)
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
            self._finders.factorizations(config.testing)
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
        verdict = check_campaign(inputs, store.campaign_with(key) == campaign)
        if verdict == HOLDS and store.campaign(campaign).status == "finished":
            for unit in store.pending(campaign):
                return false(f"it is called finished, but unit {unit.number} is not")
        return verdict

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
                task = files.load_task(self._link.cancelled, cache, self._translator)
            verdict = check_task(task, self._store.task(number), said) if said else HOLDS
        except WorkspaceError as error:
            self._tasks[number] = false(error.message)
            return name, false(error.message)
        except PlumblineError as error:
            verdict = self._tasks[number] = undecided(f"it cannot be translated: {error}")
            return name, verdict
        self._tasks[number] = task if verdict == HOLDS else verdict
        if verdict == HOLDS and number not in {u.problem for u in self._store.witness_units()}:
            verdict = check_given_problem(problem, self._options.given)
        return name, verdict

    def _unit(
        self,
        unit: UnitInputs,
        config: CampaignConfig,
        pool: File | None,
        rows: Sequence[BugRow],
        *,
        is_witness: bool = False,
    ) -> Iterator[CheckedClaim]:
        store, name, task = self._store, f"unit {unit.unit}", self._tasks[unit.problem]
        if isinstance(task, Verdict):
            reason = undecided(f"its task is uncertain: {task.reason}")
            yield CheckedClaim(ClaimKind.STATES, name, reason)
            yield from unread_bugs(_numbers(rows), reason)
            return
        try:
            problem, policy = store.problem(unit.problem), store.policy(unit.policy)
            subject = self._subject(unit.problem, task, config, pool)
            if is_witness:
                subject = replace(subject, config=with_minimizer(config))
            claims = UnitClaims(store, store.unit(unit.unit), subject, rows, link=self._link)
        except PlumblineError as error:
            yield CheckedClaim(ClaimKind.STATISTICS, name, false(error.message))
            yield from unread_bugs(_numbers(rows), undecided(f"{name} cannot be read"))
            return
        with opened_policy(
            policy, problem, task, unit.seed, consent=self._consent, link=self._link
        ) as decisions:
            whole = self._options.bugs is None and not is_witness
            yield from claims.claims(decisions, whole=whole)
        self._replies += claims.replies
        self._plans += claims.plans

    def _witnesses(self, cache: TranslationCache) -> Iterator[CheckedClaim]:
        """The bugs that are witnesses, their records, and their patterns."""
        try:
            rows = self._store.witnesses()
            said = {row.finding: row for row in rows if row.finding is not None}
            patterns = {row.id: row for row in self._store.patterns()}
        except WorkspaceError as error:
            yield CheckedClaim(ClaimKind.WITNESSES, "witnesses", false(error.message))
            return
        wanted, used = self._options.bugs, set[int]()
        for one in rows if wanted is None else ():
            if one.finding is None and (one.attempt.witness or one.pattern):
                reason = false(f"a witness of bug {one.bug} is described, but not stored")
                yield CheckedClaim(ClaimKind.WITNESSES, one.bug, reason)
        for unit in self._store.witness_units():
            row = said.pop(unit.bug, None) if unit.bug is not None else None
            if wanted is not None and unit.bug not in wanted:
                continue
            yield from self._witness(unit, row, patterns, cache)
            used |= set() if row is None or row.pattern is None else {row.pattern}
        for finding in said if wanted is None else said.keys() & set(wanted):
            reason = false("it is stored as a witness, but its problem has no origin")
            yield CheckedClaim(ClaimKind.WITNESSES, finding, reason)
        for number, pattern in patterns.items():
            if number in used:
                verdict = check_distinct(pattern, list(patterns.values()))
                yield CheckedClaim(ClaimKind.PATTERNS, f"pattern {number}", verdict)
            elif wanted is None:
                reason = false("it has no witness")
                yield CheckedClaim(ClaimKind.PATTERNS, f"pattern {number}", reason)

    def _witness(
        self,
        unit: WitnessUnit,
        row: WitnessRow | None,
        patterns: Mapping[int, PatternRow],
        cache: TranslationCache,
    ) -> Iterator[CheckedClaim]:
        if unit.bug is None or row is None:
            reason = false(f"unit {unit.unit} belongs to neither a campaign nor a witness")
            yield CheckedClaim(ClaimKind.WITNESSES, unit.bug or f"unit {unit.unit}", reason)
            return
        for problem in (unit.problem, unit.origin):
            if problem not in self._tasks:
                yield CheckedClaim(ClaimKind.INPUTS, *self._translate(problem, cache))
        try:
            config = self._store.campaign(unit.campaign).config
            bugs = self._store.bug_rows([unit.bug])
            inputs = UnitInputs(unit.unit, unit.problem, unit.policy, unit.seed)
            yield from self._unit(inputs, config, None, bugs, is_witness=True)
            task, made_from = self._tasks[unit.problem], self._tasks[unit.origin]
            if isinstance(task, Verdict) or isinstance(made_from, Verdict):
                verdict = undecided("its task, or that of its origin, is uncertain")
                yield CheckedClaim(ClaimKind.WITNESSES, unit.bug, verdict)
                return
            made = Made(
                row, self._store.bug(unit.bug).finding, task, self._costs_of(unit.problem, task)
            )
            verdict = check_place(unit, row, self._store)
            if verdict == HOLDS:
                verdict = check_witness(made, self._origin(row.bug, made_from))
            yield CheckedClaim(ClaimKind.WITNESSES, unit.bug, verdict)
        except PlumblineError as error:
            yield CheckedClaim(ClaimKind.WITNESSES, unit.bug, false(error.message))
            return
        pattern, witness = patterns.get(row.pattern or 0), row.attempt.witness
        if pattern is None or witness is None:
            verdict = false("its pattern is missing")
        else:
            verdict = check_membership(pattern, witness, task.source)
        yield CheckedClaim(ClaimKind.PATTERNS, unit.bug, verdict)

    def _origin(self, bug: int, task: Task) -> Origin:
        found, localization = self._store.bug(bug), self._store.localization(bug)
        require_fit(found, task, localization)
        costs = self._costs_of(found.problem_id, task)
        return Origin(found.finding, localization, task, costs)

    def _costs_of(self, problem: int, task: Task) -> CostToGo:
        """What is known of the costs in a task, without exploring it."""
        if (problem, "") not in self._costs:
            costs = CostToGo(task, self._options.states, self._link.cancelled)
            self._costs[problem, ""] = costs
        return self._costs[problem, ""]

    def _subject(
        self, problem: int, task: Task, config: CampaignConfig, pool: File | None
    ) -> Subject:
        imported = None if pool is None else tuple(self._finders.imported_states(pool, task))
        used = tuple(self._finders.factorizations(config.testing))
        key = problem, "" if pool is None else pool.sha256
        if key not in self._costs:
            self._costs[key] = CostToGo(task, self._options.states, self._link.cancelled)
            others = [s for s in self._store.states(problem) if not find_state_problem(s, task)]
            self._costs[key].explore([task.init, *(imported or ())], others)
        if (problem, used) not in self._dominance:
            checker = DominanceChecker(task, used, self._link.control)
            self._dominance[problem, used] = checker
        if self._val is not None and task.source is not None and problem not in self._opinions:
            self._opinions[problem] = SecondOpinions(task, self._val, self._link)
        return Subject(
            config,
            task,
            self._costs[key],
            self._dominance[problem, used],
            bool(used),
            imported,
            self._opinions.get(problem),
        )


def _numbers(rows: Iterable[BugRow]) -> list[int]:
    return [row.id for row in rows]


def _with_given(consent: Consent, given: GivenFiles) -> Consent:
    """Add consent for a given plug-in or server; naming it on the command line agrees to it."""
    names = {consent_name(policy.spec) for policy in given.policies} - {""}
    return Consent(consent.agreed | names, consent.to_all)


def refuse_damaged(store: WorkspaceReader) -> None:
    if damage := store.damage():
        text = f"the file is damaged: {' '.join(damage.split())}"
        raise WorkspaceError(text, Location.of(store.path), "restore a backup")
