"""The order of bugs and their groups in plain Python: what is unknown comes last."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from engine.workspace.filter import KIND_WORDS
from engine.workspace.rows import BugRow

SORTED: dict[str, Callable[[BugRow], Any]] = {
    "id": lambda row: row.id,
    "status": lambda row: row.status.value,
    "kind": lambda row: KIND_WORDS[row.kind],
    "problem": lambda row: row.problem or None,
    "policy": lambda row: row.policy or None,
    "cost": lambda row: math.inf if row.policy_cost is None else row.policy_cost,
    "bound": lambda row: row.bound,
    "gap": lambda row: math.inf if row.gap is None else row.gap,
    "loss": lambda row: (
        None
        if row.worst_step is None or row.loss == 0
        else math.inf
        if row.loss is None
        else row.loss
    ),
    "worst": lambda row: row.worst_action or None,
    "oracle": lambda row: row.found_by or None,
    "evidence": lambda row: row.evidence_kind == "plan",
    "region": lambda row: row.region,
    "root": lambda row: row.root_cause,
    "pattern": lambda row: row.pattern,
    "time": lambda row: row.seconds,
    "action": lambda row: row.bad_action or None,
    "seed": lambda row: row.seed,
    "campaign": lambda row: row.campaign,
    "note": lambda row: row.note or None,
}
GROUPED: dict[str, Callable[[BugRow], object]] = {
    "pattern": lambda row: row.pattern,
    "family": lambda row: row.family or None,
    "root": lambda row: row.root_cause,
    "region": lambda row: row.region,
    "schema": lambda row: row.bad_action.partition(" ")[0] or None,
    "problem": lambda row: row.problem or None,
    "kind": lambda row: KIND_WORDS[row.kind],
    "oracle": lambda row: row.found_by or None,
}


def in_order(rows: Sequence[BugRow], name: str, down: bool) -> list[BugRow]:
    """What is unknown comes last in either direction."""
    value = SORTED[name]
    known = sorted((row for row in rows if value(row) is not None), key=value, reverse=down)
    return [*known, *(row for row in rows if value(row) is None)]


def grouped(rows: Sequence[BugRow], name: str) -> dict[str, list[int]]:
    """The bugs of each group, the largest group first; of equal ones, that of the first bug."""
    found: dict[object, list[int]] = {}
    for row in rows:
        found.setdefault(GROUPED[name](row), []).append(row.id)
    order = sorted(found, key=lambda key: (key is None, -len(found[key])))
    return {"" if key is None else str(key): found[key] for key in order}
