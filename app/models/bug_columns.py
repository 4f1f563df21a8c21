"""The columns of the table of bugs, and how a bug looks in them."""

from __future__ import annotations

from typing import Any

from app.models.bug_words import kind_words
from app.models.table_model import Column
from engine.campaign.rows import BugRow
from engine.oracles.objective import BugKind

STATUS_ICONS = {
    "new": "new",
    "confirmed": "check",
    "ignored": "ignore",
    "duplicate": "duplicate",
}
STATUS_TOKENS = {
    "new": "accent",
    "confirmed": "bad",
    "ignored": "muted",
    "duplicate": "muted",
}


class BugLine:
    """A bug in the table; `row` is replaced when something about the bug changes."""

    __slots__ = ("row",)

    def __init__(self, row: BugRow) -> None:
        self.row = row


def _number(value: int | None) -> str:
    return "" if value is None else str(value)


def _cost(row: BugRow) -> str:
    if row.policy_cost is None:
        return "never"
    return (
        f"≥ {row.policy_cost}" if row.kind == BugKind.UNCLASSIFIED.value else f"{row.policy_cost}"
    )


def _gap(row: BugRow) -> str:
    if row.gap is None:
        return "∞"
    return f"≥ {row.gap}" if row.kind == BugKind.UNCLASSIFIED.value else str(row.gap)


def _seconds(value: float) -> str:
    return f"{value:.1f} s" if value < 100 else f"{value:.0f} s"


_INFINITE = float("inf")

COLUMNS: tuple[Column[Any], ...] = (
    Column("id", "Bug", lambda line: line.row.id, numeric=True, tip="The bug's number"),
    Column(
        "status",
        "Status",
        lambda line: line.row.status,
        icon=lambda line: STATUS_ICONS.get(line.row.status, ""),
        token=lambda line: STATUS_TOKENS.get(line.row.status, "text"),
        text=lambda line: line.row.status_words,
        row_tip=lambda line: line.row.note or line.row.status_words,
        tip="What you decided: c confirms, i ignores, d marks a duplicate",
    ),
    Column(
        "kind",
        "Kind",
        lambda line: kind_words(line.row.kind),
        icon=lambda line: "error" if line.row.gap is None else "cost",
        tip="Fails: the policy never reaches the goal. Too expensive: less would have been enough",
    ),
    Column("problem", "Problem", lambda line: line.row.problem),
    Column(
        "cost",
        "Policy cost",
        lambda line: _INFINITE if line.row.policy_cost is None else line.row.policy_cost,
        lambda line: _cost(line.row),
        numeric=True,
        token=lambda line: "policy",
        tip="What the policy pays from the bug state to the goal",
    ),
    Column(
        "bound",
        "Best known",
        lambda line: line.row.bound,
        numeric=True,
        token=lambda line: "better",
        tip="An upper bound: the goal is proven to cost no more than this",
    ),
    Column(
        "gap",
        "Gap",
        lambda line: _INFINITE if line.row.gap is None else line.row.gap,
        lambda line: _gap(line.row),
        numeric=True,
        tip="How much too expensive the policy is at least; ∞ where it fails",
    ),
    Column(
        "action",
        "Bad action",
        lambda line: line.row.bad_action or None,
        lambda line: f"({line.row.bad_action})" if line.row.bad_action else "",
        mono=True,
        token=lambda line: "bad" if line.row.bad_action else "muted",
        row_tip=lambda line: (
            f"({line.row.bad_action})" if line.row.bad_action else "Not known yet: localise the bug"
        ),
        tip="The step to blame, once localisation has found it",
    ),
    Column(
        "oracle", "Found by", lambda line: line.row.found_by, tip="The oracle that proved it first"
    ),
    Column(
        "evidence",
        "Evidence",
        lambda line: "plan" if line.row.evidence_kind == "plan" else "bound",
        icon=lambda line: "optimal" if line.row.evidence_kind == "plan" else "unknown",
        row_tip=lambda line: (
            "A better plan is known"
            if line.row.evidence_kind == "plan"
            else "A better plan is proven to exist by dominance, but not known"
        ),
        tip="Plan: a better plan is known. Bound: it is proven that one exists",
    ),
    Column(
        "region",
        "Region",
        lambda line: line.row.region,
        lambda line: _number(line.row.region),
        numeric=True,
        tip="Bugs next to each other form a region, named after its first bug",
    ),
    Column(
        "root",
        "Root cause",
        lambda line: line.row.root_cause,
        lambda line: _number(line.row.root_cause),
        numeric=True,
        tip="Bugs with the same bad action in the same state have one root cause",
    ),
    Column(
        "time",
        "Time",
        lambda line: line.row.seconds,
        lambda line: _seconds(line.row.seconds),
        numeric=True,
        tip="When it was found, in seconds of its unit's work",
    ),
    Column("policy", "Policy", lambda line: line.row.policy, shown=False),
    Column("seed", "Seed", lambda line: line.row.seed, numeric=True, shown=False),
    Column("campaign", "Campaign", lambda line: line.row.campaign, numeric=True, shown=False),
    Column("note", "Note", lambda line: line.row.note or None, tip="What you wrote about it"),
)
