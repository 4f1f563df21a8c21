"""`plumbline compare`: do two domain models mean the same?"""

from __future__ import annotations

import argparse
from pathlib import Path

from msgspec.structs import replace

from engine.commands.arguments import positive_seconds
from engine.commands.console import Console, ProgressBar
from engine.commands.stop_signal import stop_signal
from engine.equivalence import (
    CompareOptions,
    Limits,
    Parameters,
    compare_domains,
    verify_certificate,
)
from engine.errors import ExitCode
from engine.files import read_bytes, write_text
from engine.pddl import Domain, read_domain
from engine.records.comparison import Comparison, EquivalenceVerdict
from engine.records.events import ComparisonEvent, ComparisonProgress
from engine.records.inputs import File
from engine.report.comparison import comparison_json, comparison_report, failed_evidence
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
    if args.verify:
        comparison = _verify(comparison, first, second, args.seed)
    problems = list(failed_evidence(comparison))
    text = describe(comparison)
    if args.verify:
        text += "\n" + ("\n".join(problems) or "All evidence was verified.") + "\n"
    # First: the report may not find room on the disk.
    console.result(comparison_json(comparison), text)
    if args.out is not None:
        _write_report(args.out, comparison, args.first, args.second)
    return _exit_code(comparison, problems)


def _write_report(out: Path, comparison: Comparison, first: str, second: str) -> None:
    a, b = (File(Path(name).name, read_bytes(name, "a domain"), name) for name in (first, second))
    write_text(out, comparison_report(comparison, a, b, out.suffix))


def _verify(comparison: Comparison, first: Domain, second: Domain, seed: int) -> Comparison:
    readings = [
        replace(reading, objections=tuple(verify_certificate(reading, first, second, seed)))
        for reading in comparison.readings
    ]
    return replace(comparison, readings=tuple(readings))


def _exit_code(comparison: Comparison, problems: list[str]) -> int:
    if comparison.stopped:
        return ExitCode.INTERRUPTED
    if problems:
        return ExitCode.INTERNAL
    answers = {
        EquivalenceVerdict.EQUIVALENT: ExitCode.DONE,
        EquivalenceVerdict.NOT_EQUIVALENT: ExitCode.ANSWER_IS_NO,
        EquivalenceVerdict.UNDECIDED: ExitCode.LIMIT_REACHED,
    }
    return answers[comparison.first.verdict]


def _show(event: ComparisonEvent, bar: ProgressBar) -> None:
    if isinstance(event, ComparisonProgress):
        bar.update(
            event.seconds,
            f"{event.parameters}: {event.stage}, {event.candidates} mappings tried, "
            f"{event.conflicts} conflicts, {event.operators_covered} of {event.operators} "
            f"operators, {event.states} states",
        )
