"""What a unit holds in the files of the reference tools: its pool, bugs, decisions and task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from engine.errors import UsageError, WorkspaceError
from engine.files import SAS_SUFFIX, write_text
from engine.fuzzing.bugs_file import FAILS, BugRecord, write_bugs
from engine.fuzzing.pool_file import PoolEntry, count_states, write_pool
from engine.policies.cache_file import CACHE_SUFFIX, State, write_policy_cache
from engine.policies.policy import NO_ACTION
from engine.task.sas import write_sas
from engine.task.successors import successor
from engine.task.task import Task
from engine.verify.claims import FAILED, is_state_of, require_fit
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import UnitRow


def unit_called(store: WorkspaceReader, number: int | None) -> UnitRow:
    units = store.units()
    if number is None and len(units) == 1:
        return units[0]
    for unit in units:
        if unit.id == number:
            return unit
    known = ", ".join(f"{unit.id} ({unit.problem}, {unit.policy})" for unit in units[:8])
    raise UsageError(
        "name one of the units" if number is None else f"unknown unit {number}",
        hint=f"choose one of {known}" if units else "run a campaign first",
    )


def pool_text(store: WorkspaceReader, unit: UnitRow) -> str:
    """Return the pool; entry 0 is the initial state, which the format requires."""
    task = _task(store, unit)
    entries = [
        PoolEntry(row.state, row.reference, len(row.walk), row.walk) for row in store.pool(unit.id)
    ]
    if not all(is_state_of(task, entry.state) for entry in entries):
        raise WorkspaceError(
            f"unit {unit.id} is damaged: a tested state does not belong to its task",
            hint="restore a backup",
        )
    if entries and entries[0].state != task.init:
        moved = (replace(entry, reference=_later(entry.reference)) for entry in entries)
        entries = [PoolEntry(task.init), *moved]
    return write_pool(task, entries)


def _later(reference: int) -> int:
    return reference + 1 if reference >= 0 else reference


def bugs_text(store: WorkspaceReader, unit: UnitRow) -> str:
    rows = store.bugs_of_unit(unit.id)
    return write_bugs(
        BugRecord(
            store.bug(row.id).finding.state,
            FAILS if row.gap is None else row.gap,
            row.bound,
            row.pool_number is not None,
        )
        for row in rows
    )


def policy_cache_text(store: WorkspaceReader, unit: UnitRow) -> str:
    """Return the decisions along the runs from all bugs; others are not stored."""
    return write_policy_cache(dict(_decisions(store, unit, _task(store, unit))).items())


def sas_text(store: WorkspaceReader, unit: UnitRow) -> str:
    return write_sas(_task(store, unit))


@dataclass(frozen=True, slots=True)
class Format:
    """`counted` returns what a text holds, such as "60 states"."""

    text: Callable[[WorkspaceReader, UnitRow], str]
    suffix: str
    counted: Callable[[str], str]


FORMATS: Mapping[str, Format] = {
    "pool": Format(pool_text, ".pool", lambda text: _count(count_states(text), "state")),
    "bugs": Format(bugs_text, ".bugs", lambda text: _count(text.count("\nstate\n"), "bug")),
    "policy-cache": Format(
        policy_cache_text, CACHE_SUFFIX, lambda text: _count(text.count("\n"), "decision")
    ),
    "sas": Format(
        sas_text, SAS_SUFFIX, lambda text: _count(text.count("\nbegin_operator\n"), "operator")
    ),
}


@dataclass(frozen=True, slots=True)
class Exported:
    path: Path
    format: str
    unit: UnitRow
    counted: str  # such as "60 states"


def export_unit(store: WorkspaceReader, unit: UnitRow, name: str, path: Path) -> Exported:
    """Write a file for other tools; the name of its format is one of `FORMATS`."""
    text = FORMATS[name].text(store, unit)
    write_text(path, text)
    return Exported(path, name, unit, FORMATS[name].counted(text))


def _count(number: int, noun: str) -> str:
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s"


def _decisions(store: WorkspaceReader, unit: UnitRow, task: Task) -> Iterator[tuple[State, int]]:
    for row in store.bugs_of_unit(unit.id):
        bug = store.bug(row.id)
        require_fit(bug, task)
        state = bug.finding.state
        for operator in bug.finding.run.operators:
            yield state, operator
            state = successor(task, task.operators[operator], state)
        if bug.finding.run.outcome == FAILED and bug.finding.run.last_decision >= NO_ACTION:
            yield state, bug.finding.run.last_decision


def _task(store: WorkspaceReader, unit: UnitRow) -> Task:
    return store.task(store.problem_of(unit.id))
