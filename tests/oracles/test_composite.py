"""Composite: the combined oracle first, policy comparison where that shows nothing."""

import pytest
from reference.oracle_sessions import MORPH, examine, proven, state_id, switch_session, switch_task

from engine.errors import UsageError
from engine.records.events import OracleVerdict

WASTEFUL = {(0, 0): "ahead-0", (1, 0): "flip-0", (1, 1): "ahead-1", (2, 1): "ahead-2"}
"""It flips a switch that leads nowhere."""
STRAIGHT = {(x, y): f"ahead-{x}" for x in range(3) for y in range(2)}

RIVALS = {"straight": "ahead-0 ahead-1 ahead-2"}
BLIND = "composite:lookahead=0,expansions=1,probability=0"


def test_the_combined_oracle_comes_first() -> None:
    session = switch_session(switch_task(), WASTEFUL, RIVALS)
    state = state_id(session, 1, 0)
    examination = examine(session, "composite:lookahead=0", state)
    assert (examination.verdict, examination.bound) == (OracleVerdict.BUG, 2)
    assert ("combined", MORPH) in proven(session, state, "composite")


def test_rivals_help_where_it_finds_nothing() -> None:
    session = switch_session(switch_task(), {}, RIVALS)
    state = state_id(session, 0, 0)
    examination = examine(session, BLIND, state)
    assert (examination.verdict, examination.bound) == (OracleVerdict.BUG, 3)
    assert proven(session, state) == [("straight", "ahead-0 ahead-1 ahead-2")]


def test_an_optimal_policy_is_not_flagged() -> None:
    session = switch_session(switch_task((5, 1, 2)), STRAIGHT, RIVALS)
    for x in range(3):
        examination = examine(session, "composite", state_id(session, x, 0))
        assert examination.verdict is not OracleVerdict.BUG
    assert not session.findings


def test_where_nothing_leads_to_the_goal_there_is_no_bug() -> None:
    session = switch_session(switch_task(), STRAIGHT, RIVALS)
    states = [state_id(session, place, 0) for place in (0, 1, 4, 5)]
    assert examine(session, "composite", *states).verdict is not OracleVerdict.BUG
    assert not session.findings


def test_it_declines_without_a_portfolio() -> None:
    session = switch_session(switch_task(), STRAIGHT)
    with pytest.raises(UsageError, match="composite needs a portfolio of policies to compare with"):
        examine(session, "composite", 0)
