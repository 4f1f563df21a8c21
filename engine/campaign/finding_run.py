"""The stored run from a bug state, put to the localiser with what the evidence proves."""

from __future__ import annotations

from collections.abc import Sequence

from engine.campaign.events import State, StoredRun
from engine.errors import WorkspaceError
from engine.localize.localisation import Localisation
from engine.localize.policy_run import Localiser
from engine.localize.searching import LocalisationLimits
from engine.oracles.evidence import Evidence
from engine.policies.run_graph import Outcome, Reason
from engine.policies.runs import PolicyRun
from engine.task.states import StateTable


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
