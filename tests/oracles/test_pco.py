"""Policy comparison: who is run when, what runs prove together, and how that is written down."""

from collections.abc import Callable, Mapping

import pytest
from reference.random_tasks import make_task
from reference.soundness import TablePolicy

from engine.errors import UsageError
from engine.native.library import INFINITY
from engine.oracles.objective import OBJECTIVES, BugKind
from engine.oracles.pco import Contest, contest_of
from engine.oracles.registry import make_oracle, parse_oracle
from engine.oracles.session import Bench, Verdict
from engine.policies.portfolio import Member, Portfolio
from engine.policies.run_graph import Outcome
from engine.policies.runs import PolicyRuns
from engine.records.evidence import Walk
from engine.task.states import StateTable
from engine.task.task import Operator
from engine.verify.evidence import verify

NOT_ALONG = "pco-e:probability=0"

Edges = Mapping[str, tuple[int, int, int]]
"""Operators by name: from where, to where, at which cost."""


def bench_on(
    edges: Edges,
    goal: int,
    policy: str,
    rivals: Mapping[str, str],
    *,
    objective: str = "any",
    step_limit: int | None = None,
) -> Bench:
    """States are the values of one variable; a policy is the names of the operators it takes."""
    operators = tuple(
        Operator(name, ((0, old),), ((0, new),), cost) for name, (old, new, cost) in edges.items()
    )
    size = max(max(old, new) for old, new, _ in edges.values()) + 1
    table = StateTable(make_task((size,), operators, (0,), ((0, goal),)))
    table.add([(value,) for value in range(size)])
    numbers = {name: number for number, name in enumerate(edges)}

    def runs_of(names: str) -> PolicyRuns:
        choices = {(edges[name][0],): numbers[name] for name in names.split()}
        return PolicyRuns(TablePolicy(choices), table)

    members = tuple(Member(name, runs_of(names)) for name, names in rivals.items())
    return Bench(
        runs_of(policy),
        OBJECTIVES[objective],
        step_limit,
        portfolio=Portfolio(members),
    )


def steps(bench: Bench, state: int) -> list[tuple[str, str]]:
    """A proof in words: origin and operators of each walk, after it has been checked."""
    evidence = bench.findings[state].evidence
    assert verify(evidence, bench.task).bound == bench.bounds.u(state)
    assert evidence.is_plan
    return [
        (step.origin, " ".join(bench.task.operators[o].name for o in step.operators))
        for step in evidence.steps
        if isinstance(step, Walk)
    ]


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


def test_runs_along_a_run_neither_starve_anybody_nor_count_for_examined_states() -> None:
    scores = contest("a", "b", "c")
    asked: list[str] = []

    def beats(member: Member) -> bool:
        asked.append(member.name)
        return member.name == "a" and len(asked) == 1

    assert scores.run_along(0, beats)
    for state in range(1, 8):
        assert not scores.run_along(state, beats)
    # a is hoped to win with 2 of 2 after its success, then with 2 of 3, 2 of 4, ...
    assert asked == ["a", "b", "c", "a", "a", "b", "c", "a"]
    assert not scores.run(8, 1, lambda member: member.name != "a")  # still everybody's first run
    assert [(s.runs, s.beaten) for s in scores.scores] == [(5, [0]), (2, []), (2, [])]
    assert not contest().run_along(0, beats)


def rivals_of(bench: Bench) -> list[PolicyRuns]:
    assert bench.portfolio is not None
    return [member.runs for member in bench.portfolio.members]


def test_a_cheaper_run_of_another_policy_is_a_bug() -> None:
    edges = {"dear": (0, 3, 9), "slow": (0, 1, 4), "on": (1, 3, 4), "fast": (0, 3, 1)}
    bench = bench_on(edges, 3, "dear", {"one": "slow on", "two": "fast"})
    oracle = make_oracle("pco-p:runs=1", bench)
    examination = bench.test(0, oracle)
    assert (examination.verdict, examination.bound) == (Verdict.BUG, 8)
    assert steps(bench, 0) == [("one", "slow on")]
    scores = contest_of(oracle)
    assert scores is not None
    assert [(score.runs, score.beaten) for score in scores.scores] == [(1, [0]), (0, [])]


