"""`plumbline bugs`: list what the campaigns of a workspace have found."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from engine.campaign.bug_filter import parse_filter
from engine.campaign.reading import Bug, BugRow
from engine.campaign.store import Store
from engine.console import Console
from engine.errors import ExitCode


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("workspace", type=Path, metavar="W.plumb")
    parser.add_argument(
        "--filter",
        default="",
        metavar="TEXT",
        help="only bugs that fit, for example 'gap>5 oracle:aras status:new'",
    )


def run(args: argparse.Namespace, console: Console) -> int:
    fits = parse_filter(args.filter)
    with Store.open(args.workspace) as store:
        every = store.bugs()
        rows = [row for row in every if fits(row)]
        documents = [document(store.with_proof(row)) for row in rows] if console.as_json else []
    console.result({"bugs": documents}, _text(rows, len(every)))
    return ExitCode.DONE


def document(bug: Bug) -> dict[str, Any]:
    row = bug.row
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
        "evidence": {"kind": row.evidence_kind, **bug.evidence.to_json()},
        "region": row.region,
        "root_cause": row.root_cause,
        "status": row.status,
        "note": row.note,
        "seconds": row.seconds,
        "pool_number": row.pool_number,
        "retrospective": row.retrospective,
    }


def _text(rows: list[BugRow], total: int) -> str:
    table = [("id", "status", "kind", "problem", "cost", "best", "gap", "found by", "region")]
    table += [
        (
            str(row.id),
            row.status,
            row.kind,
            row.problem,
            _number(row.policy_cost),
            str(row.bound),
            _number(row.gap),
            row.found_by,
            _number(row.region),
        )
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in table]
    return "\n".join([*lines, f"{len(rows)} of {total}"])


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)
