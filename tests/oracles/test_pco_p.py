"""Policy comparison on the examined state: who is run when, and what that proves."""

from collections.abc import Callable

import pytest
from reference.oracle_sessions import examine, proven, road, session_on
from reference.random_tasks import make_task
from reference.soundness import TablePolicy

from engine.errors import UsageError
from engine.oracles.pco import Contest, contest_of
from engine.oracles.registry import make_oracle
from engine.policies.portfolio import Member, Portfolio
from engine.policies.runs import PolicyRuns
from engine.records.events import OracleVerdict
from engine.task.states import StateTable


def contest(*names: str) -> Contest:
    table = StateTable(make_task((2,), (), (0,), ((0, 1),)))
    members = [Member(name, PolicyRuns(TablePolicy({}), table)) for name in names]
    return Contest(Portfolio(tuple(members)))


def test_who_proves_most_bugs_per_run_is_asked_first() -> None:
    scores = contest("a", "b", "c")
    asked: list[str] = []

    def wins(name: str) -> Callable[[Member], bool]:
        def beats(member: Member) -> bool:
            asked.append(member.name)
            return member.name == name

        return beats

    assert scores.run(0, 5, wins("b"))
    assert asked == ["a", "b"]
    assert scores.run(1, 5, wins("b"))  # b: 1 of 1, c: not yet run, a: 0 of 1
    assert asked[2:] == ["c", "b"]
    assert not scores.run(2, 2, wins("nobody"))
    assert asked[4:] == ["b", "a"]
    assert not scores.run(3, 5, wins("nobody"))
    assert asked[6:] == ["b", "c", "a"]  # each once, b with 2 of 3, c was run less than a
    assert [(s.member.name, s.runs, s.beaten) for s in scores.scores] == [
        ("a", 3, []),
        ("b", 4, [0, 1]),
        ("c", 2, []),
    ]


def test_runs_along_a_run_neither_starve_policies_nor_count_for_examined_states() -> None:
    scores = contest("a", "b", "c")
    asked: list[str] = []

    def beats(member: Member) -> bool:
        asked.append(member.name)
        return member.name == "a" and len(asked) == 1

    assert scores.run_along(0, 1, beats)
    for state in range(1, 8):
        assert not scores.run_along(state, 1, beats)
    # a is hoped to win with 2 of 2 after its success, then with 2 of 3, 2 of 4, ...
    assert asked == ["a", "b", "c", "a", "a", "b", "c", "a"]
    assert not scores.run(8, 1, lambda member: member.name != "a")  # still the first run of each
    assert [(s.runs, s.beaten) for s in scores.scores] == [(5, [0]), (2, []), (2, [])]
    assert not contest().run_along(0, 1, beats)


def test_a_cheaper_run_of_another_policy_is_a_bug() -> None:
    edges = {"costly": (0, 3, 9), "slow": (0, 1, 4), "on": (1, 3, 4), "fast": (0, 3, 1)}
    session = session_on(edges, 3, "costly", {"one": "slow on", "two": "fast"})
    oracle = make_oracle("pco-p:runs=1", session)
    examination = session.test(0, oracle)
    assert (examination.verdict, examination.bound) == (OracleVerdict.BUG, 8)
    assert proven(session, 0) == [("one", "slow on")]
    scores = contest_of(oracle)
    assert scores is not None
    assert [(score.runs, score.beaten) for score in scores.scores] == [(1, [0]), (0, [])]


def test_no_rival_is_cheaper_than_an_optimal_run() -> None:
    session = road(
        "walk on home", {"same": "walk on home", "costly": "direct", "lost": "walk fall"}
    )
    assert examine(session, "pco-p", 0).verdict is OracleVerdict.NOT_REFUTED
    assert not session.findings


def test_where_nothing_leads_to_the_goal_no_rival_helps() -> None:
    session = road("crawl turn", {"one": "crawl turn walk on home"})
    assert examine(session, "pco-p", 4).verdict is OracleVerdict.NOT_REFUTED
    assert not session.findings


def test_it_declines_without_a_portfolio() -> None:
    with pytest.raises(UsageError, match="pco-p needs a portfolio of policies"):
        make_oracle("pco-p", road("direct"))