@pytest.mark.parametrize("oracle", ["pco-p", "pco-e"])
def test_an_equal_run_is_no_bug_and_no_run_goes_beyond_the_policys_cost(oracle: str) -> None:
    edges = {"dear": (0, 3, 9), "detour": (0, 1, 9), "free": (1, 3, 0)}
    bench = bench_on(edges, 3, "dear", {"one": "dear", "two": "detour free"})
    assert bench.test(0, make_oracle(oracle, bench)).verdict is Verdict.NOT_REFUTED
    assert [runs.statistics.evaluated for runs in rivals_of(bench)] == [1, 1]


def test_a_failing_rival_knows_a_short_cut() -> None:
    """It never reaches the goal, but the policy does from where it passes."""
    edges = {
        "a": (0, 1, 5), "b": (1, 2, 5), "end": (2, 3, 2),
        "cut": (0, 2, 1), "away": (2, 4, 1), "back": (4, 2, 0),
    }  # fmt: skip
    bench = bench_on(edges, 3, "a b end", {"one": "cut away back"})
    assert bench.test(0, make_oracle("pco-p", bench)).verdict is Verdict.NOT_REFUTED
    bench = bench_on(edges, 3, "a b end", {"one": "cut away back"})
    examination = bench.test(0, make_oracle(NOT_ALONG, bench))
    assert (examination.verdict, examination.bound) == (Verdict.BUG, 3)
    assert steps(bench, 0) == [("one", "cut"), ("policy", "end")]
    assert rivals_of(bench)[0].statistics.evaluated == 1  # what it met then was good enough


def test_rivals_solve_together_what_neither_solves() -> None:
    edges = {"a": (0, 1, 2), "b": (1, 2, 3)}
    bench = bench_on(edges, 2, "", {"one": "a", "two": "b"})
    oracle = make_oracle("pco-e", bench)
    assert bench.test(0, oracle).verdict is Verdict.NOT_REFUTED
    findings = bench.test(1, oracle).findings
    assert {finding.state for finding in findings} == {0, 1}
    assert {finding.kind for finding in findings} == {BugKind.QUALITATIVE}
    assert steps(bench, 0) == [("one", "a"), ("two", "b")]


def test_a_rival_is_better_further_along_the_run() -> None:
    edges = {"a": (0, 1, 2), "b": (1, 2, 3), "c": (2, 3, 7), "better": (2, 3, 1)}
    bench = bench_on(edges, 3, "a b c", {"one": "better"})
    assert bench.test(0, make_oracle("pco-p", bench)).verdict is Verdict.NOT_REFUTED
    examination = bench.test(0, make_oracle("pco-e:probability=1", bench))
    assert (examination.verdict, examination.bound) == (Verdict.BUG, 6)
    assert {finding.state: finding.gap for finding in examination.findings} == {0: 6, 1: 6, 2: 6}
    assert steps(bench, 0) == [("policy", "a b"), ("one", "better")]


def test_the_diamond_of_two_rivals() -> None:
    """P25: the dear way back from 3 to 1 is shorter, so 1 falls twice, and 0 must follow twice."""
    edges = {
        "up": (0, 1, 1), "x": (1, 2, 9), "y": (2, 3, 9),
        "u": (1, 4, 1), "v": (4, 5, 1), "w": (5, 3, 1),
        "end": (3, 6, 2), "direct": (0, 6, 100),
    }  # fmt: skip
    bench = bench_on(edges, 6, "direct end", {"dear": "up x y", "cheap": "up u v w"})
    oracle = make_oracle(NOT_ALONG, bench)
    assert bench.test(0, oracle).verdict is Verdict.NOT_REFUTED
    bench.test(3, oracle)  # optimal there, and that is the missing piece
    assert [bench.bounds.u(state) for state in range(6)] == [6, 5, 11, 2, 4, 3]
    assert steps(bench, 0) == [("dear", "up"), ("cheap", "u v w"), ("policy", "end")]


