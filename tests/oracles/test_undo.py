"""Undo: the walk is taken back, by as many operators as it takes."""

import pytest
from reference.oracle_sessions import Edges, examine, proven, session_on

from engine.errors import UsageError
from engine.oracles.registry import parse_oracle
from engine.oracles.session import OracleSession, Origin
from engine.records.events import OracleVerdict
from engine.records.finding import BugKind

WAY_BACK: Edges = {"walk": (0, 1, 2), "back": (1, 0, 5), "end": (0, 2, 1)}
LONG_WAY_BACK: Edges = {
    "walk": (0, 1, 2), "around": (1, 3, 2), "back": (3, 0, 5), "end": (0, 2, 1),
}  # fmt: skip
NO_WAY_BACK: Edges = {"walk": (0, 1, 2), "end": (0, 2, 1)}


def walked(edges: Edges, policy: str = "end") -> OracleSession:
    """State 1 was reached by a walk from state 0; the policy has nothing to do there."""
    session = session_on(edges, 2, policy)
    session.origins[1] = Origin(0, (list(edges).index("walk"),))
    return session


def test_the_way_back_and_the_plan_from_there_are_a_plan() -> None:
    session = walked(WAY_BACK)
    examination = examine(session, "undo", 1)
    assert (examination.verdict, examination.bound) == (OracleVerdict.BUG, 6)
    assert session.findings[1].kind is BugKind.FAILS
    assert proven(session, 1) == [("undo", "back"), ("policy", "end")]


def test_without_a_way_back_nothing_is_proven() -> None:
    session = walked(NO_WAY_BACK)
    assert examine(session, "undo", 1).verdict is OracleVerdict.NOT_REFUTED
    assert not session.findings


def test_going_back_to_where_the_policy_fails_proves_nothing() -> None:
    session = walked(WAY_BACK, policy="")
    assert examine(session, "undo", 1).verdict is OracleVerdict.NOT_REFUTED
    assert not session.findings


def test_a_state_that_no_walk_led_to_is_left_alone() -> None:
    session = session_on(WAY_BACK, 2, "end")
    assert examine(session, "undo", 1).verdict is OracleVerdict.NOT_REFUTED
    assert not session.findings


def test_a_longer_way_back_is_searched_for() -> None:
    session = walked(LONG_WAY_BACK)
    examination = examine(session, "undo", 1)
    assert (examination.verdict, examination.bound) == (OracleVerdict.BUG, 8)
    assert proven(session, 1) == [("undo", "around back"), ("policy", "end")]


def test_a_limit_proves_nothing() -> None:
    session = walked(LONG_WAY_BACK)
    assert examine(session, "undo:expansions=1", 1).verdict is OracleVerdict.NOT_REFUTED
    assert not session.findings


def test_it_declines_limits_that_are_none() -> None:
    with pytest.raises(UsageError, match="undo: '-1' is not a positive number"):
        parse_oracle("undo:expansions=-1")
