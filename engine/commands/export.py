"""`plumbline export`: write bugs as bundles to reproduce them, or files for other tools."""

from __future__ import annotations

import argparse

from engine.campaign.bundle import Bundle, reproduction_document
from engine.campaign.exchange import FORMATS
from engine.campaign.reproduction import reproduction_text
from engine.commands.console import Console
from engine.commands.options import Options, count
from engine.errors import ExitCode, UsageError
from engine.usecases.export import export_bundles, export_unit_file

BUNDLE = "bundle"


def configure(options: Options) -> None:
    options.workspace()
    options.text("--bug", "ID", "bugs to export as bundles", type=count, nargs="+", action="extend")
    options.path(
        "--out",
        "PATH",
        "folder in which each bug gets a folder, or the file to write",
        required=True,
    )
    options.choice(
        "--format",
        [BUNDLE, *FORMATS],
        BUNDLE,
        "bundles of bugs (default), or a file for the reference tools: the pool of a unit, "
        "its bugs, the policy's decisions on the runs from its bugs, or its task",
    )
    options.number(
        "--unit",
        None,
        "unit to export for the reference tools; may be omitted if there is only one",
    )


def run(args: argparse.Namespace, console: Console) -> int:
    if args.format == BUNDLE:
        return _write_bundles(args, console)
    with console.link("Exporting") as link:
        written = export_unit_file(link, args.workspace, args.unit, args.format, args.out)
    document = {"file": str(args.out), "format": args.format, "unit": written.unit.id}
    console.result(document, f"{args.out}: {args.format} of unit {written.unit.id}")
    return ExitCode.DONE


def _write_bundles(args: argparse.Namespace, console: Console) -> int:
    if not args.bug:
        raise UsageError("no bug to export", hint="give --bug ID")
    with console.link("Exporting") as link:
        bundles = export_bundles(link, args.workspace, args.bug, args.out)
    for bundle in bundles:
        if not bundle.has_better_plan:
            console.message(f"warning: bug {bundle.bug}: no better plan found within the limits")
    document = {
        "bundles": [
            {
                "bug": item.bug,
                "folder": str(item.folder),
                "better_plan": item.has_better_plan,
                **reproduction_document(item.reproduction),
            }
            for item in bundles
        ]
    }
    console.result(document, "\n".join(map(_line, bundles)))
    return ExitCode.DONE


def _line(bundle: Bundle) -> str:
    return f"{bundle.folder}: {reproduction_text(bundle.reproduction)}"
