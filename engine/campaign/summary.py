"""The totals of a campaign, from what the store holds: for the command line and for reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import asdict

from engine.records.codec import to_json
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import UnitRow

_COUNTS = (
    "examined",
    "examined_unsolved",
    "bugs",
    "bugs_unsolved",
    "unique",
    "optimal",
    "first",
    "seconds",
    "cpu",
)


def summary(store: WorkspaceReader, campaign: int) -> dict[str, Any]:
    """`bugs` and what follows count states of the pool; `nonpool_bugs` are in further states.

    `verified` counts bugs whose evidence was verified: without that, none is ever stored.
    `root_causes` is None if no bug has been localized.
    """
    row, units = store.campaign(campaign), store.units(campaign)
    counts = store.bug_counts(campaign)
    causes = len(store.root_cause_numbers(campaign)) if counts.localized else None
    return {
        "mode": row.config.testing.mode.value,
        "states": store.pool_states(campaign),
        "solved": sum(unit.statistics.solved for unit in units),
        "bugs": counts.in_pool,
        "qualitative": counts.fails,
        "quantitative": counts.too_expensive,
        "unclassified": counts.stopped,
        "nonpool_bugs": counts.found - counts.in_pool,
        "retrospective_bugs": counts.retrospective,
        "regions": counts.regions,
        "root_causes": causes,
        "localized": counts.localized,
        "per_oracle": per_oracle(units),
        "verified": counts.in_pool,
        "units": [_unit(unit) for unit in units],
        "status": row.status,
        "seconds": row.seconds,
    }


def per_oracle(units: Sequence[UnitRow]) -> dict[str, dict[str, Any]]:
    """What each oracle did in all units together."""
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
