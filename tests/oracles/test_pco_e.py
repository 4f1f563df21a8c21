"""Policy comparison along runs: what runs of several policies prove together."""

import pytest
from reference.oracle_sessions import proven, session_on

from engine.errors import UsageError
from engine.oracles.registry import make_oracle, parse_oracle
from engine.oracles.session import OracleSession
from engine.policies.runs import PolicyRuns
from engine.records.events import OracleVerdict
from engine.records.finding import INFINITY, BugKind, RunOutcome

NOT_ALONG = "pco-e:probability=0"


def rivals_of(session: OracleSession) -> list[PolicyRuns]:
    assert session.portfolio is not None
    return [member.runs for member in session.portfolio.members]


@pytest.mark.parametrize("oracle", ["pco-p", "pco-e"])
def test_an_equal_run_is_no_bug_and_no_run_goes_beyond_the_policys_cost(oracle: str) -> None:
    edges = {"costly": (0, 3, 9), "detour": (0, 1, 9), "free": (1, 3, 0)}
    session = session_on(edges, 3, "costly", {"one": "costly", "two": "detour free"})
    assert session.test(0, make_oracle(oracle, session)).verdict is OracleVerdict.NOT_REFUTED
    assert [runs.statistics.evaluated for runs in rivals_of(session)] == [1, 1]


def test_a_failing_rival_knows_a_short_cut() -> None:
    """It never reaches the goal, but the policy does from where it passes."""
    edges = {
        "a": (0, 1, 5), "b": (1, 2, 5), "end": (2, 3, 2),
        "cut": (0, 2, 1), "away": (2, 4, 1), "back": (4, 2, 0),
    }  # fmt: skip
    session = session_on(edges, 3, "a b end", {"one": "cut away back"})
    assert session.test(0, make_oracle("pco-p", session)).verdict is OracleVerdict.NOT_REFUTED
    session = session_on(edges, 3, "a b end", {"one": "cut away back"})
    examination = session.test(0, make_oracle(NOT_ALONG, session))
    assert (examination.verdict, examination.bound) == (OracleVerdict.BUG, 3)
    assert proven(session, 0) == [("one", "cut"), ("policy", "end")]
    assert rivals_of(session)[0].statistics.evaluated == 1  # what it met then was good enough


def test_rivals_solve_together_what_neither_solves() -> None:
    edges = {"a": (0, 1, 2), "b": (1, 2, 3)}
    session = session_on(edges, 2, "", {"one": "a", "two": "b"})
    oracle = make_oracle("pco-e", session)
    assert session.test(0, oracle).verdict is OracleVerdict.NOT_REFUTED
    findings = session.test(1, oracle).findings
    assert {session.table.add(finding.state).item() for finding in findings} == {0, 1}
    assert {finding.kind for finding in findings} == {BugKind.FAILS}
    assert proven(session, 0) == [("one", "a"), ("two", "b")]


def test_a_rival_is_better_further_along_the_run() -> None:
    edges = {"a": (0, 1, 2), "b": (1, 2, 3), "c": (2, 3, 7), "better": (2, 3, 1)}
    session = session_on(edges, 3, "a b c", {"one": "better"})
    assert session.test(0, make_oracle("pco-p", session)).verdict is OracleVerdict.NOT_REFUTED
    examination = session.test(0, make_oracle("pco-e:probability=1", session))
    assert (examination.verdict, examination.bound) == (OracleVerdict.BUG, 6)
    assert len(examination.findings) == 3
    assert {state: finding.gap for state, finding in session.findings.items()} == {0: 6, 1: 6, 2: 6}
    assert proven(session, 0) == [("policy", "a b"), ("one", "better")]


def test_the_diamond_of_two_rivals() -> None:
    """P25: the expensive way from 3 to 1 is shorter: 1 falls twice, and 0 must follow."""
    edges = {
        "up": (0, 1, 1), "x": (1, 2, 9), "y": (2, 3, 9),
        "u": (1, 4, 1), "v": (4, 5, 1), "w": (5, 3, 1),
        "end": (3, 6, 2), "direct": (0, 6, 100),
    }  # fmt: skip
    session = session_on(edges, 6, "direct end", {"costly": "up x y", "cheap": "up u v w"})
    oracle = make_oracle(NOT_ALONG, session)
    assert session.test(0, oracle).verdict is OracleVerdict.NOT_REFUTED
    session.test(3, oracle)  # optimal there, and that is the missing piece
    assert [session.bounds.u(state) for state in range(6)] == [6, 5, 11, 2, 4, 3]
    assert proven(session, 0) == [("costly", "up"), ("cheap", "u v w"), ("policy", "end")]


def test_a_failing_run_that_meets_a_bound_needs_no_rival() -> None:
    session = session_on({"a": (0, 1, 2), "b": (1, 2, 3)}, 2, "a", {"one": "b"})
    oracle = make_oracle("pco-e", session)
    session.test(1, oracle)
    asked = rivals_of(session)[0].statistics.evaluated
    assert session.test(0, oracle).verdict is OracleVerdict.BUG
    assert proven(session, 0) == [("policy", "a"), ("one", "b")]
    assert rivals_of(session)[0].statistics.evaluated == asked


