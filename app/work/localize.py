"""Finds the bad steps of bugs in the background and keeps what it finds in the workspace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.work.link import Link
from app.work.stopping import stoppable
from engine.campaign.localising import localise_finding
from engine.campaign.store import Store
from engine.errors import CancelledError
from engine.localize.policy_run import Localiser, Searched
from engine.localize.searching import LocalisationLimits
from engine.native.control import Control
from engine.task.states import StateTable


@dataclass(frozen=True, slots=True)
class LocalisationWish:
    """How the user wants bad steps to be looked for."""

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

    What was decided before a stop is kept, as long as it is the whole of a bug.
    """
    done: list[Localised] = []
    limits = LocalisationLimits(
        search_expansions=wish.search_expansions, total_seconds=wish.seconds
    )
    with Store.open(workspace) as store, stoppable(link) as control:
        localisers: dict[int, Localiser] = {}
        for number in bugs:
            bug = store.bug(number)
            problem = bug.problem_id
            if problem not in localisers:
                localisers[problem] = _localiser(store, problem, wish.heuristic, control, link)
            link.progress(len(done), len(bugs), f"bug {number}")
            found = localise_finding(localisers[problem], bug.state, bug.run, bug.evidence, limits)
            if link.cancelled():
                raise CancelledError
            store.save_localisation(number, found)
            done.append(Localised(number, found.bad_steps, found.undecided_steps))
            link.emit(done[-1])
    return tuple(done)


def _localiser(
    store: Store, problem: int, heuristic: str, control: Control, link: Link
) -> Localiser:
    def emit(event: Searched) -> None:
        link.emit(event)

    return Localiser(
        StateTable(store.task(problem)), heuristic=heuristic, control=control, emit=emit
    )
