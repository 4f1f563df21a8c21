"""`plumbline check`: read a domain and a problem and report every error with its place."""

from __future__ import annotations

import argparse
from typing import Any

from engine.commands.console import Console
from engine.commands.options import Options
from engine.errors import ExitCode
from engine.pddl import Diagnostic, Domain, Problem, Report, check_files
from engine.pddl.sexpr import lines_of
from engine.report.words import count_text

WIDEST_LINE = 120
"""Of a longer source line only the part around the error is shown."""


def configure(options: Options) -> None:
    options.domain()
    options.problem(nargs="?")


def run(args: argparse.Namespace, console: Console) -> int:
    report = check_files(args.domain, args.problem)
    if not console.as_json:
        for item in report.diagnostics:
            console.message(_message(item, report))
    console.result(_document(report), _summary(report))
    return ExitCode.DONE if report.ok else ExitCode.BAD_INPUT


def _document(report: Report) -> dict[str, Any]:
    return {
        "ok": report.ok,
        "domain": _domain_document(report.domain) if report.domain else None,
        "problem": _problem_document(report.problem) if report.problem else None,
        "errors": [_diagnostic_document(item) for item in report.errors],
        "warnings": [_diagnostic_document(item) for item in report.warnings],
    }


def _domain_document(domain: Domain) -> dict[str, Any]:
    return {
        "name": domain.name,
        "types": [item.name for item in domain.types],
        "predicates": [item.name for item in domain.predicates],
        "actions": [item.name for item in domain.actions],
    }


def _problem_document(problem: Problem) -> dict[str, Any]:
    return {
        "name": problem.name,
        "domain": problem.domain_name,
        "objects": len(problem.objects),
        "init": len(problem.init),
    }


def _diagnostic_document(item: Diagnostic) -> dict[str, Any]:
    place = item.location
    return {
        "file": place.file,
        "line": place.line,
        "column": place.column,
        "message": item.message,
        "hint": item.hint,
    }


def _message(item: Diagnostic, report: Report) -> str:
    lines = [f"{item.severity}: {item}"]
    text = lines_of(report.texts.get(item.location.file or "", ""))
    line, column = item.location.line, item.location.column
    if line and column and line <= len(text):
        lines += _excerpt(text[line - 1], column)
    return "\n".join(lines)


def _excerpt(source: str, column: int) -> list[str]:
    """The source line with a caret under the column."""
    start = max(0, min(column - 1 - WIDEST_LINE // 2, len(source) - WIDEST_LINE))
    shown = source[start : start + WIDEST_LINE]
    lead = "".join("\t" if character == "\t" else " " for character in source[start : column - 1])
    return [f"    {shown}", f"    {lead}^"]


def _summary(report: Report) -> str:
    parts = []
    if report.domain:
        domain = report.domain
        parts.append(
            f"domain '{domain.name}': {count_text(len(domain.types), 'type')}, "
            f"{count_text(len(domain.predicates), 'predicate')}, "
            f"{count_text(len(domain.actions), 'action')}"
        )
    if report.problem:
        problem = report.problem
        parts.append(
            f"problem '{problem.name}': {count_text(len(problem.objects), 'object')}, "
            f"{count_text(len(problem.init), 'fact')} in :init"
        )
    found = (
        f"{count_text(len(report.errors), 'error')}, {count_text(len(report.warnings), 'warning')}"
    )
    return "\n".join([*parts, f"ok: {found}" if report.ok else f"not ok: {found}"])
