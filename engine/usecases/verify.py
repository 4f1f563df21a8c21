"""Checks bugs of a workspace again in the background, from the stored files up."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.errors import CancelledError
from engine.policies.consent import Consent
from engine.verify.stored import Verified, refuse_damaged, verify_bugs
from engine.workers.link import Link
from engine.workspace.workspace import Workspace


def verify(
    link: Link, workspace: Path, bugs: Sequence[int], consent: Consent
) -> tuple[Verified, ...]:
    """One verdict per bug; each is emitted as soon as it is there."""
    with Workspace.open(workspace) as store:
        refuse_damaged(store)
        rows = store.bug_rows(bugs)
        verdicts: list[Verified] = []
        link.progress(0, len(rows))
        for verdict in verify_bugs(store, rows, link.control, consent=consent):
            verdicts.append(verdict)
            link.emit(verdict)
            link.progress(len(verdicts), len(rows), f"bug {verdict.bug}")
            if link.cancelled():
                raise CancelledError
    return tuple(verdicts)