def test_all_states_of_a_rivals_loop_reach_each_other() -> None:
    edges = {"a": (0, 1, 2), "b": (1, 0, 3), "end": (0, 2, 5)}
    session = session_on(edges, 2, "", {"one": "a b"})
    assert session.test(0, make_oracle("pco-e", session)).verdict is OracleVerdict.NOT_REFUTED
    assert session.bounds.u(1) == INFINITY
    session.bounds.add_plan(0, [2], "astar")
    assert session.bounds.u(1) == 8


def test_a_stopped_run_of_the_policy_can_be_too_expensive_already() -> None:
    """P15, P17: what it had cost is a lower bound and nothing else."""
    edges = {"a": (0, 1, 5), "b": (1, 2, 5), "c": (2, 3, 5), "better": (1, 3, 1)}
    session = session_on(edges, 3, "a b c", {"one": "better"}, step_limit=2)
    session.test(0, make_oracle("pco-e:probability=1", session))
    finding = session.findings[0]
    assert (finding.kind, finding.bound, finding.gap) == (BugKind.STOPPED, 6, 4)
    assert proven(session, 0) == [("policy", "a"), ("one", "better")]


def test_the_goal_alone_counts_if_that_is_the_objective() -> None:
    edges = {"costly": (0, 1, 9), "cheap": (0, 1, 1)}
    session = session_on(edges, 1, "costly", {"one": "cheap"}, objective="goal")
    answer = session.test(0, make_oracle("pco-e", session))
    assert answer.verdict is OracleVerdict.NOT_REFUTED  # no bug here, but not optimal either
    assert not session.findings
    assert rivals_of(session)[0].statistics.calls == 0


def test_the_seed_decides_where_rivals_are_run() -> None:
    edges = {f"go-{k}": (k, k + 1, 1) for k in range(40)}

    def asked(seed: int, *pool: int) -> set[int]:
        session = session_on(edges, 40, " ".join(edges), {"one": ""})
        oracle = make_oracle(f"pco-e:seed={seed}", session)
        for state in pool:
            session.test(state, oracle)
        outcomes = rivals_of(session)[0].known(range(40)).outcome
        return {state for state in range(40) if outcomes[state] == RunOutcome.FAILED}

    assert 4 < len(asked(1, 0)) < 25
    assert asked(1, 0) == asked(1, 0) != asked(2, 0)
    assert asked(1, 0, 7) == asked(1, 7, 0) == asked(1, 0) | asked(1, 7)


def test_it_declines_without_a_portfolio() -> None:
    session = session_on({"a": (0, 1, 2)}, 1, "a", {})
    assert session.test(0, make_oracle("pco-e", session)).verdict is OracleVerdict.NOT_REFUTED
    with pytest.raises(UsageError, match="pco-e needs a portfolio of policies"):
        make_oracle("pco-e", session_on({"a": (0, 1, 2)}, 1, "a"))


def test_a_probability_is_at_most_one() -> None:
    with pytest.raises(UsageError, match="not a probability"):
        parse_oracle("pco-e:probability=30")


EXACT = "pco-e:probability=1,along=5,ranking=together,bounds=false"


def test_without_bounds_only_whole_runs_count() -> None:
    """Algorithm 2: no piece of a run that fails is put together with another one."""
    edges = {"a": (0, 1, 2), "b": (1, 2, 3)}
    session = session_on(edges, 2, "", {"one": "a", "two": "b"})
    oracle = make_oracle(EXACT, session)
    session.test(1, oracle)
    assert session.test(0, oracle).verdict is OracleVerdict.NOT_REFUTED
    assert set(session.findings) == {1}


def test_without_bounds_a_bug_on_the_run_still_makes_all_states_before_it_bugs() -> None:
    edges = {"a": (0, 1, 2), "b": (1, 2, 3), "c": (2, 3, 7), "better": (2, 3, 1)}
    session = session_on(edges, 3, "a b c", {"one": "better", "two": "better"})
    oracle = make_oracle(EXACT, session)
    examination = session.test(0, oracle)
    assert (examination.verdict, examination.bound) == (OracleVerdict.BUG, 6)
    assert set(session.findings) == {0, 1, 2}
    ran = [runs.statistics.evaluated for runs in rivals_of(session)]
    session.test(1, oracle)
    assert ran == [runs.statistics.evaluated for runs in rivals_of(session)]


def test_several_policies_may_be_run_on_a_state_of_the_run() -> None:
    edges = {"a": (0, 1, 1), "b": (1, 2, 9), "x": (1, 2, 8), "costly": (1, 2, 9)}
    for along, verdict in ((1, OracleVerdict.NOT_REFUTED), (2, OracleVerdict.BUG)):
        session = session_on(edges, 2, "a b", {"one": "costly", "two": "x"})
        oracle = make_oracle(f"pco-e:probability=1,runs=1,along={along},bounds=false", session)
        assert session.test(0, oracle).verdict is verdict