def test_a_failing_run_that_meets_a_bound_needs_no_rival() -> None:
    bench = bench_on({"a": (0, 1, 2), "b": (1, 2, 3)}, 2, "a", {"one": "b"})
    oracle = make_oracle("pco-e", bench)
    bench.test(1, oracle)
    asked = rivals_of(bench)[0].statistics.evaluated
    assert bench.test(0, oracle).verdict is Verdict.BUG
    assert steps(bench, 0) == [("policy", "a"), ("one", "b")]
    assert rivals_of(bench)[0].statistics.evaluated == asked


def test_all_states_of_a_rivals_loop_reach_each_other() -> None:
    edges = {"a": (0, 1, 2), "b": (1, 0, 3), "end": (0, 2, 5)}
    bench = bench_on(edges, 2, "", {"one": "a b"})
    assert bench.test(0, make_oracle("pco-e", bench)).verdict is Verdict.NOT_REFUTED
    assert bench.bounds.u(1) == INFINITY
    bench.bounds.add_plan(0, [2], "astar")
    assert bench.bounds.u(1) == 8


def test_a_stopped_run_of_the_policy_can_be_too_expensive_already() -> None:
    """P15, P17: what it had cost is a lower bound and nothing else."""
    edges = {"a": (0, 1, 5), "b": (1, 2, 5), "c": (2, 3, 5), "better": (1, 3, 1)}
    bench = bench_on(edges, 3, "a b c", {"one": "better"}, step_limit=2)
    bench.test(0, make_oracle("pco-e:probability=1", bench))
    finding = bench.findings[0]
    assert (finding.kind, finding.bound, finding.gap) == (BugKind.UNCLASSIFIED, 6, 4)
    assert steps(bench, 0) == [("policy", "a"), ("one", "better")]


def test_the_goal_alone_counts_if_that_is_the_objective() -> None:
    edges = {"dear": (0, 1, 9), "cheap": (0, 1, 1)}
    bench = bench_on(edges, 1, "dear", {"one": "cheap"}, objective="goal")
    answer = bench.test(0, make_oracle("pco-e", bench))
    assert answer.verdict is Verdict.NOT_REFUTED  # no bug here, but not optimal either
    assert not bench.findings
    assert rivals_of(bench)[0].statistics.calls == 0


def test_the_seed_decides_where_rivals_are_run() -> None:
    edges = {f"go-{k}": (k, k + 1, 1) for k in range(40)}

    def asked(seed: int, *pool: int) -> set[int]:
        bench = bench_on(edges, 40, " ".join(edges), {"one": ""})
        oracle = make_oracle(f"pco-e:seed={seed}", bench)
        for state in pool:
            bench.test(state, oracle)
        outcomes = rivals_of(bench)[0].known(range(40)).outcome
        return {state for state in range(40) if outcomes[state] == Outcome.FAILED}

    assert 4 < len(asked(1, 0)) < 25
    assert asked(1, 0) == asked(1, 0) != asked(2, 0)
    assert asked(1, 0, 7) == asked(1, 7, 0) == asked(1, 0) | asked(1, 7)


@pytest.mark.parametrize("oracle", ["pco-p", "pco-e"])
def test_nothing_to_compare_with(oracle: str) -> None:
    bench = bench_on({"a": (0, 1, 2)}, 1, "a", {})
    assert bench.test(0, make_oracle(oracle, bench)).verdict is Verdict.NOT_REFUTED
    bench.portfolio = None
    with pytest.raises(UsageError, match="no portfolio"):
        make_oracle(oracle, bench)


def test_a_probability_is_at_most_one() -> None:
    with pytest.raises(UsageError, match="no probability"):
        parse_oracle("pco-e:probability=30")
