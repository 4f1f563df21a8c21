"""Localisations in the tables of a workspace: written whole, read whole.

Steps are kept as one compressed document per finding: a run may have thousands. INFINITY is null.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict
from typing import Any

from engine.campaign.packing import compress, expand, pack, unpack
from engine.localize.localisation import (
    Cause,
    CauseKind,
    Failure,
    Localisation,
    StepVerdict,
    Verdict,
)
from engine.native.library import INFINITY

_NO_OPERATOR = -1
_NUMBERS = ("policy_cost_to_go", "optimal_low", "optimal_high", "after_low", "after_high")


def save_localisation(
    connection: sqlite3.Connection, finding: int, localisation: Localisation
) -> None:
    """In place of what was known before about this finding."""
    cause = localisation.cause
    failure = localisation.failure
    connection.execute(
        "INSERT OR REPLACE INTO localisations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            finding,
            None if cause is None else _root_cause(connection, finding, cause),
            None if cause is None else cause.index,
            localisation.searches,
            localisation.naive_searches,
            localisation.expanded,
            localisation.seconds,
            localisation.limited,
            None if failure is None else json.dumps(asdict(failure)),
            compress(json.dumps([_step_row(step) for step in localisation.steps]).encode()),
        ),
    )


def read_localisation(connection: sqlite3.Connection, finding: int) -> Localisation | None:
    row = connection.execute(
        "SELECT l.step, l.searches, l.naive_searches, l.expanded, l.seconds, l.limited, "
        "l.failure, l.steps, c.kind, c.operator, c.action, s.packed FROM localisations l "
        "LEFT JOIN root_causes c ON c.id = l.root_cause LEFT JOIN states s ON s.id = c.state "
        "WHERE l.finding = ?",
        (finding,),
    ).fetchone()
    if row is None:
        return None
    step, searches, naive, expanded, seconds, limited, failure, steps, *about_cause = row
    return Localisation(
        steps=tuple(
            _step(number, columns) for number, columns in enumerate(json.loads(expand(steps)))
        ),
        cause=None if step is None else _cause(step, *about_cause),
        failure=None if failure is None else _failure(json.loads(failure)),
        searches=searches,
        naive_searches=naive,
        expanded=expanded,
        seconds=seconds,
        limited=bool(limited),
    )


def operator_of(column: int) -> int | None:
    return None if column == _NO_OPERATOR else column


def _root_cause(connection: sqlite3.Connection, finding: int, cause: Cause) -> int:
    """The number of a root cause, which is the same for all units with this problem and policy."""
    problem, policy = connection.execute(
        "SELECT u.problem, u.policy FROM findings f JOIN units u ON u.id = f.unit WHERE f.id = ?",
        (finding,),
    ).fetchone()
    packed = pack(cause.state)
    connection.execute(
        "INSERT OR IGNORE INTO states (problem, packed) VALUES (?, ?)", (problem, packed)
    )
    (state,) = connection.execute(
        "SELECT id FROM states WHERE problem = ? AND packed = ?", (problem, packed)
    ).fetchone()
    operator = _NO_OPERATOR if cause.operator is None else cause.operator
    connection.execute(
        "INSERT OR IGNORE INTO root_causes (policy, state, operator, kind, action) "
        "VALUES (?, ?, ?, ?, ?)",
        (policy, state, operator, cause.kind.value, cause.action),
    )
    (number,) = connection.execute(
        "SELECT id FROM root_causes WHERE policy = ? AND state = ? AND operator = ? AND kind = ?",
        (policy, state, operator, cause.kind.value),
    ).fetchone()
    return int(number)


def _cause(step: int, kind: str, operator: int, action: str, packed: bytes) -> Cause:
    return Cause(CauseKind(kind), step, unpack(packed), operator_of(operator), action)


def _failure(document: dict[str, Any]) -> Failure:
    plan = document["plan"]
    return Failure(**{**document, "plan": None if plan is None else tuple(plan)})


def _step_row(step: StepVerdict) -> list[Any]:
    numbers = [getattr(step, name) for name in _NUMBERS]
    bounded = [None if number == INFINITY else number for number in numbers]
    return [step.operator, step.verdict.value, *bounded, step.better_plan]


def _step(index: int, columns: list[Any]) -> StepVerdict:
    operator, verdict, policy_cost, *bounds, plan = columns
    low, high, after_low, after_high = (INFINITY if b is None else b for b in bounds)
    return StepVerdict(
        index=index,
        operator=operator,
        verdict=Verdict(verdict),
        policy_cost_to_go=policy_cost,
        optimal_low=low,
        optimal_high=high,
        after_low=after_low,
        after_high=after_high,
        better_operator=plan[0] if plan else None,
        better_plan=None if plan is None else tuple(plan),
    )
