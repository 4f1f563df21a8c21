"""Copies a workspace in the background, also while a campaign writes to it."""

from __future__ import annotations

from pathlib import Path

from app.work.link import Link
from engine.campaign.store import Store
from engine.campaign.workspace_copy import copy_workspace
from engine.errors import CancelledError

MEGABYTE = 2**20


def save_copy(link: Link, workspace: Path, path: Path) -> Path:
    def tell(done: int, total: int) -> None:
        if link.cancelled():
            raise CancelledError
        link.progress(done, total, f"{done // MEGABYTE:,} of {total // MEGABYTE:,} MB")

    with Store.open(workspace) as store:
        copy_workspace(store.connection, path, tell)
    return path
