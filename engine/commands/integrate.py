"""`plumbline integrate`: menu entry, icon and file type for the desktop of this user."""

from __future__ import annotations

import argparse

from engine.commands.console import Console
from engine.commands.options import Options
from engine.errors import ExitCode
from engine.usecases.integrate import Integration, integrate, remove_integration


def configure(options: Options) -> None:
    options.flag("--remove", "undo the integration")
    options.epilog(
        "Writes a desktop entry, an icon and a MIME type below $XDG_DATA_HOME (~/.local/share). "
        "Never replaces or removes a file that Plumbline did not write."
    )


def run(args: argparse.Namespace, console: Console) -> int:
    done = remove_integration() if args.remove else integrate()
    document = {
        "installed": not args.remove,
        "files": [str(path) for path in done.files],
        "kept": [str(path) for path in done.kept],
        "updated": list(done.updated),
    }
    console.result(document, _describe(done, "Removed" if args.remove else "Wrote"))
    return ExitCode.DONE


def _describe(done: Integration, verb: str) -> str:
    lines = [f"{verb} {path}" for path in done.files]
    lines += [f"Kept {path}, because it was changed" for path in done.kept]
    lines += [f"Ran {program}" for program in done.updated]
    return "\n".join(lines or ["Nothing to remove."])
