"""Makes the problem at a root cause as small as it can be while the policy makes the same mistake.

Each witness is kept as a bug of its own and checked by independent code. What was minimized is not
minimized again, unless a limit stopped it and the limit is higher now.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine.errors import CancelledError, LimitReachedError, PlumblineError, PolicyError, UsageError
from engine.localize.run_searches import MEGABYTES
from engine.minimize.mistake import Laboratory, Mistake
from engine.minimize.situation import Situation
from engine.minimize.witness import MAX_TRIES, Minimized, MinimizeLimits, minimize_mistake
from engine.pddl import format_problem
from engine.pddl.reader import text_of
from engine.policies.consent import Consent
from engine.policies.kinds import kind_named
from engine.policies.policy import Policy, close_policy, open_policy
from engine.records.finding import EndReason, RunOutcome
from engine.records.inputs import File, PolicyInput, ProblemInput
from engine.records.localization import Cause, CauseKind, Localization, StepVerdict
from engine.records.pattern import Attempt, Same, StoppedBy
from engine.records.policy_spec import PolicySpec, SpecKind
from engine.records.verification import HOLDS, ClaimKind
from engine.report.pattern_text import attempt_text
from engine.task.export import export_state
from engine.task.sas import write_sas
from engine.task.successors import successor
from engine.task.task import PddlSource, Task
from engine.task.translate import warm_translator
from engine.task.unpacked import unpack_inputs
from engine.usecases.localize import LocalizeOptions, localize
from engine.usecases.verify import FINDERS
from engine.verify.claims import find_problem, require_fit
from engine.verify.stored import Verifier, VerifyOptions
from engine.workers.link import Link, TimedLink
from engine.workers.translator import Translator
from engine.workspace.rows import Bug, WitnessRow
from engine.workspace.witnesses import StoredWitness
from engine.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class MinimizeOptions:
    """`step` is one of the bug's run instead of its root cause; None is no limit in seconds."""

    same: Same = Same.ACTION
    step: int | None = None
    tries: int = MAX_TRIES
    total_seconds: float | None = None
    campaign: int | None = None  # whose root causes; None: those of all
    megabytes: int | None = None  # of one search

    def timed(self, link: Link) -> TimedLink:
        """Return a link that ends when the time is over."""
        seconds = math.inf if self.total_seconds is None else self.total_seconds
        return TimedLink(link, time.monotonic() + seconds)

    @property
    def localize_seconds(self) -> float | None:
        """Half of the time, for bugs that are not localized."""
        return None if self.total_seconds is None else self.total_seconds / 2


DEFAULT_OPTIONS = MinimizeOptions()
MINIMIZING = 0.8
"""The share of the time for witnesses; what is left is for verifying them."""
VERIFIED_STATES = 500_000
"""For the verifier's own searches: origins may be large, and what was optimal there counts."""


@dataclass(frozen=True, slots=True)
class Minimizing:
    """The progress of the current root cause."""

    bug: int
    tries: int
    objects: int


@dataclass(frozen=True, slots=True)
class WitnessResult:
    """The result for a bug's root cause; `witness` is the number of the new bug."""

    bug: int
    root_cause: int | None
    witness: int | None
    kind: CauseKind | None
    attempt: Attempt
    pattern: int | None = None
    family: str = ""
    verified: bool = False
    refuted: bool = False  # by the verifier; neither: a limit was reached before it could tell


def result_text(result: WitnessResult) -> str:
    """Return the result for a bug as a sentence."""
    text = attempt_text(result.attempt, result.witness, result.pattern)
    check = "" if result.verified or result.witness is None else " It is not verified."
    return f"Bug {result.bug}: {text}{check}"


def minimize(
    link: Link,
    workspace: Path,
    bugs: Sequence[int] | None,
    consent: Consent,
    options: MinimizeOptions = DEFAULT_OPTIONS,
) -> tuple[WitnessResult, ...]:
    """Find smallest witnesses of bugs (None: of all root causes), and keep them.

    Bugs are localized first if they are not. Emits a `Minimizing` now and then and a
    `WitnessResult` after each one, which is verified only at the end. Results before a stop are
    kept.
    """
    timed = options.timed(link)
    with Workspace.open(workspace) as store, ExitStack() as opened:
        translator = opened.enter_context(warm_translator())
        session = _Session(
            store, consent, options, timed.part(MINIMIZING), translator, link, opened
        )
        if bugs is None:
            wanted = _root_causes(store, options.campaign)
        else:
            wanted = _causes(link, store, bugs, options)
        done: list[WitnessResult] = []
        for subject in wanted:
            session.begin(len(done), len(wanted), subject)
            done.append(session.minimize(subject))
            link.emit(done[-1])
        return _verified(link, timed, store, consent, done)


