"""Claims that a table shows of a bug: they follow from its finding, its unit and its past."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.records.config import OracleSettings
from engine.records.finding import BugKind, Finding, RunOutcome
from engine.records.verification import HOLDS, Verdict, false
from engine.workspace.rows import BugRow

History = Sequence[tuple[int, int | None, float]]
"""Bounds, gaps and times; the first one is when the bug was found."""


def find_row_problem(row: BugRow, finding: Finding, testing: OracleSettings) -> str:
    """Return why the row of a bug does not follow from its finding; empty if it does."""
    return next(_row_problems(row, finding, testing), "")


def _row_problems(row: BugRow, finding: Finding, testing: OracleSettings) -> Iterator[str]:
    if row.policy_cost != finding.run.cost:
        yield f"the policy's run costs {finding.run.cost}, not {row.policy_cost}"
    if row.gap != finding.gap:
        yield "its gap does not follow from its run and its bound"
    if row.evidence_kind != finding.evidence.kind:
        yield f"its evidence is a {finding.evidence.kind}, not a {row.evidence_kind}"
    if row.found_by not in testing.oracles:
        yield f"it was found by {row.found_by}, which the campaign did not use"
    if testing.objective == "goal" and finding.kind is not BugKind.FAILS:
        yield "the campaign asks for the goal alone, and the policy reaches it"
    if row.retrospective and row.pool_number is None:
        yield "it is marked as found in a state tested before, but the state is not in the pool"


def check_history(history: History, row: BugRow, finding: Finding, is_whole: bool) -> Verdict:
    """Whether the bounds of the past lead to the present one.

    `is_whole`: the run was never stopped, so that its cost has always been known.
    """
    if not history or history[-1][:2] != (row.bound, row.gap):
        return false("its bound differs from the last one in its history")
    if history[0][2] != row.seconds:
        return false("its history does not begin when it was found")
    for bound, gap, _ in history[:-1]:
        if problem := _entry_problem(bound, gap, finding, is_whole):
            return false(f"its history: {problem}")
    return HOLDS


def _entry_problem(bound: int, gap: int | None, finding: Finding, is_whole: bool) -> str:
    cost = finding.run.cost
    if finding.run.outcome is RunOutcome.FAILED:
        possible = gap is None or (not is_whole and gap > 0)
    elif gap is None or cost is None:
        possible = False
    else:
        possible = gap == cost - bound if is_whole else gap <= cost - bound
        possible = possible and gap > 0
    return "" if possible else f"the gap at bound {bound} is wrong"
