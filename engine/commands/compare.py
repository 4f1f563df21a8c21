"""`plumbline compare`: decide whether two domain models mean the same."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine.campaign.inputs import File
from engine.commands.arguments import positive_seconds
from engine.commands.console import Console
from engine.errors import ExitCode
from engine.files import read_bytes, write_text
from engine.records.comparison import Verdict
from engine.report.comparison import comparison_report
from engine.usecases.compare import DEFAULT_OPTIONS, Compared, CompareOptions, compare

BOTH = "both"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", metavar="A.pddl", help="a domain")
    parser.add_argument("second", metavar="B.pddl", help="the other domain")
    parser.add_argument(
        "--parameters",
        choices=[*DEFAULT_OPTIONS.parameters, BOTH],
        default=BOTH,
        help="whether two parameters may stand for the same object: distinct (no), pddl (yes), or "
        "both (default)",
    )
    parser.add_argument(
        "--permute-arguments",
        action="store_true",
        help="if the domains are not equivalent, also try predicates with reordered arguments",
    )
    parser.add_argument(
        "--time-limit",
        type=positive_seconds,
        default=DEFAULT_OPTIONS.seconds,
        metavar="S",
        help="stop after this many seconds (default: %(default)g)",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="also write a report to FILE.html or FILE.json"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of the states that --verify tries"
    )
    parser.add_argument(
        "--verify", action="store_true", help="check the evidence with independent code"
    )


def run(args: argparse.Namespace, console: Console) -> int:
    a, b = (
        File(Path(name).name, read_bytes(name, "a domain"), name)
        for name in (args.first, args.second)
    )
    asked = DEFAULT_OPTIONS.parameters if args.parameters == BOTH else (args.parameters,)
    options = CompareOptions(asked, args.permute_arguments, args.time_limit, args.verify, args.seed)
    with console.link("Comparing", keeps_results=True) as link:
        found = compare(link, a, b, options)
    document, text = found.document, found.text
    problems = None
    if found.problems is not None:
        problems = [
            f"the evidence for '{name}' fails: {problem}"
            for name, objections in found.problems.items()
            for problem in objections
        ]
        document["verification"] = {"ok": not problems, "problems": problems, **found.problems}
        text += "\n" + ("\n".join(problems) if problems else "All evidence was verified.") + "\n"
    console.result(document, text)  # first: the report may not find room on the disk
    if args.out is not None:
        write_text(args.out, comparison_report(document, a, b, args.out.suffix))
    return _exit_code(found, problems)


def _exit_code(found: Compared, problems: list[str] | None) -> int:
    if found.stopped:
        return ExitCode.INTERRUPTED
    if problems:
        return ExitCode.INTERNAL
    answers = {
        Verdict.EQUIVALENT: ExitCode.DONE,
        Verdict.NOT_EQUIVALENT: ExitCode.ANSWER_IS_NO,
        Verdict.UNDECIDED: ExitCode.LIMIT_REACHED,
    }
    return answers[found.verdict]
