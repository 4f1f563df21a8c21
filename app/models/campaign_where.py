"""Where the units of a campaign run: a choice of this machine, kept in the settings, and its words.

The choice is written as on the command line, `local:N` or `dask:ADDRESS`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from app.settings import Settings
from app.work.campaign import Scene
from engine.campaign.cluster import ClusterSize, problem_with_address

MOST_WORKERS = 256
_KEY = "campaign/where"


@dataclass(frozen=True, slots=True)
class Where:
    on_cluster: bool
    workers: int  # processes of this machine at a time
    address: str  # of the scheduler, also while it is not used

    @property
    def executor(self) -> str:
        return f"dask:{self.address}" if self.on_cluster else f"local:{self.workers}"

    def problem(self) -> str:
        """What is wrong with the choice, or nothing."""
        return problem_with_address(self.address) if self.on_cluster else ""


def default_workers() -> int:
    return max(1, min(4, (os.cpu_count() or 2) - 1))


def where(settings: Settings) -> Where:
    """As it was left; what makes no sense is left out."""
    kept: dict[str, object] = settings.get(_KEY, {})
    workers, address = kept.get("workers"), kept.get("address")
    choice = Where(kept.get("on_cluster") is True, default_workers(), "")
    if isinstance(workers, int) and 1 <= workers <= MOST_WORKERS:
        choice = replace(choice, workers=workers)
    return replace(choice, address=address) if isinstance(address, str) else choice


def keep_where(settings: Settings, choice: Where) -> None:
    settings.set(
        _KEY,
        {
            "on_cluster": choice.on_cluster,
            "workers": choice.workers,
            "address": choice.address,
        },
    )


def size_words(size: ClusterSize) -> str:
    workers = "1 worker" if size.workers == 1 else f"{size.workers} workers"
    places = "1 unit" if size.places == 1 else f"{size.places} units"
    return f"{workers}, {places} at a time"


def scene_words(executor: str, scene: Scene) -> str:
    """Where the units run now, for a line beside the progress."""
    kind, _, what = executor.partition(":")
    if kind == "local":
        at_a_time = "one unit" if what == "1" else f"{what} units"
        return f"On this machine, {at_a_time} at a time"
    if scene.cluster is None:
        return f"Connecting to {what}…"
    if scene.cluster.workers == 0:
        words = f"There are no workers at {what} now: the units wait for one"
    else:
        words = f"On {what}: {size_words(scene.cluster)}"
    if scene.restarted == 1:
        words += " · a worker was lost, its unit began again"
    elif scene.restarted:
        words += f" · workers were lost, {scene.restarted} units began again"
    return words
