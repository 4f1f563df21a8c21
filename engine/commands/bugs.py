"""`plumbline bugs`: list what the campaigns of a workspace have found, and decide about it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from engine.commands.console import Console
from engine.errors import ExitCode, UsageError
from engine.records.codec import to_json
from engine.records.finding import BugStatus
from engine.records.localization import RootCause, SchemaCauses, by_schema
from engine.workspace.filter import parse_filter
from engine.workspace.rows import Bug, BugRow
from engine.workspace.workspace import Workspace


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("workspace", type=Path, metavar="W.plumb", help="workspace")
    parser.add_argument(
        "--filter",
        default="",
        metavar="TEXT",
        help="list only matching bugs, for example 'gap>5 oracle:aras status:new'",
    )
    parser.add_argument(
        "--bug", type=int, action="append", metavar="ID", help="list only this bug; may be repeated"
    )
    parser.add_argument(
        "--root-causes",
        action="store_true",
        help="list root causes instead of bugs, grouped by action schema",
    )
    decision = parser.add_argument_group("triage of the bugs given by --bug")
    decision.add_argument(
        "--mark", choices=[status.value for status in BugStatus], help="set this status"
    )
    decision.add_argument(
        "--duplicate-of", type=int, metavar="ID", help="mark as duplicates of this bug"
    )
    decision.add_argument("--note", metavar="TEXT", help="add this note")


def run(args: argparse.Namespace, console: Console) -> int:
    fits = parse_filter(args.filter)
    with Workspace.open(args.workspace) as store:
        named = [store.bug(number).row for number in args.bug or ()]
        _decide(args, store, named)
        every = store.bugs()
        wanted = {row.id for row in named} if args.bug else {row.id for row in every}
        rows = [row for row in every if row.id in wanted and fits(row)]
        documents = [document(store.bug(row.id)) for row in rows] if console.as_json else []
        causes = _causes_of(rows, store.root_causes())
    groups = by_schema(causes)
    whole = {
        "bugs": documents,
        "root_causes": [_cause_document(cause) for cause in causes],
        "schemas": [_schema_document(group) for group in groups],
    }
    text = _cause_text(groups, rows) if args.root_causes else _text(rows, len(every))
    console.result(whole, text)
    return ExitCode.DONE


def _decide(args: argparse.Namespace, store: Workspace, rows: Sequence[BugRow]) -> None:
    mark = args.mark or (BugStatus.DUPLICATE if args.duplicate_of is not None else None)
    if mark is None and args.note is None:
        return
    if not rows:
        raise UsageError("no bug to triage", hint="give --bug ID")
    bugs = [row.id for row in rows]
    if mark is not None:
        store.set_status(bugs, BugStatus(mark), args.note, args.duplicate_of)
    else:
        store.set_note(bugs, args.note)


def _causes_of(rows: list[BugRow], causes: list[RootCause]) -> list[RootCause]:
    """The root causes of some bugs, and of no others."""
    shown = {row.id for row in rows}
    kept = [
        replace(cause, bugs=tuple(bug for bug in cause.bugs if bug in shown)) for cause in causes
    ]
    return [cause for cause in kept if cause.bugs]


def _cause_document(cause: RootCause) -> dict[str, Any]:
    return {
        "id": cause.id,
        "kind": cause.kind.value,
        "problem": cause.problem,
        "policy": cause.policy,
        "action": f"({cause.action})" if cause.action else None,
        "schema": cause.schema or None,
        "state": list(cause.state),
        "bugs": list(cause.bugs),
        "smallest_bug": cause.smallest_bug,
    }


def _schema_document(group: SchemaCauses) -> dict[str, Any]:
    return {
        "schema": group.schema or None,
        "bugs": group.bugs,
        "root_causes": [cause.id for cause in group.causes],
    }


def _cause_text(groups: list[SchemaCauses], rows: list[BugRow]) -> str:
    lines = []
    for group in groups:
        lines.append(f"{group.schema or 'no action'}: {group.bugs} bugs")
        lines += [
            f"  {cause.id}  {cause.kind.value}  ({cause.action})  in {cause.problem}: "
            f"bugs {_list(cause.bugs)}"
            for cause in group.causes
        ]
    traced = sum(group.bugs for group in groups)
    count = sum(len(group.causes) for group in groups)
    lines.append(f"{count} root causes of {traced} bugs; {len(rows) - traced} not localized")
    return "\n".join(lines)


def document(bug: Bug) -> dict[str, Any]:
    row, evidence = bug.row, to_json(bug.finding.evidence)
    assert isinstance(evidence, dict)
    return {
        "id": row.id,
        "kind": row.kind,
        "problem": row.problem,
        "policy": row.policy,
        "seed": row.seed,
        "policy_cost": row.policy_cost,
        "bound": row.bound,
        "gap": row.gap,
        "found_by": row.found_by,
        "evidence": {"kind": row.evidence_kind, **evidence},
        "region": row.region,
        "root_cause": row.root_cause,
        "status": row.status,
        "duplicate_of": row.duplicate_of,
        "note": row.note,
        "seconds": row.seconds,
        "pool_number": row.pool_number,
        "retrospective": row.retrospective,
    }


def _text(rows: list[BugRow], total: int) -> str:
    headings = ("id", "status", "kind", "problem", "cost", "best", "gap", "found by")
    table = [(*headings, "region", "root cause")]
    table += [
        (
            str(row.id),
            row.status_text,
            row.kind,
            row.problem,
            _number(row.policy_cost),
            str(row.bound),
            _number(row.gap),
            row.found_by,
            _number(row.region),
            _number(row.root_cause),
        )
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in table]
    return "\n".join([*lines, f"{len(rows)} of {total}"])


def _list(numbers: Sequence[int]) -> str:
    more = f" and {len(numbers) - _SHOWN} more" if len(numbers) > _SHOWN else ""
    return ", ".join(map(str, numbers[:_SHOWN])) + more


_SHOWN = 6
"""How many bugs of a root cause the text for people shows; the nearest to it come first."""


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)
