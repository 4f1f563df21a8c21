"""Checks stored findings again, from the stored files up.

The task is translated anew from the copies in the workspace, the evidence and the policy's run are
replayed on it by plain code, and VAL is asked about the exported problem and both plans. What
holds is also put to the policy itself, which may have become another one since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from engine.dominance.checker import DominanceChecker
from engine.errors import Location, WorkspaceError
from engine.files import scratch_folder
from engine.pddl import format_domain
from engine.policies.consent import NO_CONSENT, Consent
from engine.records.config import Factorization
from engine.task.export import export_domain, export_state_text
from engine.task.plans import format_operator_plan
from engine.task.task import Task
from engine.task.translation_cache import TranslationCache
from engine.task.unpacked import unpack_inputs
from engine.verify.claims import SOLVED, find_problem
from engine.verify.evidence import DominanceCheck
from engine.verify.policy_rerun import PolicyReply, PolicyRerun
from engine.verify.val import val_opinion, val_program
from engine.workers.link import NULL_LINK, Link
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import Bug, BugRow

Factorizations = Callable[[Sequence[str]], Iterable[Factorization]]
"""Those that oracles use, by the texts of the oracles; whoever verifies knows no oracle."""


@dataclass(frozen=True, slots=True)
class Verified:
    """`problem` is empty if the finding holds; `opinions` counts the plans VAL agreed on.

    What the policy says changes nothing about that. It is not asked about what does not hold.
    """

    bug: int
    problem: str
    opinions: int = 0
    policy: PolicyReply | None = None


def verify_bugs(
    store: WorkspaceReader,
    rows: Sequence[BugRow],
    factorizations: Factorizations,
    link: Link = NULL_LINK,
    *,
    consent: Consent = NO_CONSENT,
) -> Iterator[Verified]:
    """One verdict per bug, unit by unit.

    Plug-ins and servers are asked only with the user's consent.
    """
    program = val_program()
    with (
        scratch_folder("verify") as folder,
        closing(PolicyRerun(store, consent)) as questions,
    ):
        tasks = _Tasks(store, TranslationCache(folder), link)
        checks = _Checks(store, factorizations, link)
        for row in sorted(rows, key=lambda row: row.unit):
            try:
                bug = store.bug(row.id)
            except WorkspaceError as error:
                yield Verified(row.id, error.message)
                continue
            task = tasks.of(bug.problem_id)
            if isinstance(task, str):
                yield Verified(row.id, task)
                continue
            check = checks.get(row.campaign, bug.problem_id, task)
            problem, opinions = _row_problem(bug) or find_problem(bug.finding, task, check), 0
            if not problem and program is not None and task.source is not None:
                problem, opinions = _second_opinion(program, bug, task)
            reply = None if problem else questions.ask(bug, task)
            yield Verified(row.id, problem, opinions, reply)


class _Tasks:
    """Tasks translated anew, each once."""

    def __init__(self, store: WorkspaceReader, cache: TranslationCache, link: Link) -> None:
        self._store, self._cache, self._link = store, cache, link
        self._known: dict[int, Task | str] = {}

    def of(self, problem: int) -> Task | str:
        """The task, or why it is not the one the findings speak of."""
        if problem not in self._known:
            self._known[problem] = self._translate(problem)
        return self._known[problem]

    def _translate(self, problem: int) -> Task | str:
        with unpack_inputs(self._store.problem(problem)) as files:
            task = files.load_task(self._link.cancelled, self._cache)
        if task.hash != self._store.task_hash(problem):
            return (
                "the translator encodes the task differently now, so its states mean something "
                "else; install the version that was used"
            )
        return task


class _Checks:
    """Checkers of dominance values, each made once."""

    def __init__(self, store: WorkspaceReader, factorizations: Factorizations, link: Link) -> None:
        self._factorizations, self._link = factorizations, link
        self._oracles = {row.id: row.config.testing.oracles for row in store.campaigns()}
        self._known: dict[tuple[int, int], DominanceCheck] = {}

    def get(self, campaign: int, problem: int, task: Task) -> DominanceCheck:
        key = campaign, problem
        if key not in self._known:
            used = self._factorizations(self._oracles[campaign])
            self._known[key] = DominanceChecker(task, used, self._link.control)
        return self._known[key]


def _row_problem(bug: Bug) -> str:
    """What the table says of a finding follows from the finding."""
    row, finding = bug.row, bug.finding
    if row.policy_cost != finding.run.cost:
        return f"the policy's run costs {finding.run.cost}, not {row.policy_cost}"
    if row.gap != finding.gap:
        return f"a gap of {row.gap} is not {row.policy_cost} - {row.bound}"
    return ""


def _second_opinion(program: Path, bug: Bug, task: Task) -> tuple[str, int]:
    """VAL's objection, if it has one, and how many plans it found valid."""
    domain = format_domain(export_domain(task))
    problem = export_state_text(task, bug.finding.state, f"bug-{bug.row.id}")
    plans = (
        [("better plan", bug.finding.evidence.operators)] if bug.finding.evidence.is_plan else []
    )
    if bug.finding.run.outcome == SOLVED:
        plans.append(("policy's plan", bug.finding.run.operators))
    agreed = 0
    for name, operators in plans:
        plan = format_operator_plan(task, operators)
        opinion = val_opinion(program, domain, problem, plan)
        if opinion is None:
            continue
        if not opinion.valid:
            return f"VAL does not accept the {name}: {opinion.words}", agreed
        agreed += 1
    return "", agreed


def refuse_damaged(store: WorkspaceReader) -> None:
    if damage := store.damage():
        text = f"the file is damaged: {' '.join(damage.split())}"
        raise WorkspaceError(text, Location.of(store.path), "restore a backup")
