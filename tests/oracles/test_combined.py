"""Combined: bound maintenance first, a planner where that shows nothing."""

import pytest
from reference.oracle_sessions import MORPH, examine, proven, state_id, switch_session, switch_task

from engine.errors import UsageError
from engine.oracles.registry import parse_oracle
from engine.records.events import OracleVerdict

WASTEFUL = {(0, 0): "ahead-0", (1, 0): "flip-0", (1, 1): "ahead-1", (2, 1): "ahead-2"}
"""It flips a switch that leads nowhere."""
STRAIGHT = {(x, y): f"ahead-{x}" for x in range(3) for y in range(2)}


def test_bound_maintenance_comes_first() -> None:
    session = switch_session(switch_task(), WASTEFUL)
    state = state_id(session, 1, 0)
    examination = examine(session, "combined:lookahead=0", state)
    assert (examination.verdict, examination.bound) == (OracleVerdict.BUG, 2)
    assert ("combined:lookahead=0", MORPH) in proven(session, state, "combined")


def test_a_planner_helps_where_no_bound_is_known() -> None:
    session = switch_session(switch_task(), {})
    state = state_id(session, 0, 0)
    examination = examine(session, "combined:lookahead=0", state)
    assert (examination.verdict, examination.bound) == (OracleVerdict.BUG, 3)
    assert proven(session, state) == [("combined:lookahead=0", "ahead-0 ahead-1 ahead-2")]


def test_an_optimal_policy_is_not_flagged() -> None:
    session = switch_session(switch_task((5, 1, 2)), STRAIGHT)
    for x in range(3):
        examination = examine(session, "combined", state_id(session, x, 0))
        assert examination.verdict is not OracleVerdict.BUG
    assert not session.findings


def test_where_nothing_leads_to_the_goal_there_is_no_bug() -> None:
    session = switch_session(switch_task(), STRAIGHT)
    states = [state_id(session, place, 0) for place in (0, 1, 4, 5)]
    assert examine(session, "combined", *states).verdict is not OracleVerdict.BUG
    assert not session.findings


def test_it_declines_switches_that_are_none() -> None:
    with pytest.raises(
        UsageError, match="combined: 'yes' is not a switch; write intermediate=true"
    ):
        parse_oracle("combined:intermediate=yes")


def test_its_searches_can_be_limited_in_time() -> None:
    _, values = parse_oracle("combined:search_seconds=2,seconds=30")
    assert (values["search_seconds"], values["seconds"]) == (2, 30)
