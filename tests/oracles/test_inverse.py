"""Inverse: the walk is taken back step by step, one operator each."""

import pytest
from reference.oracle_sessions import (
    LONG_WAY_BACK,
    NO_WAY_BACK,
    WAY_BACK,
    examine,
    proven,
    session_on,
    walked,
)

from engine.errors import UsageError
from engine.oracles.registry import parse_oracle
from engine.records.events import OracleVerdict
from engine.records.finding import BugKind


def test_the_way_back_and_the_plan_from_there_are_a_plan() -> None:
    session = walked(WAY_BACK)
    examination = examine(session, "inverse", 1)
    assert (examination.verdict, examination.bound) == (OracleVerdict.BUG, 6)
    assert session.findings[1].kind is BugKind.FAILS
    assert proven(session, 1) == [("inverse", "back"), ("policy", "end")]


def test_without_a_way_back_nothing_is_proven() -> None:
    session = walked(NO_WAY_BACK)
    assert examine(session, "inverse", 1).verdict is OracleVerdict.NOT_REFUTED
    assert not session.findings


def test_going_back_to_where_the_policy_fails_proves_nothing() -> None:
    session = walked(WAY_BACK, policy="")
    assert examine(session, "inverse", 1).verdict is OracleVerdict.NOT_REFUTED
    assert not session.findings


def test_a_state_that_no_walk_led_to_is_left_alone() -> None:
    session = session_on(WAY_BACK, 2, "end")
    assert examine(session, "inverse", 1).verdict is OracleVerdict.NOT_REFUTED
    assert not session.findings


def test_a_longer_way_back_is_not_looked_for() -> None:
    session = walked(LONG_WAY_BACK)
    assert examine(session, "inverse", 1).verdict is OracleVerdict.NOT_REFUTED
    assert not session.findings


def test_it_declines_limits() -> None:
    with pytest.raises(UsageError, match="inverse has no option 'expansions'; it has: plan"):
        parse_oracle("inverse:expansions=10")


def test_only_the_policys_own_plan_may_count() -> None:
    """As in the paper; otherwise whatever is known where the walk began."""
    for option, verdict in (("policy", OracleVerdict.NOT_REFUTED), ("best", OracleVerdict.BUG)):
        session = walked(WAY_BACK, policy="")
        session.bounds.add_plan(0, [list(WAY_BACK).index("end")], "search")
        assert examine(session, f"inverse:plan={option}", 1).verdict is verdict
