"""Aras where the policy reaches the goal, enforced hill climbing where it does not."""

import pytest
from reference.oracle_sessions import PIT, examine, proven, road

from engine.errors import UsageError
from engine.oracles.registry import parse_oracle
from engine.records.events import OracleVerdict
from engine.records.finding import BugKind


@pytest.mark.parametrize(
    ("policy", "kind"),
    [("direct", BugKind.TOO_EXPENSIVE), ("walk fall crawl turn", BugKind.FAILS)],
)
def test_it_finds_bugs_of_both_kinds(policy: str, kind: BugKind) -> None:
    session = road(policy)
    examination = examine(session, "aras-ehc", 0)
    assert (examination.verdict, examination.bound) == (OracleVerdict.BUG, 6)
    assert session.findings[0].kind is kind
    assert proven(session, 0) == [("aras-ehc", "walk on home")]


@pytest.mark.parametrize(("policy", "state"), [("walk on home", 0), ("crawl turn", PIT)])
def test_where_no_plan_is_cheaper_there_is_no_bug(policy: str, state: int) -> None:
    session = road(policy)
    assert examine(session, "aras-ehc", state).verdict is not OracleVerdict.BUG
    assert not session.findings


def test_it_declines_limits_that_are_none() -> None:
    with pytest.raises(UsageError, match="aras-ehc: 'all' is not a positive number"):
        parse_oracle("aras-ehc:expansions=all")
