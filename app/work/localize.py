"""Finds the bad steps of bugs in the background and keeps what it finds in the workspace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.work.link import Link
from app.work.stopping import stoppable
from engine.campaign.found_plan import keep_plan, plan_of_localisation
from engine.campaign.localising import BugLocaliser
from engine.campaign.store import Store
from engine.errors import CancelledError
from engine.localize.policy_run import BISECTION
from engine.localize.searching import LocalisationLimits


@dataclass(frozen=True, slots=True)
class LocalisationWish:
    """How the user wants bad steps to be looked for."""

    algorithm: str = BISECTION
    heuristic: str = "lmcut"
    search_expansions: int = 100_000
    seconds: float | None = 60.0  # for one bug


@dataclass(frozen=True, slots=True)
class Localised:
    """A bug whose verdicts are in the workspace now."""

    bug: int
    bad_steps: tuple[int, ...]
    undecided_steps: tuple[int, ...]


def localize(
    link: Link, workspace: Path, bugs: Sequence[int], wish: LocalisationWish
) -> tuple[Localised, ...]:
    """Emits a `Searched` after each search and a `Localised` after each bug.

    A bug that is being examined when the user stops keeps what was known of it before. A better
    plan that comes to light becomes the evidence of a bug that had only a bound.
    """
    done: list[Localised] = []
    limits = LocalisationLimits(
        search_expansions=wish.search_expansions, total_seconds=wish.seconds
    )
    with Store.open(workspace) as store, stoppable(link) as control:
        localiser = BugLocaliser(
            store,
            algorithm=wish.algorithm,
            heuristic=wish.heuristic,
            control=control,
            emit=link.emit,
        )
        for number in bugs:
            link.progress(len(done), len(bugs), f"bug {number}")
            bug = store.bug(number)
            found = localiser.localise(bug, limits)
            if link.cancelled():
                raise CancelledError
            localiser.keep(bug, found)
            plan = None if bug.evidence.is_plan else plan_of_localisation(bug, found)
            if plan is not None:
                keep_plan(store, bug, localiser.task(bug.problem_id), plan)
            done.append(Localised(number, found.bad_steps, found.undecided_steps))
            link.emit(done[-1])
    return tuple(done)
