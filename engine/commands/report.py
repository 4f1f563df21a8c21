"""`plumbline report`: what a campaign has found, as one file to read or to feed to others."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine.commands.console import Console
from engine.errors import ExitCode, UsageError
from engine.files import write_text
from engine.report.content import gather
from engine.report.formats import FORMATS, STORIES, SUFFIXES
from engine.workspace.workspace import Workspace


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("workspace", type=Path, metavar="W.plumb")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    parser.add_argument(
        "--format", choices=FORMATS, help="default: what the name of the file ends with"
    )
    parser.add_argument("--campaign", type=int, metavar="N", help="default: the last one")
    parser.add_argument(
        "--details",
        type=_count,
        default=STORIES,
        metavar="N",
        help="how many bugs are shown with their plans (default %(default)s)",
    )


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number")
    return int(text)


def run(args: argparse.Namespace, console: Console) -> int:
    kind = args.format or SUFFIXES.get(args.out.suffix.lower())
    if kind is None:
        raise UsageError(
            f"the format of {args.out.name} is not clear",
            hint=f"end its name with one of {', '.join(SUFFIXES)}, or give --format",
        )
    with Workspace.open(args.workspace) as store:
        content = gather(store, args.campaign, args.details if kind == "html" else 0)
    write_text(args.out, FORMATS[kind](content))
    document = {"file": str(args.out), "format": kind, "campaign": content.campaign.id}
    console.result({**document, "bugs": len(content.bugs)}, f"{args.out}: {len(content.bugs)} bugs")
    return ExitCode.DONE
