"""State morphing: a run from a dominated state, or the run compared with itself."""

import pytest
from reference.oracle_sessions import MORPH, examine, proven, state_id, switch_session, switch_task

from engine.errors import UsageError
from engine.oracles.registry import make_oracle, parse_oracle
from engine.records.events import OracleVerdict

WASTEFUL = {(0, 0): "ahead-0", (1, 0): "flip-0", (1, 1): "ahead-1", (2, 1): "ahead-2"}
"""It flips a switch that leads nowhere."""
STRAIGHT = {(x, y): f"ahead-{x}" for x in range(3) for y in range(2)}


def test_a_run_that_wastes_something_shows_it_by_itself() -> None:
    session = switch_session(switch_task(), WASTEFUL)
    state = state_id(session, 1, 0)
    examination = examine(session, "smo", state)
    assert (examination.verdict, examination.bound) == (OracleVerdict.BUG, 2)
    assert proven(session, state, "smo") == [("smo", MORPH), ("policy", "ahead-1 ahead-2")]


def test_a_dominated_state_may_cost_the_policy_less() -> None:
    policy = {**STRAIGHT, (1, 0): "back-0", (0, 0): "ahead-0"}  # round and round
    session = switch_session(switch_task(), policy)
    state = state_id(session, 1, 0)
    examination = examine(session, "smo:local=none", state)
    assert (examination.verdict, examination.bound) == (OracleVerdict.BUG, 2)
    first, *rest = proven(session, state, "smo")
    assert first == ("smo:local=none", MORPH)
    assert rest == [("policy", "ahead-1 ahead-2")]


def test_an_optimal_policy_is_not_flagged() -> None:
    session = switch_session(switch_task((5, 1, 2)), STRAIGHT)
    for x in range(3):
        state = state_id(session, x, 0)
        assert examine(session, "smo", state).verdict is OracleVerdict.NOT_REFUTED
    assert not session.findings


@pytest.mark.parametrize("place", [4, 5])
def test_where_nothing_leads_to_the_goal_there_is_no_bug(place: int) -> None:
    session = switch_session(switch_task(), STRAIGHT)
    state = state_id(session, place, 0)
    assert examine(session, "smo", state).verdict is OracleVerdict.NOT_REFUTED
    assert not session.findings


def test_morphs_are_drawn_from_all_that_differ_in_one_variable() -> None:
    """Algorithm 2; the runs are cut off by cost and at dead ends that h_max recognizes."""
    policy = {**STRAIGHT, (1, 0): "back-0", (0, 0): "ahead-0"}
    for seed in range(4):
        session = switch_session(switch_task(), policy)
        state = state_id(session, 1, 0)
        oracle = f"smo:morphs=random,local=none,seed={seed}"
        examination = examine(session, oracle, state)
        assert examination.verdict is OracleVerdict.BUG
        assert proven(session, state, "smo")[0] == (oracle, MORPH)
    drawn = make_oracle("smo:morphs=random,local=none,maxsize=50", session)
    morphs, gains = drawn.drawn_morphs(state)
    assert all((morph != [1, 0]).sum() == 1 for morph in morphs)
    assert len(morphs) == len({tuple(morph) for morph in morphs.tolist()}) == len(gains) > 1
    few = make_oracle("smo:morphs=random,local=none,maxsize=1", session)
    assert len(few.drawn_morphs(state)[0]) == 1


def test_a_run_from_a_morph_ends_where_hmax_sees_no_way() -> None:
    pit = {(x, y): f"ahead-{x}" for x in range(3) for y in range(2)} | {
        (1, 0): "fall", (1, 1): "fall", (4, 0): "on", (4, 1): "on",
    }  # fmt: skip
    asked = {}
    for morphs in ("best", "random"):
        session = switch_session(switch_task(), pit)
        state = state_id(session, 1, 0)
        session.run_policy(state)
        before = session.runs.statistics.evaluated
        examine(session, f"smo:morphs={morphs},local=none", state)
        asked[morphs] = session.runs.statistics.evaluated - before
    assert asked["random"] < asked["best"]


def test_it_declines_local_tests_it_does_not_have() -> None:
    with pytest.raises(UsageError, match="smo: 'some' is not a local test; write local=none"):
        parse_oracle("smo:local=some")
