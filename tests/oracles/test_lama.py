"""LAMA: a process of its own that proves bugs by plans, within a time limit."""

import pytest
from reference.oracle_sessions import PIT, examine, proven, road

from engine.errors import UsageError
from engine.oracles.registry import parse_oracle
from engine.records.events import OracleVerdict
from engine.records.finding import BugKind


def test_a_cheaper_plan_is_a_bug() -> None:
    session = road("direct")
    examination = examine(session, "lama", 0)
    assert (examination.verdict, examination.bound) == (OracleVerdict.BUG, 6)
    assert session.findings[0].kind is BugKind.TOO_EXPENSIVE
    assert proven(session, 0) == [("lama", "walk on home")]


def test_where_no_plan_is_cheaper_there_is_no_bug() -> None:
    session = road("walk on home crawl turn")
    for state in (0, PIT):
        assert examine(session, "lama", state).verdict is not OracleVerdict.BUG
    assert not session.findings


def test_it_declines_to_count_expansions() -> None:
    with pytest.raises(UsageError, match="lama has no option 'expansions'; it has: seconds"):
        parse_oracle("lama:expansions=10")
