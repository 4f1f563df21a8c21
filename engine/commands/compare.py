"""`plumbline compare`: decide whether two domain models mean the same."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine.commands.console import Console
from engine.commands.options import Options, positive_seconds
from engine.errors import ExitCode
from engine.files import read_bytes, write_text
from engine.records.comparison import CompareOptions, Comparison, EquivalenceVerdict, Parameters
from engine.records.inputs import File
from engine.report.comparison import comparison_json, comparison_report, failed_evidence
from engine.report.comparison_text import describe
from engine.usecases.compare import DEFAULT_OPTIONS, compare

BOTH = "both"


def configure(options: Options) -> None:
    options.text("first", "A.pddl", "a domain")
    options.text("second", "B.pddl", "the other domain")
    options.choice(
        "--parameters",
        [*DEFAULT_OPTIONS.parameters, BOTH],
        BOTH,
        "whether two parameters may stand for the same object: distinct (no), pddl (yes), or "
        "both (default)",
    )
    options.flag(
        "--permute-arguments",
        "if the domains are not equivalent, also try predicates with reordered arguments",
    )
    options.flag("--all-macros", "list all shortest macros of every action, not only one")
    options.number(
        "--time-limit",
        DEFAULT_OPTIONS.seconds,
        "stop after this many seconds (default: %(default)g)",
        positive_seconds,
        "S",
    )
    options.path("--out", "FILE", "also write a report to FILE.html or FILE.json")
    options.seed("the states that --verify tries")
    options.flag("--verify", "check the evidence with independent code")


def run(args: argparse.Namespace, console: Console) -> int:
    a, b = (
        File(Path(name).name, read_bytes(name, "a domain"), name)
        for name in (args.first, args.second)
    )
    asked = (
        DEFAULT_OPTIONS.parameters if args.parameters == BOTH else (Parameters(args.parameters),)
    )
    options = CompareOptions(
        asked,
        args.permute_arguments,
        args.time_limit,
        args.verify,
        args.seed,
        args.all_macros,
    )
    with console.link("Comparing", keeps_results=True) as link:
        comparison = compare(link, a, b, options)
    problems = list(failed_evidence(comparison))
    text = describe(comparison)
    unverified = args.verify and any(item.objections is None for item in comparison.readings)
    if args.verify and not unverified:
        text += "\n" + ("\n".join(problems) or "All evidence was verified.") + "\n"
    # First, because writing the report may fail.
    console.result(comparison_json(comparison), text)
    if args.out is not None:
        write_text(args.out, comparison_report(comparison, a, b, args.out.suffix))
    return _exit_code(comparison, problems, unverified)


def _exit_code(comparison: Comparison, problems: list[str], unverified: bool) -> int:
    if comparison.stopped:
        return ExitCode.INTERRUPTED
    if problems:
        return ExitCode.INTERNAL
    if unverified:
        return ExitCode.LIMIT_REACHED
    answers = {
        EquivalenceVerdict.EQUIVALENT: ExitCode.DONE,
        EquivalenceVerdict.NOT_EQUIVALENT: ExitCode.ANSWER_IS_NO,
        EquivalenceVerdict.UNDECIDED: ExitCode.LIMIT_REACHED,
    }
    return answers[comparison.first.verdict]
