"""Checks bugs of a workspace again, from the stored files up, independent of who found them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.oracles.registry import factorizations
from engine.policies.consent import Consent
from engine.verify.stored import Verified, refuse_damaged, verify_bugs
from engine.workers.link import Link
from engine.workspace.workspace import Workspace


def verify(
    link: Link, workspace: Path, bugs: Sequence[int] | None, consent: Consent
) -> tuple[Verified, ...]:
    """Return one verdict per bug (None: of all bugs), by number; each is emitted when it is there.

    The policies are asked again, too: plug-ins and servers only with consent.
    """
    with Workspace.open(workspace) as store:
        refuse_damaged(store)
        rows = store.bugs() if bugs is None else [store.bug(bug).row for bug in dict.fromkeys(bugs)]
        verdicts: list[Verified] = []
        link.progress(0, len(rows))
        for verdict in verify_bugs(store, rows, factorizations, link, consent=consent):
            link.check()  # first: a check that was cut short says nothing about the bug
            verdicts.append(verdict)
            link.emit(verdict)
            link.progress(len(verdicts), len(rows), f"bug {verdict.bug}")
    return tuple(sorted(verdicts, key=lambda verdict: verdict.bug))
