"""Bugs whose runs share a bad step are one root cause, and no others are."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from random import Random
from typing import Any

import pytest
from reference import fdr
from reference.soundness import Truth, policies, random_task

from engine.records.localization import CauseKind, Localization, RootCause, by_schema

MakeRunner = Callable[..., Any]


@pytest.mark.parametrize("seed", range(8))
def test_grouping_by_the_cause_unites_exactly_the_bugs_that_share_a_bad_step(
    runner: MakeRunner, seed: int
) -> None:
    """Solved runs: bugs with a bad step in common, directly or through others."""
    random = Random(500 + seed)
    truth = Truth.of(random_task(random))
    policy = dict(policies(truth, random))["roundabout"]
    examined = runner(truth, policy)
    bad: dict[fdr.State, set[fdr.State]] = {}
    causes: dict[fdr.State, fdr.State] = {}
    for state in truth.states:
        if truth.hstar[state] == fdr.INFINITY:
            continue
        found: Localization = examined.localize(state)
        if found.cause is None:
            continue
        states = examined.states(state, found)
        bad[state] = {states[k] for k in found.bad_steps}
        causes[state] = found.cause.state
        assert found.cause.state in bad[state]
    for one, other in combinations(bad, 2):
        if bad[one] & bad[other]:
            assert causes[one] == causes[other]
    # and the smallest bug of a root cause is where the bad step is taken
    for state in set(causes.values()):
        assert causes[state] == state
        assert bad[state] == {state}


def cause(number: int, action: str, *bugs: int) -> RootCause:
    return RootCause(number, CauseKind.DETOUR, "p", "y", (0,), 0, action, bugs)


def test_schemas_with_the_most_bugs_come_first() -> None:
    causes = [
        cause(1, "walk a b", 4),
        cause(2, "sail a b", 1, 7),
        cause(3, "walk b c", 2, 3),
        cause(4, "", 9),
    ]
    groups = by_schema(causes)
    assert [(g.schema, g.bugs, [c.id for c in g.causes]) for g in groups] == [
        ("walk", 3, [3, 1]),
        ("sail", 2, [2]),
        ("", 1, [4]),
    ]
    assert causes[1].smallest_bug == 1
