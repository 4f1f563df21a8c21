"""`plumbline report`: write the results of a campaign as one file."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine.commands.arguments import count
from engine.commands.console import Console
from engine.errors import ExitCode
from engine.report.formats import FORMATS
from engine.usecases.report import ReportOptions, write_report


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("workspace", type=Path, metavar="W.plumb", help="workspace")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="file to write")
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default="",
        help="format of the report (default: by the ending of FILE)",
    )
    parser.add_argument(
        "--campaign", type=int, metavar="N", help="campaign to report (default: the last one)"
    )
    parser.add_argument(
        "--details",
        type=count,
        default=ReportOptions().details,
        metavar="N",
        help="number of bugs to show with their plans (default: %(default)s)",
    )


def run(args: argparse.Namespace, console: Console) -> int:
    options = ReportOptions(args.format, args.campaign, args.details)
    with console.link("Writing the report:") as link:
        report = write_report(link, args.workspace, args.out, options)
    document = {
        "file": str(report.path),
        "format": report.format,
        "campaign": report.campaign,
        "bugs": report.bugs,
    }
    console.result(document, f"{report.path}: {report.bugs} bugs")
    return ExitCode.DONE
