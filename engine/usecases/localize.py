"""Finds the bad steps of bugs in a workspace, or of a fresh run of a policy.

The runs and tasks of bugs are stored, so neither the policy nor the translator is needed again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.errors import LimitReachedError, WorkspaceError
from engine.localize import localizer as localizing
from engine.localize.localizer import BISECTION, Localizer, Searched
from engine.localize.run_searches import MEGABYTES, LocalizationLimits
from engine.policies.policy import close_policy, open_policy
from engine.policies.runs import STEP_LIMIT
from engine.records.localization import Localization
from engine.task.load import load_task_files
from engine.task.states import StateTable, require_state
from engine.task.successors import State
from engine.task.task import Task
from engine.task.translate import Limits
from engine.usecases.run import TakenRun, take_run
from engine.verify.claims import better_evidence, require_fit
from engine.workers.link import Link
from engine.workspace.rows import Bug
from engine.workspace.workspace import Workspace

ALGORITHMS = localizing.ALGORITHMS


@dataclass(frozen=True, slots=True)
class LocalizeOptions:
    """How bad steps are looked for; None is no limit."""

    algorithm: str = BISECTION
    heuristic: str = "lmcut"
    search_expansions: int | None = 1_000_000
    bug_seconds: float | None = 60.0
    total_seconds: float | None = None  # for all bugs together; replaces `bug_seconds`
    megabytes: int = MEGABYTES

    def limits(self, began: float) -> LocalizationLimits:
        """Return the limits for the next bug."""
        seconds = self.bug_seconds
        if self.total_seconds is not None:
            seconds = max(self.total_seconds - (time.monotonic() - began), 0.0)
        return LocalizationLimits(
            search_expansions=self.search_expansions,
            total_seconds=seconds,
            megabytes=self.megabytes,
        )


DEFAULT_OPTIONS = LocalizeOptions()


def keep_localization(store: Workspace, bug: Bug, found: Localization, task: Task) -> int:
    """Store a localization unless one of the same run is there that knows more.

    A plan that came to light becomes the evidence of a bug that had only a bound, or a plan that
    costs more. Returns the bound that is known now.
    """
    try:
        known = store.localization(bug.row.id)
    except WorkspaceError:
        known = None  # damaged, and now replaced
    if known is None or not _knows_more(known, found):
        store.save_localization(bug.row.id, found)
    evidence = better_evidence(bug.finding, found, task)
    if evidence is not None:
        store.save_evidence(bug.row.id, evidence)
    return bug.finding.bound if evidence is None else evidence.bound


def _make_localizer(
    table: StateTable, options: LocalizeOptions, link: Link, hear: Callable[[Searched], None]
) -> Localizer:
    return Localizer(
        table,
        algorithm=options.algorithm,
        heuristic=options.heuristic,
        control=link.control,
        emit=hear,
    )


def _knows_more(known: Localization, found: Localization) -> bool:
    same_run = [step.operator for step in known.steps] == [step.operator for step in found.steps]
    return same_run and len(known.undecided_steps) < len(found.undecided_steps)


@dataclass(frozen=True, slots=True)
class Localizing:
    """The progress of the current bug."""

    bug: int
    searches: int
    decided: int
    steps: int


@dataclass(frozen=True, slots=True)
class Localized:
    """What was found about a bug; it is in the workspace now, or `not_kept` says why not."""

    bug: int
    localization: Localization
    bound_before: int  # what was known to suffice
    bound: int  # what is known to suffice now
    not_kept: str = ""


def better_bound_text(found: Localized) -> str:
    return f"localizing found a cheaper plan: {found.bound} suffices, not {found.bound_before}"


def localize(
    link: Link,
    workspace: Path,
    bugs: Sequence[int] | None,
    options: LocalizeOptions = DEFAULT_OPTIONS,
) -> tuple[Localized, ...]:
    """Find the bad steps of bugs (None: of all of which something is undecided).

    Emits a `Localizing` after each search and a `Localized` after each bug. A bug under way when
    the user stops keeps what was known of it before.
    """
    began = time.monotonic()
    done: list[Localized] = []
    with Workspace.open(workspace) as store:
        numbers = _undecided(store) if bugs is None else bugs
        number = 0

        def hear(event: Searched) -> None:
            part = event.decided / max(event.steps, 1)
            link.progress(len(done) + part, len(numbers), f"bug {number}")
            link.emit(Localizing(number, event.searches, event.decided, event.steps))

        localizers: dict[int, Localizer] = {}  # bugs of the same problem share what is known
        for number in numbers:
            link.progress(len(done), len(numbers), f"bug {number}")
            bug = store.bug(number)
            if bug.problem_id not in localizers:
                table = StateTable(store.task(bug.problem_id))
                localizers[bug.problem_id] = _make_localizer(table, options, link, hear)
            localizer = localizers[bug.problem_id]
            task = localizer.table.task
            require_fit(bug, task)
            found = localizer.localize_finding(bug.finding, options.limits(began))
            link.check()
            bound, not_kept = bug.row.bound, ""
            try:
                bound = keep_localization(store, bug, found, task)
            except WorkspaceError as error:
                not_kept = str(error)
            done.append(Localized(number, found, bug.row.bound, bound, not_kept))
            link.emit(done[-1])
    return tuple(done)


def _undecided(store: Workspace) -> list[int]:
    """Bugs that were not localized, or of which something is undecided or damaged."""
    known = store.localized_bugs()
    return [row.id for row in store.bugs() if row.id not in known or not _is_whole(store, row.id)]


def _is_whole(store: Workspace, bug: int) -> bool:
    try:
        found = store.localization(bug)
    except WorkspaceError:
        return False
    return found is not None and not found.limited


@dataclass(frozen=True, slots=True)
class FreshRun:
    """A run of a policy that is not in a workspace."""

    policy: str
    files: tuple[str, ...]  # of one task
    state: State | None = None  # where it starts; None is the initial state
    step_limit: int | None = STEP_LIMIT
    seed: int = 0
    unit_costs: bool = False


def run_afresh(link: Link, fresh: FreshRun, seconds: float | None = None) -> TakenRun:
    """Load the task and let the policy run."""
    began = time.monotonic()
    task = load_task_files(
        fresh.files,
        unit_costs=fresh.unit_costs,
        limits=Limits(seconds=seconds),
        cancelled=link.cancelled,
    )
    state = task.init if fresh.state is None else require_state(task, fresh.state)
    policy = open_policy(fresh.policy, task.source.domain if task.source else None, fresh.seed)

    def late() -> bool:
        return link.cancelled() or (seconds is not None and time.monotonic() - began > seconds)

    try:
        taken = take_run(policy, task, state, step_limit=fresh.step_limit, cancelled=late)
    finally:
        close_policy(policy)
    if taken.stopped:
        link.check()
        raise LimitReachedError("the policy's run did not end within the time limit")
    return replace(taken, began=began)


def localize_run(
    link: Link, taken: TakenRun, options: LocalizeOptions = DEFAULT_OPTIONS
) -> Localization:
    """Find the bad steps of a fresh run; if stopped, return the results so far."""
    localizer = _make_localizer(
        taken.table,
        options,
        link,
        lambda event: link.progress(event.decided, event.steps, f"{event.searches} searches"),
    )
    return localizer.localize(taken.run, taken.last_decision, limits=options.limits(taken.began))
