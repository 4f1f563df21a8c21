"""Writes bundles of bugs, and files for other tools, in the background."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from app.work.link import Link
from engine.campaign.bundle import Bundle, write_bundle
from engine.campaign.exchange import Exported, export_unit, unit_called
from engine.campaign.store import Store
from engine.errors import CancelledError
from engine.task.task import Task


def export_bundles(
    link: Link, workspace: Path, bugs: Sequence[int], folder: Path
) -> tuple[Bundle, ...]:
    """A folder per bug below `folder`."""
    bundles: list[Bundle] = []
    with Store.open(workspace) as store:
        tasks: dict[int, Task] = {}
        for number in bugs:
            link.progress(len(bundles), len(bugs), f"bug {number}")
            if link.cancelled():
                raise CancelledError
            problem = store.bug(number).problem_id
            if problem not in tasks:
                tasks[problem] = store.task(problem)
            bundles.append(write_bundle(store, number, folder, tasks[problem]))
    return tuple(bundles)


def export_for_others(link: Link, workspace: Path, unit: int, name: str, path: Path) -> Exported:
    """What a unit holds, as a file of the reference tools; `name` is that of the format."""
    link.progress(0, None, path.name)
    with Store.open(workspace) as store:
        return export_unit(store, unit_called(store, unit), name, path)
