"""Greedy best-first search: a cheaper plan is a bug, and no plan says nothing."""

import pytest
from reference.oracle_sessions import PIT, examine, proven, road

from engine.errors import UsageError
from engine.oracles.registry import parse_oracle
from engine.records.events import OracleVerdict
from engine.records.finding import BugKind


def test_a_cheaper_plan_is_a_bug() -> None:
    session = road("direct")
    examination = examine(session, "gbfs", 0)
    assert (examination.verdict, examination.bound) == (OracleVerdict.BUG, 6)
    assert session.findings[0].kind is BugKind.TOO_EXPENSIVE
    assert proven(session, 0) == [("gbfs", "walk on home")]


def test_any_plan_is_enough_where_the_policy_fails() -> None:
    session = road("walk fall crawl turn")
    assert examine(session, "gbfs", 0).verdict is OracleVerdict.BUG
    assert session.findings[0].kind is BugKind.FAILS
    assert proven(session, 0)


@pytest.mark.parametrize(("policy", "state"), [("walk on home", 0), ("crawl turn", PIT)])
def test_where_no_plan_is_cheaper_there_is_no_bug(policy: str, state: int) -> None:
    session = road(policy)
    examination = examine(session, "gbfs", state)
    assert examination.verdict is not OracleVerdict.BUG
    assert not session.findings


def test_a_limit_proves_nothing() -> None:
    session = road("direct")
    assert examine(session, "gbfs:expansions=1", 0).verdict is OracleVerdict.NOT_REFUTED
    assert not session.findings


def test_it_declines_limits_that_are_none() -> None:
    with pytest.raises(UsageError, match="gbfs: '0' is not a positive number"):
        parse_oracle("gbfs:expansions=0")
