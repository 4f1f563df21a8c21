"""What the session knows of runs: results of all their states, bounds wherever they meet one."""

import pytest
from reference.random_tasks import make_task
from reference.soundness import TablePolicy

from engine.oracles.objective import OBJECTIVES
from engine.oracles.session import NOTHING_PROVEN, OracleSession, Proof
from engine.policies.runs import PolicyRuns
from engine.records.finding import INFINITY, BugKind, RunOutcome
from engine.task.states import StateTable
from engine.task.task import Operator

GO, BACK, REACH, DIRECT = range(4)
OPERATORS = (
    Operator("go", ((0, 0),), ((0, 1),), 2),
    Operator("back", ((0, 1),), ((0, 0),), 1),
    Operator("reach", ((0, 1),), ((0, 2),), 3),
    Operator("direct", ((0, 0),), ((0, 2),), 4),
)


class Silent:
    name = "silent"

    def examine(self, state: int) -> Proof:
        return NOTHING_PROVEN


def session(first: int, second: int, step_limit: int | None = None) -> OracleSession:
    """Three places, the last one is the goal; what the policy does in the others."""
    table = StateTable(make_task((3,), OPERATORS, (0,), ((0, 2),)))
    table.add([(0,), (1,), (2,)])
    policy = TablePolicy({(0,): first, (1,): second})
    return OracleSession(PolicyRuns(policy, table), OBJECTIVES["any"], step_limit)


def test_all_states_of_a_run_have_results_without_another_question() -> None:
    tested = session(GO, REACH)
    assert tested.run_policy(0) == (RunOutcome.SOLVED, 5)
    asked = tested.runs.statistics.evaluated
    assert tested.run_policy(1) == tested.policy_result(1) == (RunOutcome.SOLVED, 3)
    assert tested.policy_result(2) == (RunOutcome.SOLVED, 0)
    assert tested.runs.statistics.evaluated == asked
    assert [tested.bounds.u(state) for state in range(3)] == [5, 3, 0]


@pytest.mark.parametrize("later", [False, True])
def test_a_failing_run_meets_a_state_with_a_bound(later: bool) -> None:
    tested = session(GO, BACK)
    if later:
        assert tested.run_policy(0) == (RunOutcome.FAILED, INFINITY)
    tested.bounds.add_plan(1, [REACH], "another")
    (finding,) = [f for f in tested.test(0, Silent()).findings if f.state == (0,)]
    assert (finding.kind, finding.bound) == (BugKind.FAILS, 5)
    assert [step.origin for step in finding.evidence.steps] == ["policy", "another"]


def test_on_request_only_the_examined_state_is_judged() -> None:
    judged = {}
    for elsewhere in (True, False):
        tested = session(GO, BACK)
        tested.bounds.add_plan(1, [REACH], "another")
        judged[elsewhere] = tested.test(0, Silent(), elsewhere=elsewhere).findings
        assert [tested.bounds.u(state) for state in range(3)] == [5, 3, 0]
    assert sorted(finding.state for finding in judged[True]) == [(0,), (1,)]
    assert judged[False] == tuple(f for f in judged[True] if f.state == (0,))


def test_a_stopped_run_meets_a_state_with_a_bound() -> None:
    """P15, P17: it is no failure, and what it has cost is no bound."""
    tested = session(GO, BACK, step_limit=1)
    assert tested.run_policy(0) == (RunOutcome.ABORTED, 2)
    assert tested.bounds.u(0) == INFINITY
    again = session(GO, BACK, step_limit=1)
    again.bounds.add_plan(1, [REACH], "another")
    examination = again.test(0, Silent())
    assert again.bounds.u(0) == 5
    assert not [f for f in examination.findings if f.state == (0,)]  # 5 is not below 2


def test_a_trace_is_not_kept_while_its_run_continues() -> None:
    tested = session(GO, REACH, step_limit=1)
    assert tested.run_policy(0) == (RunOutcome.ABORTED, 2)
    assert tested.trace(0).outcome is RunOutcome.ABORTED
    tested.runs.run([0])
    assert tested.trace(0).outcome is RunOutcome.SOLVED
    assert tested.run_policy(0) == (RunOutcome.SOLVED, 5)


class Morphing:
    """Claims that the middle is as good as the goal except for 1, which cannot be confirmed."""

    name = "morphing"

    def __init__(self, tested: OracleSession) -> None:
        self.tested = tested

    def examine(self, state: int) -> Proof:
        self.tested.bounds.add_morph(1, 2, -1, self.name)
        return Proof(self.tested.bounds.u(state))


class Planning:
    name = "planning"

    def __init__(self, tested: OracleSession, operators: list[int]) -> None:
        self.tested, self.operators = tested, operators

    def examine(self, state: int) -> Proof:
        self.tested.bounds.add_plan(state, self.operators, self.name)
        return Proof(self.tested.bounds.u(state))


def test_a_plan_counts_where_a_dominance_value_is_in_doubt() -> None:
    tested = session(GO, BACK)
    tested.run_policy(2)
    findings = tested.test(0, Morphing(tested)).findings
    assert sorted((finding.state, finding.bound) for finding in findings) == [((0,), 3), ((1,), 1)]
    assert tested.trusted_bounds is tested.bounds
    assert [tested.withdraw(finding, None) for finding in findings] == [None, None]
    assert tested.trusted_bounds is tested.bounds.plans
    assert not tested.findings
    (finding,) = tested.test(1, Planning(tested, [REACH])).findings[:1]
    assert (finding.bound, finding.oracle, finding.evidence.is_plan) == (3, "planning", True)


def test_what_is_taken_back_uncovers_a_plan_that_was_known() -> None:
    tested = session(GO, BACK)
    tested.run_policy(2)
    (known, _) = tested.test(1, Planning(tested, [REACH])).findings
    (better, *_) = (f for f in tested.test(1, Morphing(tested)).findings if f.state == (1,))
    assert (known.bound, better.bound) == (3, 1)
    uncovered = tested.withdraw(better, None)
    assert uncovered is not None
    assert (uncovered.bound, uncovered.evidence.is_plan) == (3, True)
    assert tested.withdraw(uncovered, None) is None  # a plan that does not hold uncovers nothing
