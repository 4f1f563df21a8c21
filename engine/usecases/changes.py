"""Compares two campaigns of a workspace, where that takes too long for the window."""

from __future__ import annotations

from pathlib import Path

from engine.campaign.changes import Comparison, compare_campaigns
from engine.workers.link import Link
from engine.workspace.workspace import Workspace


def compare_in_background(link: Link, workspace: Path, before: int, after: int) -> Comparison:
    del link
    with Workspace.open(workspace) as store:
        return compare_campaigns(store, before, after)
