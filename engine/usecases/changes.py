"""Finds out which bugs of a campaign are new, gone, or still there since another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from engine.campaign.changes import Comparison, compare_campaigns
from engine.campaign.patterns import ComparedPattern, compare_patterns
from engine.errors import UsageError
from engine.report.pattern_text import pattern_titles
from engine.workers.link import Link
from engine.workspace.reader import WorkspaceReader
from engine.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed between two campaigns, by their numbers."""

    before: int
    after: int
    comparison: Comparison
    patterns: tuple[ComparedPattern, ...] = ()
    titles: Mapping[int, str] = field(default_factory=dict)  # of patterns


def find_changes(
    link: Link, workspace: Path, before: int | None = None, after: int | None = None
) -> Changes:
    """Compare two campaigns; by default the last one with the one before it."""
    with Workspace.open(workspace) as store:
        pair = _campaigns(workspace, [row.id for row in store.campaigns()], before, after)
        link.progress(0, None, f"campaigns {pair[0]} and {pair[1]}")
        return changes_between(store, *pair)


def changes_between(store: WorkspaceReader, before: int, after: int) -> Changes:
    """How the bugs of two campaigns and their patterns have changed."""
    patterns = tuple(compare_patterns(store, before, after))
    titles = pattern_titles(store) if patterns else {}
    return Changes(before, after, compare_campaigns(store, before, after), patterns, titles)


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
