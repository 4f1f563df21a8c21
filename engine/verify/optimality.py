"""Claims of oracles about tested states: the policy is optimal there, or a plan costs no more.

They carry no certificate, so the verifier looks for a cheaper plan with a search of its own. What
that does not decide within its limit stays undecided.
"""

from __future__ import annotations

from engine.records.events import OracleVerdict
from engine.records.evidence import State
from engine.records.finding import INFINITY, RunOutcome
from engine.records.verification import HOLDS, ClaimKind, Verdict, false, undecided
from engine.verify.cost_to_go import CostToGo
from engine.workspace.rows import AnswerRow, BugRow, FlagRow, PoolRow


def check_at_least(costs: CostToGo, state: State, cost: int) -> Verdict:
    """Whether no plan from a state is cheaper than `cost`; INFINITY: whether there is none."""
    if costs.low(state, cost) >= cost:
        return HOLDS
    high = costs.high(state)
    if high < cost:
        return false(f"a plan costs {high}")
    return undecided(costs.too_many)


def check_at_most(costs: CostToGo, state: State, cost: int) -> Verdict:
    """Whether a plan from a state costs no more than `cost`."""
    if costs.low(state, cost + 1) > cost:
        return false(f"every plan costs more than {cost}")
    return HOLDS if costs.high(state) <= cost else undecided(costs.too_many)


def check_answer(
    answer: AnswerRow, row: PoolRow, bug: BugRow | None, costs: CostToGo
) -> tuple[ClaimKind, Verdict] | None:
    """What an oracle says about a pool state; None if it claims nothing."""
    if answer.verdict == OracleVerdict.BUG:
        return ClaimKind.BUGS, _check_bug(answer, row, bug)
    if answer.verdict == OracleVerdict.OPTIMAL:
        optimal = _check_optimal(row, bug, costs)
        if optimal != HOLDS or answer.bound is None:
            return ClaimKind.OPTIMAL, optimal
        return ClaimKind.BOUNDS, _check_bound(answer.bound, row, bug, costs)
    if answer.verdict != OracleVerdict.NOT_REFUTED:
        return ClaimKind.BUGS, false(f"'{answer.verdict}' is not a verdict")
    if answer.bound is not None:
        return ClaimKind.BOUNDS, _check_bound(answer.bound, row, bug, costs)
    return None


def check_flag(flag: FlagRow, row: PoolRow, bug: BugRow | None) -> Verdict:
    """That an oracle proves a pool state to be a bug by itself."""
    return _check_bug(flag, row, bug)


def _check_bug(answer: AnswerRow | FlagRow, row: PoolRow, bug: BugRow | None) -> Verdict:
    """The bug's own evidence proves the bound of an oracle that is not better."""
    if bug is None:
        return false(f"{answer.oracle} reports a bug that is not stored")
    if answer.bound is None or answer.bound < bug.bound:
        return false(f"{answer.oracle} reports a bound below {bug.bound}, which is not proven")
    if row.outcome == RunOutcome.SOLVED and answer.bound >= (row.policy_cost or 0):
        return false(f"the bound {answer.bound} does not prove a bug")
    return HOLDS


def _check_optimal(row: PoolRow, bug: BugRow | None, costs: CostToGo) -> Verdict:
    if bug is not None:
        return false(f"it is called optimal, but bug {bug.id} is in this state")
    if row.outcome == RunOutcome.SOLVED and row.policy_cost is not None:
        return check_at_least(costs, row.state, row.policy_cost)
    if row.outcome == RunOutcome.FAILED:
        return check_at_least(costs, row.state, INFINITY)
    return false("it is called optimal, but the policy's run was stopped")


def _check_bound(bound: int, row: PoolRow, bug: BugRow | None, costs: CostToGo) -> Verdict:
    if bug is not None and bug.bound <= bound:
        return HOLDS
    if row.outcome == RunOutcome.SOLVED and row.policy_cost is not None:
        if row.policy_cost <= bound:
            return HOLDS
        return false(f"the bound {bound} proves a bug, but the oracle does not report one")
    return check_at_most(costs, row.state, bound)
