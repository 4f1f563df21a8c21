"""`plumbline compare`: do two domain models mean the same?"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.campaign.inputs import File
from engine.commands.arguments import positive_seconds
from engine.commands.console import Console, ProgressBar
from engine.commands.stop_signal import stop_signal
from engine.equivalence import (
    CompareOptions,
    Comparison,
    Event,
    Limits,
    Parameters,
    Progress,
    Verdict,
    compare_domains,
    verify_certificate,
)
from engine.errors import ExitCode
from engine.files import read_bytes, write_text
from engine.pddl import Domain, read_domain
from engine.report.comparison import comparison_report
from engine.report.comparison_text import describe

BOTH = "both"
DEFAULT_SECONDS = 300.0


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", metavar="A.pddl", help="one domain")
    parser.add_argument("second", metavar="B.pddl", help="the other domain")
    parser.add_argument(
        "--parameters",
        choices=[*Parameters, BOTH],
        default=BOTH,
        help="may parameters stand for the same object: distinct (no), pddl (yes), or both answers",
    )
    parser.add_argument(
        "--permute-arguments",
        action="store_true",
        help="if they are not equivalent, also try predicates with their arguments reordered",
    )
    parser.add_argument(
        "--time-limit",
        type=positive_seconds,
        default=DEFAULT_SECONDS,
        metavar="S",
        help=f"in seconds, {DEFAULT_SECONDS:g} if not given",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write a report, as .html or .json"
    )
    parser.add_argument("--seed", type=int, default=0, help="for the states that --verify tries")
    parser.add_argument(
        "--verify", action="store_true", help="check the evidence with a separate simulator"
    )


def run(args: argparse.Namespace, console: Console) -> int:
    first, second = read_domain(args.first), read_domain(args.second)
    asked = tuple(Parameters) if args.parameters == BOTH else (Parameters(args.parameters),)
    options = CompareOptions(asked, args.permute_arguments, Limits(seconds=args.time_limit))
    # Stopped, it still prints the readings that were finished.
    with stop_signal() as interrupted, console.progress("Comparing") as bar:
        comparison = compare_domains(
            first, second, options, lambda event: _show(event, bar), interrupted.is_set
        )
    found = _verify(comparison, first, second, args.seed) if args.verify else None
    document = comparison.to_json()
    text = describe(comparison)
    problems = None
    if found is not None:
        problems = [
            f"the evidence for '{name}' fails: {problem}"
            for name, objections in found.items()
            for problem in objections
        ]
        document["verification"] = {"ok": not problems, "problems": problems, **found}
        text += "\n" + ("\n".join(problems) if problems else "All evidence was verified.") + "\n"
    console.result(document, text)  # first: the report may not find room on the disk
    if args.out is not None:
        _write_report(args.out, document, args.first, args.second)
    return _exit_code(comparison, problems)


def _write_report(out: Path, document: Mapping[str, Any], first: str, second: str) -> None:
    a, b = (File(Path(name).name, read_bytes(name, "a domain"), name) for name in (first, second))
    write_text(out, comparison_report(document, a, b, out.suffix))


def _verify(
    comparison: Comparison, first: Domain, second: Domain, seed: int
) -> dict[str, list[str]]:
    return {
        reading.parameters.value: verify_certificate(reading, first, second, seed)
        for reading in comparison.readings
    }


def _exit_code(comparison: Comparison, problems: list[str] | None) -> int:
    if comparison.stopped:
        return ExitCode.INTERRUPTED
    if problems:
        return ExitCode.INTERNAL
    answers = {
        Verdict.EQUIVALENT: ExitCode.DONE,
        Verdict.NOT_EQUIVALENT: ExitCode.ANSWER_IS_NO,
        Verdict.UNDECIDED: ExitCode.LIMIT_REACHED,
    }
    return answers[comparison.first.verdict]


def _show(event: Event, bar: ProgressBar) -> None:
    if isinstance(event, Progress):
        bar.update(
            event.seconds,
            f"{event.parameters}: {event.stage}, {event.candidates} mappings tried, "
            f"{event.conflicts} conflicts, {event.operators_covered} of {event.operators} "
            f"operators, {event.states} states",
        )
