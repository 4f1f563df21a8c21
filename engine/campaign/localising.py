"""Localisation of the bugs in a workspace.

Their runs and tasks are stored, so neither the policy nor the translator is needed again.
"""

from __future__ import annotations

from engine.campaign.finding_run import localise_finding
from engine.campaign.fitting import refuse_misfit
from engine.campaign.rows import Bug
from engine.campaign.store import Store
from engine.errors import WorkspaceError
from engine.localize.localisation import Localisation
from engine.localize.policy_run import BISECTION, Listener, Localiser, ignore
from engine.localize.searching import LocalisationLimits
from engine.native.control import Control
from engine.task.states import StateTable
from engine.task.task import Task


class BugLocaliser:
    """Localises stored bugs one by one; those of the same problem share what is known."""

    def __init__(
        self,
        store: Store,
        *,
        algorithm: str = BISECTION,
        heuristic: str = "lmcut",
        control: Control | None = None,
        emit: Listener = ignore,
    ) -> None:
        self._store = store
        self._algorithm, self._heuristic = algorithm, heuristic
        self._control, self._emit = control or Control(), emit
        self._by_problem: dict[int, Localiser] = {}

    def localise(self, bug: Bug, limits: LocalisationLimits | None = None) -> Localisation:
        """Which steps of a bug's run are bad; `keep` writes it down."""
        localiser = self._localiser(bug.problem_id)
        refuse_misfit(bug, localiser.table.task)
        return localise_finding(localiser, bug.state, bug.run, bug.evidence, limits)

    def task(self, problem: int) -> Task:
        return self._localiser(problem).table.task

    def keep(self, bug: Bug, found: Localisation) -> None:
        """Store a localisation unless one of the same run is there that knows more."""
        try:
            known = self._store.localisation(bug.row.id)
        except WorkspaceError:
            known = None  # damaged, and now mended
        if known is None or not _knows_more(known, found):
            self._store.save_localisation(bug.row.id, found)

    def _localiser(self, problem: int) -> Localiser:
        if problem not in self._by_problem:
            self._by_problem[problem] = Localiser(
                StateTable(self._store.task(problem)),
                algorithm=self._algorithm,
                heuristic=self._heuristic,
                control=self._control,
                emit=self._emit,
            )
        return self._by_problem[problem]


def _knows_more(known: Localisation, found: Localisation) -> bool:
    same_run = [step.operator for step in known.steps] == [step.operator for step in found.steps]
    return same_run and len(known.undecided_steps) < len(found.undecided_steps)
