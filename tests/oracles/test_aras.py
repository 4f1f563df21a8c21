"""Aras: the policy's own plan, made cheaper."""

import pytest
from reference.oracle_sessions import PIT, examine, proven, road, session_on

from engine.errors import UsageError
from engine.oracles.registry import parse_oracle
from engine.records.events import OracleVerdict
from engine.records.finding import BugKind

DETOUR = {
    "a": (0, 1, 3), "b": (1, 2, 3), "c": (2, 3, 3), "cut": (0, 2, 1),
}  # fmt: skip


def test_it_cuts_detours_out_of_the_policys_plan() -> None:
    session = session_on(DETOUR, 3, "a b c")
    examination = examine(session, "aras", 0)
    assert (examination.verdict, examination.bound) == (OracleVerdict.BUG, 4)
    assert (session.findings[0].kind, session.findings[0].gap) == (BugKind.TOO_EXPENSIVE, 5)
    assert proven(session, 0) == [("aras", "cut"), ("policy", "c")]


def test_a_plan_that_nothing_improves_is_optimal() -> None:
    session = road("walk on home")
    assert examine(session, "aras", 0).verdict is OracleVerdict.OPTIMAL
    assert not session.findings


def test_it_has_nothing_to_improve_where_the_policy_fails() -> None:
    session = road("walk fall crawl turn")
    for state in (0, PIT):
        assert examine(session, "aras", state).verdict is OracleVerdict.NOT_REFUTED
    assert not session.findings


def test_it_declines_options_it_does_not_have() -> None:
    with pytest.raises(UsageError, match="aras has no option 'local'"):
        parse_oracle("aras:local=all")
    with pytest.raises(UsageError, match="aras: 'expansions' is given twice"):
        parse_oracle("aras:expansions=1,expansions=2")
