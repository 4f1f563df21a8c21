"""VAL is a second opinion: it is heard where it has one, and only there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from reference.bug_workspace import DOMAIN, InThreads, problem_text

from engine.policies.consent import NO_CONSENT
from engine.records.config import CampaignConfig
from engine.usecases.campaign import run
from engine.usecases.verify import verify
from engine.verify.val import val_opinion, val_program
from engine.workers.link import NULL_LINK
from engine.workspace.workspace import Workspace

VAL = val_program()
pytestmark = pytest.mark.skipif(VAL is None, reason="VAL is not installed")
PLAN = """\
(drive a b)
(take load0 b)
(drive b c)
(drive c d)
(leave load0 d)
(drive d b)
(drive b a)
"""


UNREADABLE = DOMAIN.replace("?b", "?after")
"""VAL stumbles over the name of this parameter, which data-network has as well."""


def test_a_plan_is_accepted_or_refused() -> None:
    assert VAL is not None
    problem = problem_text(1)
    accepted = val_opinion(VAL, DOMAIN, problem, PLAN)
    assert accepted is not None
    assert accepted.valid
    refused = val_opinion(VAL, DOMAIN, problem, PLAN.replace("(take load0 b)\n", ""))
    assert refused is not None
    assert not refused.valid
    assert "Plan failed" in refused.words
    early = val_opinion(VAL, DOMAIN, problem, "(drive a b)\n")
    assert early is not None
    assert not early.valid


def test_what_cannot_be_read_is_no_opinion() -> None:
    assert VAL is not None
    assert val_opinion(VAL, UNREADABLE, problem_text(1), PLAN) is None


def test_bugs_of_a_domain_that_val_cannot_read_hold(
    configure: Callable[..., CampaignConfig], folder: Path
) -> None:
    (folder / "domain.pddl").write_text(UNREADABLE)
    more = 'fuzzing.size = 4\ntesting.oracles = ["astar"]\n'
    path = folder / "w.plumb"
    with Workspace.create(path) as store:
        run(configure('"p1.pddl"', more=more), store, executor=InThreads(1))
    found = verify(NULL_LINK, path, NO_CONSENT)
    assert found.bugs
    assert found.problems == ()
    assert {plans for _, plans in found.plans} == {0}
