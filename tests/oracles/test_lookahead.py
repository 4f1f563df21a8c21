"""Look-ahead: other first steps, then the policy itself."""

import pytest
from reference.oracle_sessions import PIT, examine, proven, road

from engine.errors import UsageError
from engine.oracles.registry import parse_oracle
from engine.records.events import OracleVerdict
from engine.records.finding import BugKind


def test_another_first_step_is_better() -> None:
    session = road("direct on home")
    examination = examine(session, "lookahead:depth=1", 0)
    assert (examination.verdict, examination.bound) == (OracleVerdict.BUG, 6)
    assert session.findings[0].kind is BugKind.TOO_EXPENSIVE
    assert proven(session, 0) == [("lookahead:depth=1", "walk"), ("policy", "on home")]


def test_it_reaches_as_far_as_its_depth() -> None:
    session = road("direct home")
    assert examine(session, "lookahead:depth=1", 0).verdict is OracleVerdict.NOT_REFUTED
    assert not session.findings
    assert examine(session, "lookahead", 0).verdict is OracleVerdict.BUG
    assert proven(session, 0) == [("lookahead", "walk on"), ("policy", "home")]


@pytest.mark.parametrize(("policy", "state"), [("walk on home", 0), ("crawl turn", PIT)])
def test_where_no_plan_is_cheaper_there_is_no_bug(policy: str, state: int) -> None:
    session = road(policy)
    assert examine(session, "lookahead:depth=3", state).verdict is OracleVerdict.NOT_REFUTED
    assert not session.findings


def test_it_declines_to_look_nowhere() -> None:
    with pytest.raises(UsageError, match="lookahead: '0' is not a positive number; write depth=10"):
        parse_oracle("lookahead:depth=0")
