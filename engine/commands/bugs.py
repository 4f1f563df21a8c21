"""`plumbline bugs`: list what the campaigns of a workspace have found, and decide about it."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

from msgspec.structs import replace

from engine.campaign.patterns import PatternBugs, pattern_bugs, without_witness
from engine.commands.console import Console
from engine.commands.options import Options
from engine.errors import ExitCode, UsageError
from engine.records.codec import to_json
from engine.records.finding import BugStatus
from engine.records.localization import RootCause, SchemaCauses, by_schema
from engine.records.pattern import SHOWN_KEY_LETTERS
from engine.report.loss_text import row_loss_cell
from engine.report.pattern_text import counts_text, pattern_titles, without_witness_text
from engine.report.words import count_text
from engine.workspace.filter import KIND_WORDS, Term, parse_terms
from engine.workspace.rows import Bug, BugRow
from engine.workspace.workspace import Workspace


def configure(options: Options) -> None:
    options.workspace()
    options.text(
        "--filter",
        "TEXT",
        "list only matching bugs, for example 'gap>5 oracle:aras status:new pool:yes'",
        default="",
    )
    options.bugs("list only this bug")
    options.flag("--root-causes", "list root causes instead of bugs, grouped by action schema")
    options.add(
        "--group",
        choices=("pattern", "family"),
        help="list patterns of mistakes instead of bugs ('plumbline minimize' finds them)",
    )
    triage = options.group("triage of the bugs given by --bug")
    triage.add("--mark", choices=[status.value for status in BugStatus], help="set this status")
    triage.number("--duplicate-of", None, "mark as duplicates of this bug", metavar="ID")
    triage.text("--note", "TEXT", "add this note")


def run(args: argparse.Namespace, console: Console) -> int:
    terms = parse_terms(args.filter)
    with Workspace.open(args.workspace) as store:
        named = [store.bug(number).row for number in args.bug or ()]
        _decide(args, store, named)
        if named:
            terms += parse_terms(f"id:{'|'.join(str(row.id) for row in named)}")
        if args.group:
            lines = _pattern_lines(store, terms, by_family=args.group == "family")
        elif args.root_causes:
            lines = _cause_lines(store, terms)
        else:
            lines = _bug_lines(store, terms)
        console.long_result(_document(store, terms), lines)
    return ExitCode.DONE


def _document(store: Workspace, terms: Sequence[Term]) -> Iterator[tuple[str, Iterable[Any], bool]]:
    """Everything by its key: a list can be longer than the memory."""
    yield "bugs", (document(store.bug(row.id)) for row in store.each_bug(terms=terms)), True
    yield "further", (store.count_bugs((*terms, *parse_terms("pool:no"))),), False
    causes = store.root_cause_numbers(terms=terms)
    found = store.each_root_cause(causes, terms=terms)
    yield "root_causes", (_cause_document(cause) for cause in found), True
    groups = by_schema(_outlines(store.each_root_cause(causes, terms=terms)))
    yield "schemas", (_schema_document(group) for group in groups), True
    patterns, titles = _patterns(store, terms), pattern_titles(store)
    yield "patterns", (_pattern_document(item, titles[item.id]) for item in patterns), True


def _outlines(causes: Iterable[RootCause]) -> list[RootCause]:
    """Without their states, to keep very many."""
    return [replace(cause, state=()) for cause in causes]


def _patterns(store: Workspace, terms: Sequence[Term]) -> list[PatternBugs]:
    return pattern_bugs(store, store.bugs(terms=(*terms, *parse_terms("pattern:any"))))


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


def _pattern_document(pattern: PatternBugs, title: str) -> dict[str, Any]:
    action = pattern.about.action
    return {
        "id": pattern.id,
        "key": pattern.key[:SHOWN_KEY_LETTERS],
        "family": pattern.family,
        "title": title,
        "witness": pattern.witness,
        "bad_action": f"({action})" if action else None,
        "better_actions": [f"({better})" for better in pattern.about.better_actions],
        "bugs": list(pattern.bugs),
        "root_causes": list(pattern.root_causes),
        "problems": list(pattern.problems),
        "largest_gap": pattern.largest_gap,
    }


def _pattern_lines(store: Workspace, terms: Sequence[Term], *, by_family: bool) -> Iterator[str]:
    """Families as headings, each with its patterns; or the patterns alone."""
    patterns, titles = _patterns(store, terms), pattern_titles(store)
    families: dict[str, list[PatternBugs]] = {}
    for pattern in patterns:
        families.setdefault(pattern.family, []).append(pattern)
    for family, members in families.items():
        bugs = sum(len(pattern.bugs) for pattern in members)
        yield f"{family}: {count_text(bugs, 'bug')}"
        if not by_family:
            for item in members:
                yield (
                    f"  {item.id}  {titles[item.id]}; witness {item.witness}, "
                    f"bugs {_list(item.bugs)}"
                )
    count, causes = store.count_bugs(terms), len(store.root_cause_numbers(terms=terms))
    yield counts_text(count, causes, len(patterns), len(families))
    without = (*terms, *parse_terms("pattern:none"))
    tried = without_witness(store, store.each_bug(terms=without))
    yield from (without_witness_text(row, bugs) for row, bugs in tried)
    rest = store.count_bugs(without) - sum(bugs for _, bugs in tried)
    if rest:
        yield f"{count_text(rest, 'bug')} without a pattern; run 'plumbline minimize --root-causes'"


def _cause_lines(store: Workspace, terms: Sequence[Term]) -> Iterator[str]:
    numbers = store.root_cause_numbers(terms=terms)
    groups = by_schema(_outlines(store.each_root_cause(numbers, terms=terms)))
    for group in groups:
        yield f"{group.schema or 'no action'}: {count_text(group.bugs, 'bug')}"
        for cause in group.causes:
            yield (
                f"  {cause.id}  {cause.kind.value}  ({cause.action})  in {cause.problem}: "
                f"bugs {_list(cause.bugs)}"
            )
    traced = sum(group.bugs for group in groups)
    left = store.count_bugs(terms) - traced
    causes = count_text(len(numbers), "root cause")
    yield f"{causes} of {count_text(traced, 'bug')}; {left:,} not localized"


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
        "pattern": row.pattern,
        "family": row.family or None,
        "worst_action": f"({row.worst_action})" if row.worst_action else None,
        "loss": None if row.worst_step is None else [row.loss, row.loss_high],
        "status": row.status,
        "duplicate_of": row.duplicate_of,
        "note": row.note,
        "seconds": row.seconds,
        "pool_number": row.pool_number,
        "retrospective": row.retrospective,
    }


def _bug_lines(store: Workspace, terms: Sequence[Term]) -> Iterator[str]:
    """A table as wide as its first bugs need."""
    headings = ("id", "status", "kind", "problem", "cost", "best", "gap", "loss", "found by")
    rows = store.each_bug(terms=terms)
    first = [(*headings, "region", "root cause"), *map(_cells, islice(rows, MEASURED))]
    widths = [max(map(len, column)) for column in zip(*first, strict=True)]
    for line in chain(first, map(_cells, rows)):
        yield "  ".join(map(str.ljust, line, widths)).rstrip()
    count = store.count_bugs(terms)
    further = store.count_bugs((*terms, *parse_terms("pool:no")))
    yield f"{count_text(count - further, 'bug')} in the pool, {further:,} in further states"
    yield f"{count} of {store.count_bugs()}"


def _cells(row: BugRow) -> tuple[str, ...]:
    return (
        str(row.id),
        row.status_text,
        KIND_WORDS[row.kind],
        row.problem,
        _number(row.policy_cost),
        str(row.bound),
        _number(row.gap),
        row_loss_cell(row) or "-",
        row.found_by,
        _number(row.region),
        _number(row.root_cause),
    )


def _list(numbers: Sequence[int]) -> str:
    more = f" and {len(numbers) - _SHOWN} more" if len(numbers) > _SHOWN else ""
    return ", ".join(map(str, numbers[:_SHOWN])) + more


MEASURED = 1000
_SHOWN = 6
"""How many bugs of a root cause the text output shows; the nearest to it come first."""


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)