@dataclass(frozen=True, slots=True)
class _Subject:
    """A bug and its step to minimize; without a cause, `reason` says why."""

    bug: Bug
    root_cause: int | None
    cause: Cause | None
    step: int | None = None
    reason: str = ""
    rest_is_optimal: bool = True

    @property
    def name(self) -> str:
        where = f"bug {self.bug.row.id}" if self.root_cause is None else self.cause_name
        return where if self.step is None else f"bug {self.bug.row.id}, step {self.step}"

    @property
    def cause_name(self) -> str:
        return f"root cause {self.root_cause}"


def _root_causes(store: Workspace, campaign: int | None) -> list[_Subject]:
    found = []
    for cause in store.root_causes(campaign):
        bug = store.bug(cause.smallest_bug)
        localization = store.localization(bug.row.id)
        assert localization is not None
        found.append(_Subject(bug, cause.id, localization.cause))
    return found


def _causes(
    link: Link, store: Workspace, bugs: Sequence[int], options: MinimizeOptions
) -> list[_Subject]:
    """Return what to minimize for some bugs, after localizing them if necessary."""
    for number in bugs:
        if store.witness_of(number) is not None:
            raise UsageError(
                f"bug {number} is a witness already", hint="name the bug that it was made from"
            )
    unknown = [
        number
        for number in bugs
        if (found := store.localization(number)) is None or (found.cause is None and found.limited)
    ]
    if unknown:
        how = LocalizeOptions(
            total_seconds=options.localize_seconds, megabytes=options.megabytes or MEGABYTES
        )
        localize(link, store.path, unknown, how)
    return [_subject(store, number, options) for number in bugs]


def _subject(store: Workspace, number: int, options: MinimizeOptions) -> _Subject:
    bug, found = store.bug(number), store.localization(number)
    if found is None or (found.cause is None and options.step is None):
        return _Subject(bug, None, None, reason="no step of its run is proven to be bad")
    if options.step is None:
        return _Subject(bug, bug.row.root_cause, found.cause)
    if found.cause is not None and found.cause.index == options.step:
        return _Subject(bug, bug.row.root_cause, found.cause)
    return _other_step(store, bug, found, options.step)


def _other_step(store: Workspace, bug: Bug, found: Localization, number: int) -> _Subject:
    """A step of a bug's run that is proven to be bad, and is not its root cause."""
    steps = {step.index: step for step in found.steps}
    step = steps.get(number)
    if step is None or step.verdict is not StepVerdict.NOT_OPTIMAL:
        known = ", ".join(map(str, found.bad_steps)) or "none"
        raise UsageError(
            f"step {number} of bug {bug.row.id} is not proven to be bad",
            hint=f"bad steps by their number i in 'plumbline localize --json': {known}",
        )
    run, kind = bug.finding.run, CauseKind.DETOUR
    if step.loses_goal:
        kind = CauseKind.DEAD_END
    elif run.outcome is not RunOutcome.SOLVED:
        if run.reason is not EndReason.LOOP:
            reason = "its run fails after this step by itself: minimize its root cause"
            return _Subject(bug, None, None, number, reason)
        kind = CauseKind.LOOP
    task, state = store.task(bug.problem_id), bug.finding.state
    require_fit(bug, task)
    for operator in run.operators[:number]:
        state = successor(task, task.operators[operator], state)
    action = task.operators[step.operator].name
    cause = Cause(kind, number, state, step.operator, action)
    return _Subject(bug, None, cause, number, rest_is_optimal=False)


