"""The totals of a campaign, from what the store holds: for the command line and for reports."""

from __future__ import annotations

from collections import Counter
from typing import Any

from msgspec.structs import asdict

from engine.records.codec import to_json
from engine.records.finding import BugKind
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import UnitRow

_COUNTS = ("examined", "bugs", "unique", "optimal", "first", "seconds")


def summary(store: WorkspaceReader, campaign: int) -> dict[str, Any]:
    """`verified` counts bugs whose evidence was verified: without that, none is ever stored.

    `root_causes` is None if no bug has been localized.
    """
    (row,) = (row for row in store.campaigns() if row.id == campaign)
    units, bugs = store.units(campaign), store.bugs(campaign)
    kinds = Counter(bug.kind for bug in bugs)
    in_pool = sum(bug.pool_number is not None for bug in bugs)
    localized = len(store.localized_bugs(campaign))
    return {
        "states": store.pool_states(campaign),
        "bugs": len(bugs),
        "qualitative": kinds[BugKind.FAILS],
        "quantitative": kinds[BugKind.TOO_EXPENSIVE],
        "unclassified": kinds[BugKind.STOPPED],
        "pool_bugs": in_pool,
        "nonpool_bugs": len(bugs) - in_pool,
        "retrospective_bugs": sum(bug.retrospective for bug in bugs),
        "regions": len({(bug.unit, bug.region) for bug in bugs}),
        "root_causes": len(store.root_causes(campaign)) if localized else None,
        "localized": localized,
        "per_oracle": per_oracle(units),
        "verified": len(bugs),
        "units": [_unit(unit) for unit in units],
        "status": row.status,
        "seconds": row.seconds,
    }


def per_oracle(units: list[UnitRow]) -> dict[str, dict[str, Any]]:
    totals: dict[str, dict[str, Any]] = {}
    for unit in units:
        for counts in unit.statistics.oracles:
            total = totals.setdefault(counts.oracle, dict.fromkeys(_COUNTS, 0))
            for name in _COUNTS:
                total[name] += getattr(counts, name)
    return totals


def _unit(unit: UnitRow) -> dict[str, Any]:
    counts = asdict(unit.statistics)
    del counts["oracles"]
    counts["portfolio"] = [to_json(rival) for rival in unit.statistics.portfolio]
    return {
        "problem": unit.problem,
        "policy": unit.policy,
        "seed": unit.seed,
        "status": unit.status,
        "error": unit.error,
        **counts,
    }
