"""`plumbline report`: write a campaign as one file, or an experiment as a folder of files."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from engine.commands.console import Console
from engine.commands.options import Options
from engine.errors import ExitCode
from engine.report.experiment.files import PAGE
from engine.report.formats import FORMATS
from engine.usecases.report import ReportOptions, write_experiment, write_report


def configure(options: Options) -> None:
    options.workspace()
    options.text(
        "--out",
        "FILE|DIR/",
        "file to write; a folder gets an experiment's HTML, CSV, LaTeX, SVG and PDF files",
        required=True,
    )
    options.choice("--format", FORMATS, "", "format of the report (default: by the ending of FILE)")
    options.number("--campaign", None, "campaign to report (default: the last one)")
    options.number("--experiment", None, "experiment to report (default: the last one)")
    options.number("--details", ReportOptions().details, "number of bugs to show with their plans")


def run(args: argparse.Namespace, console: Console) -> int:
    path = Path(args.out)
    if args.out.endswith("/") or os.path.isdir(path) or args.experiment is not None:
        return _experiment(args, path, console)
    options = ReportOptions(args.format, args.campaign, args.details)
    with console.link("Writing the report:") as link:
        report = write_report(link, args.workspace, path, options)
    document = {
        "file": str(report.path),
        "format": report.format,
        "campaign": report.campaign,
        "bugs": report.bugs,
    }
    console.result(document, f"{report.path}: {report.bugs} bugs")
    return ExitCode.DONE


def _experiment(args: argparse.Namespace, folder: Path, console: Console) -> int:
    with console.link("Writing the report:") as link:
        written = write_experiment(link, args.workspace, folder, args.experiment)
    document = {
        "folder": str(written.folder),
        "experiment": written.experiment,
        "files": list(written.files),
    }
    console.result(document, f"{folder}: {len(written.files)} files; open {PAGE} first")
    return ExitCode.DONE
