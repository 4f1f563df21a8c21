"""Finds out which bugs of a campaign are new, gone, or still there since another."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.campaign.changes import Comparison, compare_campaigns
from engine.errors import UsageError
from engine.workers.link import Link
from engine.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed between two campaigns, by their numbers."""

    before: int
    after: int
    comparison: Comparison


def find_changes(
    link: Link, workspace: Path, before: int | None = None, after: int | None = None
) -> Changes:
    """Compare two campaigns; by default the last one with the one before it."""
    with Workspace.open(workspace) as store:
        pair = _campaigns(workspace, [row.id for row in store.campaigns()], before, after)
        link.progress(0, None, f"campaigns {pair[0]} and {pair[1]}")
        return Changes(*pair, compare_campaigns(store, *pair))


def _campaigns(
    workspace: Path, known: list[int], before: int | None, after: int | None
) -> tuple[int, int]:
    if len(known) < 2:
        held = "1 campaign" if known else "no campaigns"
        raise UsageError(
            f"{workspace} has {held}; two are needed to find changes",
            hint="run another campaign into it",
        )
    after = known[-1] if after is None else after
    earlier = [number for number in known if number < after] or known
    before = earlier[-1] if before is None else before
    for number in (before, after):
        if number not in known:
            raise UsageError(
                f"unknown campaign {number}", hint=f"choose from {', '.join(map(str, known))}"
            )
    return before, after
