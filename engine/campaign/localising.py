"""Localisation of a campaign's findings: the stored run, with what its evidence already proves.

Neither the policy nor the translator is needed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.campaign.events import State, StoredRun
from engine.errors import WorkspaceError
from engine.localize.localisation import Localisation
from engine.localize.policy_run import BISECTION, Listener, Localiser, ignore
from engine.localize.searching import LocalisationLimits
from engine.native.control import Control
from engine.oracles.evidence import Evidence
from engine.policies.run_graph import Outcome, Reason
from engine.policies.runs import PolicyRun
from engine.task.states import StateTable
from engine.task.task import Task

if TYPE_CHECKING:  # units localise, and the store knows units
    from engine.campaign.reading import Bug
    from engine.campaign.store import Store


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
        return localise_finding(localiser, bug.state, bug.run, bug.evidence, limits)

    def task(self, problem: int) -> Task:
        return self._localiser(problem).table.task

    def keep(self, bug: Bug, found: Localisation) -> None:
        """Store a localisation unless a better one is there."""
        known = self._store.localisation(bug.row.id)
        if known is None or len(found.undecided_steps) <= len(known.undecided_steps):
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


def localise_finding(
    localiser: Localiser,
    state: State,
    run: StoredRun,
    evidence: Evidence,
    limits: LocalisationLimits | None = None,
) -> Localisation:
    """Which steps of the run from a bug state are bad."""
    closes_loop = run.reason == str(Reason.LOOP) and run.last_decision >= 0
    return localiser.localise(
        replayed(localiser.table, state, run),
        run.last_decision if closes_loop else None,
        known_plan=evidence.operators if evidence.is_plan else None,
        known_bound=evidence.bound,
        limits=limits,
    )


def replayed(table: StateTable, state: State, run: StoredRun) -> PolicyRun:
    """A stored run as a run through a table."""
    return PolicyRun(
        Outcome[run.outcome.upper()],
        Reason[run.reason.upper().replace("-", "_")],
        run.cost,
        tuple(_walk(table, state, run.operators)),
        run.operators,
    )


def _walk(table: StateTable, state: State, operators: Sequence[int]) -> list[int]:
    states: list[int] = table.add(state).tolist()
    for operator in operators:
        (successor,) = table.apply([states[-1]], [operator]).tolist()
        if successor < 0:
            raise WorkspaceError("the policy's run cannot be replayed", hint="take a copy")
        states.append(successor)
    return states
