"""Localization of the bugs in a workspace.

Their runs and tasks are stored, so neither the policy nor the translator is needed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.campaign.unit import localize_finding
from engine.errors import CancelledError, WorkspaceError
from engine.localize.localizer import BISECTION, Listener, Localizer
from engine.localize.run_searches import LocalizationLimits
from engine.native.control import Control
from engine.records.localization import Localization
from engine.task.states import StateTable
from engine.task.task import Task
from engine.usecases.better_plan import keep_plan, plan_of_localization
from engine.verify.claims import require_fit
from engine.workers.link import NULL_LINK, Link
from engine.workspace.rows import Bug
from engine.workspace.workspace import Workspace


class BugLocalizer:
    """Localizes stored bugs one by one; those of the same problem share what is known."""

    def __init__(
        self,
        store: Workspace,
        *,
        algorithm: str = BISECTION,
        heuristic: str = "lmcut",
        control: Control | None = None,
        emit: Listener = NULL_LINK.emit,
    ) -> None:
        self._store = store
        self._algorithm, self._heuristic = algorithm, heuristic
        self._control, self._emit = control or Control(), emit
        self._by_problem: dict[int, Localizer] = {}

    def localize(self, bug: Bug, limits: LocalizationLimits | None = None) -> Localization:
        """Which steps of a bug's run are bad; `keep` writes it down."""
        localizer = self._localizer(bug.problem_id)
        require_fit(bug, localizer.table.task)
        return localize_finding(localizer, bug.state, bug.run, bug.evidence, limits)

    def task(self, problem: int) -> Task:
        return self._localizer(problem).table.task

    def keep(self, bug: Bug, found: Localization) -> None:
        """Workspace a localization unless one of the same run is there that knows more."""
        try:
            known = self._store.localization(bug.row.id)
        except WorkspaceError:
            known = None  # damaged, and now mended
        if known is None or not _knows_more(known, found):
            self._store.save_localization(bug.row.id, found)

    def _localizer(self, problem: int) -> Localizer:
        if problem not in self._by_problem:
            self._by_problem[problem] = Localizer(
                StateTable(self._store.task(problem)),
                algorithm=self._algorithm,
                heuristic=self._heuristic,
                control=self._control,
                emit=self._emit,
            )
        return self._by_problem[problem]


def _knows_more(known: Localization, found: Localization) -> bool:
    same_run = [step.operator for step in known.steps] == [step.operator for step in found.steps]
    return same_run and len(known.undecided_steps) < len(found.undecided_steps)


@dataclass(frozen=True, slots=True)
class LocalizeOptions:
    """How the user wants bad steps to be looked for."""

    algorithm: str = BISECTION
    heuristic: str = "lmcut"
    search_expansions: int = 100_000
    seconds: float | None = 60.0  # for one bug


@dataclass(frozen=True, slots=True)
class Localized:
    """A bug whose verdicts are in the workspace now."""

    bug: int
    bad_steps: tuple[int, ...]
    undecided_steps: tuple[int, ...]


def localize(
    link: Link, workspace: Path, bugs: Sequence[int], wish: LocalizeOptions
) -> tuple[Localized, ...]:
    """Emits a `Searched` after each search and a `Localized` after each bug.

    A bug that is being examined when the user stops keeps what was known of it before. A better
    plan that comes to light becomes the evidence of a bug that had only a bound.
    """
    done: list[Localized] = []
    limits = LocalizationLimits(
        search_expansions=wish.search_expansions, total_seconds=wish.seconds
    )
    with Workspace.open(workspace) as store:
        localizer = BugLocalizer(
            store,
            algorithm=wish.algorithm,
            heuristic=wish.heuristic,
            control=link.control,
            emit=link.emit,
        )
        for number in bugs:
            link.progress(len(done), len(bugs), f"bug {number}")
            bug = store.bug(number)
            found = localizer.localize(bug, limits)
            if link.cancelled():
                raise CancelledError
            localizer.keep(bug, found)
            plan = None if bug.evidence.is_plan else plan_of_localization(bug, found)
            if plan is not None:
                keep_plan(store, bug, localizer.task(bug.problem_id), plan)
            done.append(Localized(number, found.bad_steps, found.undecided_steps))
            link.emit(done[-1])
    return tuple(done)