@dataclass
class _Session:
    """What several witnesses share: tasks, opened policies, the translator."""

    store: Workspace
    consent: Consent
    options: MinimizeOptions
    timed: TimedLink
    translator: Translator
    link: Link
    opened: ExitStack
    tasks: dict[int, Task] = field(default_factory=dict)
    policies: dict[tuple[int, int, str], Policy | str] = field(default_factory=dict)
    done: int = 0
    total: int = 0
    text: str = ""

    def begin(self, done: int, total: int, subject: _Subject) -> None:
        self.done, self.total, self.text = done, total, subject.name
        self.link.check()
        self.link.progress(done, total, self.text)

    def minimize(self, subject: _Subject) -> WitnessResult:
        known = self._known(subject)
        if known is not None:
            return _result(subject, known.finding, known.attempt, known)
        try:
            self.timed.check()
            minimized = self._minimized(subject)
        except LimitReachedError:
            attempt = self._refused(StoppedBy.TIME, "the time limit was reached before")
            return _result(subject, None, attempt)
        stored = None
        if minimized.shown is not None:
            stored = self._stored(subject, minimized)
        number = self.store.save_attempt(
            subject.bug.row.id,
            subject.root_cause,
            subject.step,
            attempt=minimized.attempt,
            stored=stored,
        )
        row = None if number is None else self.store.witness_of(number)
        return _result(subject, number, minimized.attempt, row)

    def _known(self, subject: _Subject) -> WitnessRow | None:
        """What was found before, unless more may be found now."""
        for row in self.store.witnesses():
            if row.same is not self.options.same or row.step != subject.step:
                continue
            same = (
                row.root_cause == subject.root_cause
                if subject.step is None and subject.root_cause is not None
                else row.bug == subject.bug.row.id
            )
            if same and not self._may_improve(row.attempt):
                return row
        return None

    def _may_improve(self, attempt: Attempt) -> bool:
        if attempt.stopped_by is StoppedBy.TRIES:
            return self.options.tries > attempt.tries
        return attempt.stopped_by in (StoppedBy.TIME, StoppedBy.POLICY)

    def _refused(self, by: StoppedBy, reason: str) -> Attempt:
        return Attempt(self.options.same, None, False, by, 0, 0.0, reason)

    def _minimized(self, subject: _Subject) -> Minimized:
        bug, cause = subject.bug, subject.cause
        task = self._task(bug)
        if task.source is None:
            reason = "its task is a .sas file, which has no PDDL"
            return Minimized(self._refused(StoppedBy.NO_PDDL, reason))
        if cause is None:
            return Minimized(self._refused(StoppedBy.SEARCH, subject.reason))
        require_fit(bug, task)
        run = bug.finding.run
        if cause.operator is None and run.reason is EndReason.POLICY_ERROR:
            reason = "the policy fails in this state, which proves nothing about its decision"
            return Minimized(self._refused(StoppedBy.POLICY, reason))
        policy = self._policy(bug, task)
        if isinstance(policy, str):
            return Minimized(self._refused(StoppedBy.POLICY, policy))
        problem = self.store.problem(bug.problem_id)
        assert problem.domain is not None
        exported = export_state(task, cause.state, self._name(subject, problem))
        laboratory = Laboratory(
            PddlSource(task.source.domain, exported, task.source.unit_costs),
            text_of(problem.domain.content),
            policy,
            self.translator,
            self.timed,
            self.options.megabytes,
        )
        mistake = Mistake(
            cause.kind,
            cause.action,
            run.reason,
            self.options.same,
            loses=cause.kind is not CauseKind.LOOP,
            rest_is_optimal=subject.rest_is_optimal,
        )

        def tell(tries: int, situation: Situation) -> None:
            objects = len(situation.objects)
            text = f"{self.text}: {objects} objects after {tries} tries"
            self.link.progress(self.done + tries / (tries + 50), self.total, text)
            self.link.emit(Minimizing(bug.row.id, tries, objects))

        limits = MinimizeLimits(self.options.tries)
        return minimize_mistake(task, cause.state, mistake, laboratory, limits=limits, tell=tell)

    def _task(self, bug: Bug) -> Task:
        if bug.problem_id not in self.tasks:
            self.tasks[bug.problem_id] = self.store.task(bug.problem_id)
        return self.tasks[bug.problem_id]

    def _policy(self, bug: Bug, task: Task) -> Policy | str:
        """The policy of a bug, or why it cannot be asked about another problem."""
        problem, policy = self.store.problem(bug.problem_id), self.store.policy(bug.policy_id)
        domain = "" if problem.domain is None else problem.domain.sha256
        key = bug.policy_id, bug.row.seed, domain
        if key not in self.policies:
            self.policies[key] = self._open(policy, problem, task, bug.row.seed)
        return self.policies[key]

    def _open(
        self, policy: PolicyInput, problem: ProblemInput, task: Task, seed: int
    ) -> Policy | str:
        if objection := _objection(policy) or self.consent.objection(policy.spec):
            return objection
        assert task.source is not None
        files = self.opened.enter_context(unpack_inputs(problem, policy))
        try:
            found = open_policy(files.policy_spec, task.source.domain, seed)
        except PlumblineError as error:
            return files.original(str(error))
        self.opened.callback(close_policy, found)
        if kind_named(found.describe().kind).of_task:
            return "this kind of policy is bound to its own problem"
        return found

    def _name(self, subject: _Subject, problem: ProblemInput) -> str:
        same = "" if self.options.same is Same.ACTION else f"-same-{self.options.same}"
        number = f"bug-{subject.bug.row.id}-step-{subject.step}"
        if subject.step is None:
            number = f"{subject.root_cause}"
        return f"{Path(problem.name).stem}-witness-{number}{same}"

    def _stored(self, subject: _Subject, minimized: Minimized) -> StoredWitness:
        shown, witness = minimized.shown, minimized.attempt.witness
        assert shown is not None
        assert witness is not None
        assert minimized.certificate is not None
        if problem := find_problem(shown.finding, shown.task):
            raise RuntimeError(f"a witness proves nothing: {problem}")
        origin = self.store.problem(subject.bug.problem_id)
        name = f"{self._name(subject, origin)}.pddl"
        text = format_problem(shown.problem).encode()
        return StoredWitness(
            ProblemInput(name, File(name, text, ""), origin.domain, origin.unit_costs),
            write_sas(shown.task),
            shown.task.hash,
            shown.finding,
            minimized.certificate,
            witness.family,
        )


