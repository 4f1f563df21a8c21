"""What a unit holds in the files of the reference tools: its pool, bugs, decisions and task."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from engine.campaign.bugs_file import FAILS, BugRecord, write_bugs
from engine.campaign.checking import FAILED
from engine.campaign.reading import Reading, UnitRow
from engine.errors import UsageError
from engine.fuzzing.pool import PoolEntry, write_pool
from engine.policies.policy import NO_ACTION
from engine.policies.policy_cache import State, write_policy_cache
from engine.task.sas import write_sas
from engine.task.successors import successor
from engine.task.task import Task


def unit_called(store: Reading, number: int | None) -> UnitRow:
    units = store.units()
    if number is None and len(units) == 1:
        return units[0]
    for unit in units:
        if unit.id == number:
            return unit
    known = ", ".join(f"{unit.id} ({unit.problem}, {unit.policy})" for unit in units[:8])
    raise UsageError(
        "name one of the units" if number is None else f"there is no unit {number}",
        hint=f"there are {len(units)}: {known}" if units else "run a campaign first",
    )


def pool_text(store: Reading, unit: UnitRow) -> str:
    entries = [
        PoolEntry(row.state, row.reference, len(row.walk), row.walk) for row in store.pool(unit.id)
    ]
    return write_pool(_task(store, unit), entries)


def bugs_text(store: Reading, unit: UnitRow) -> str:
    rows = [row for row in store.bugs(unit.campaign) if row.unit == unit.id]
    return write_bugs(
        BugRecord(
            store.with_proof(row).state,
            FAILS if row.gap is None else row.gap,
            row.bound,
            row.pool_number is not None,
        )
        for row in rows
    )


def policy_cache_text(store: Reading, unit: UnitRow) -> str:
    """The decisions along the runs from all bugs; others are not kept."""
    return write_policy_cache(dict(_decisions(store, unit, _task(store, unit))).items())


def sas_text(store: Reading, unit: UnitRow) -> str:
    return write_sas(_task(store, unit))


FORMATS: dict[str, Callable[[Reading, UnitRow], str]] = {
    "pool": pool_text,
    "bugs": bugs_text,
    "policy-cache": policy_cache_text,
    "sas": sas_text,
}


def _decisions(store: Reading, unit: UnitRow, task: Task) -> Iterator[tuple[State, int]]:
    for row in store.bugs(unit.campaign):
        if row.unit != unit.id:
            continue
        bug = store.with_proof(row)
        state = bug.state
        for operator in bug.run.operators:
            yield state, operator
            state = successor(task.operators[operator], state)
        if bug.run.outcome == FAILED and bug.run.last_decision >= NO_ACTION:
            yield state, bug.run.last_decision


def _task(store: Reading, unit: UnitRow) -> Task:
    return store.task(store.problem_of(unit.id))
