"""Writes bundles of bugs in the background."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from app.work.link import Link
from engine.campaign.bundle import Bundle, write_bundle
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
