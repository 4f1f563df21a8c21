"""Checks the claims of a workspace again, from the stored files up, by independent code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.campaign.inputs import read_file, read_policies
from engine.errors import CancelledError
from engine.experiments.plan import experiment_key, plan_trials
from engine.fuzzing.imported_pool import ImportedPool
from engine.oracles.registry import factorizations
from engine.policies.consent import Consent
from engine.records.config import Factorization, OracleSettings
from engine.records.evidence import State
from engine.records.inputs import File
from engine.records.verification import Verification
from engine.task.task import Task
from engine.verify.inputs import GivenFiles
from engine.verify.stored import EVERYTHING, Finders, Verifier, VerifyOptions, refuse_damaged
from engine.workers.link import Link
from engine.workspace.workspace import Workspace


def imported_states(file: File, task: Task) -> list[State]:
    return [entry.state for entry in ImportedPool(file, task).entries]


def read_given(domain: str | None, problems: Sequence[str], policies: Sequence[str]) -> GivenFiles:
    """Read files of the user, to compare them with the copies in a workspace."""
    return GivenFiles(
        None if domain is None else read_file(domain),
        tuple(map(read_file, problems)),
        read_policies(policies),
    )


def used_factorizations(testing: OracleSettings) -> tuple[Factorization, ...]:
    return factorizations(testing.oracles, testing.factors)


FINDERS = Finders(used_factorizations, imported_states, experiment_key, plan_trials)


def verify(
    link: Link, workspace: Path, consent: Consent, options: VerifyOptions = EVERYTHING
) -> Verification:
    """Verify all claims of a workspace, or those about some bugs.

    Policies are run again, plug-ins and servers only with consent.
    """
    with Workspace.open(workspace) as store:
        refuse_damaged(store)
        verifier = Verifier(store, FINDERS, options, consent, link)
        link.progress(0, None)
        try:
            for number, item in enumerate(verifier.claims(), 1):
                link.progress(number, None, f"{item.claim}: {item.text}")
        except CancelledError:
            if options.seconds is None:
                raise
            verifier.stop(f"it was not checked within {options.seconds:g} s")
    return verifier.result()
