"""`plumbline export`: bugs as bundles that others can reproduce, or files for other tools."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine.campaign.bundle import write_bundle
from engine.campaign.exchange import FORMATS, export_unit, unit_called
from engine.commands.console import Console
from engine.errors import ExitCode, UsageError
from engine.task.task import Task
from engine.workspace.workspace import Workspace

BUNDLE = "bundle"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("workspace", type=Path, metavar="W.plumb")
    parser.add_argument("--bug", type=int, nargs="+", action="extend", metavar="ID")
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="PATH",
        help="a folder that gets a folder per bug, or the file to write",
    )
    parser.add_argument(
        "--format",
        choices=[BUNDLE, *FORMATS],
        default=BUNDLE,
        help="bundles of bugs (default), or a file of the reference tools: the pool of a unit, its "
        "bugs, the policy's decisions on the runs from its bugs, or its task",
    )
    parser.add_argument("--unit", type=int, metavar="N", help="for these files; default: the only")


def run(args: argparse.Namespace, console: Console) -> int:
    if args.format == BUNDLE:
        if not args.bug:
            raise UsageError("no bug is named", hint="name some by --bug ID")
        return _write_bundles(args, console)
    with Workspace.open(args.workspace) as store:
        unit = unit_called(store, args.unit)
        export_unit(store, unit, args.format, args.out)
    document = {"file": str(args.out), "format": args.format, "unit": unit.id}
    console.result(document, f"{args.out}: {args.format} of unit {unit.id}")
    return ExitCode.DONE


def _write_bundles(args: argparse.Namespace, console: Console) -> int:
    numbers = list(dict.fromkeys(args.bug))
    bundles = []
    with Workspace.open(args.workspace) as store:
        problems = {number: store.bug(number).problem_id for number in numbers}
        tasks: dict[int, Task] = {}
        with console.progress("Exporting", total=len(numbers)) as bar:
            for number, problem in problems.items():
                if problem not in tasks:
                    tasks[problem] = store.task(problem)
                bundles.append(write_bundle(store, number, args.out, tasks[problem]))
                bar.update(len(bundles))
    for bundle in bundles:
        if not bundle.has_better_plan:
            console.message(
                f"warning: bug {bundle.bug}: no cheaper plan was found within the limits"
            )
    document = {
        "bundles": [
            {"bug": item.bug, "folder": str(item.folder), "better_plan": item.has_better_plan}
            for item in bundles
        ]
    }
    console.result(document, "\n".join(str(bundle.folder) for bundle in bundles))
    return ExitCode.DONE
