"""A*: every bug with its exact gap, and optimality where there is none."""

import pytest
from reference.oracle_sessions import PIT, examine, proven, road

from engine.errors import UsageError
from engine.oracles.registry import parse_oracle
from engine.records.events import OracleVerdict
from engine.records.finding import BugKind


def test_it_proves_the_exact_gap() -> None:
    session = road("direct")
    examination = examine(session, "astar", 0)
    assert (examination.verdict, examination.bound) == (OracleVerdict.BUG, 6)
    finding = session.findings[0]
    assert (finding.kind, finding.gap) == (BugKind.TOO_EXPENSIVE, 3)
    assert proven(session, 0) == [("astar", "walk on home")]


def test_it_proves_that_the_policy_fails() -> None:
    session = road("walk fall crawl turn")
    assert examine(session, "astar", 0).verdict is OracleVerdict.BUG
    assert session.findings[0].kind is BugKind.FAILS
    assert set(session.findings) == {0, 1}  # the plan goes through 1; the pit has none


def test_an_optimal_policy_is_proven_optimal() -> None:
    session = road("walk on home")
    assert examine(session, "astar", 0).verdict is OracleVerdict.OPTIMAL
    assert not session.findings


def test_where_nothing_leads_to_the_goal_there_is_no_bug() -> None:
    session = road("crawl turn")
    assert examine(session, "astar", PIT).verdict is OracleVerdict.OPTIMAL
    assert not session.findings


def test_a_limit_proves_nothing() -> None:
    session = road("direct")
    assert examine(session, "astar:expansions=1", 0).verdict is OracleVerdict.NOT_REFUTED
    assert not session.findings


def test_it_declines_options_it_does_not_have() -> None:
    with pytest.raises(UsageError, match="astar has no option 'depth'; it has: expansions"):
        parse_oracle("astar:depth=1")