def _objection(policy: PolicyInput) -> str:
    """Return why a policy cannot be asked about other problems, judging by its name."""
    try:
        spec = PolicySpec.parse(policy.spec)
    except PolicyError as error:
        return str(error)
    if spec.kind is SpecKind.SERVER:
        return "a policy server answers for its own problem only"
    if spec.kind is SpecKind.BUILTIN and spec.place == "random":
        return "builtin:random depends on the numbers of facts, which differ in every problem"
    if spec.path is not None and policy.file is None:
        return "its file is not in the workspace"
    return ""


def _result(
    subject: _Subject, number: int | None, attempt: Attempt, row: WitnessRow | None = None
) -> WitnessResult:
    return WitnessResult(
        subject.bug.row.id,
        subject.root_cause,
        number,
        None if subject.cause is None else subject.cause.kind,
        attempt,
        None if row is None else row.pattern,
        "" if row is None else row.family,
    )


def _verified(
    link: Link,
    timed: TimedLink,
    store: Workspace,
    consent: Consent,
    found: Sequence[WitnessResult],
) -> tuple[WitnessResult, ...]:
    """Check all witnesses again by independent code, as far as the time allows."""
    numbers = tuple(sorted({item.witness for item in found if item.witness is not None}))
    if not numbers:
        return tuple(found)
    wanted = VerifyOptions(numbers, states=VERIFIED_STATES)
    verifier = Verifier(store, FINDERS, wanted, consent, timed)
    held: dict[ClaimKind, set[int | str]] = {ClaimKind.WITNESSES: set(), ClaimKind.PATTERNS: set()}
    link.progress(0, None, "verifying")
    try:
        for number, item in enumerate(verifier.claims(), 1):
            if item.claim in held and item.verdict == HOLDS:
                held[item.claim].add(item.id)
            link.progress(number, None, f"{item.claim}: {item.text}")
    except (CancelledError, LimitReachedError):
        link.check()  # not by the user
        verifier.stop("the time limit was reached")
    result = verifier.result()
    good = set(result.verified).intersection(*held.values())
    bad = {item.id for item in result.failed}
    return tuple(
        replace(item, verified=item.witness in good, refuted=item.witness in bad) for item in found
    )
