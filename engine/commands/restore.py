"""`plumbline restore`: lists the backups of workspaces, and restores one of them."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from engine.commands.console import Console
from engine.commands.options import Options
from engine.errors import ExitCode, UsageError
from engine.files import real_path
from engine.usecases.housekeeping import restore_backup
from engine.workspace.backup import Backup, backups


def configure(options: Options) -> None:
    options.path("workspace", "W.plumb", "workspace, which may be lost (default: all)", nargs="?")
    options.number("--backup", None, "restore the backup with this number")
    options.path(
        "--out",
        "PATH",
        "where to save it (default: its original place, or beside the file that is there)",
    )
    options.epilog("Without --backup, lists the backups, the newest first. Never replaces a file.")


def run(args: argparse.Namespace, console: Console) -> int:
    place = real_path(args.workspace) if args.workspace else None
    found = [backup for backup in backups() if place in (None, backup.workspace)]
    restored: Path | None = None
    if args.backup is not None:
        if not 1 <= args.backup <= len(found):
            raise UsageError(f"unknown backup {args.backup}", hint="'plumbline restore' lists them")
        with console.link("Restoring") as link:
            restored = restore_backup(link, found[args.backup - 1], args.out)
    document = {
        "backups": [
            {"id": number, "workspace": str(backup.workspace), "time": _when(backup)}
            | {"bytes": backup.size}
            for number, backup in enumerate(found, start=1)
        ],
        "restored": str(restored) if restored else None,
    }
    console.result(document, f"Restored {restored}" if restored else _text(found))
    return ExitCode.DONE


def _text(found: list[Backup]) -> str:
    if not found:
        return "No backups."
    return "\n".join(
        f"{number:>3}  {_when(backup)}  {backup.size / 1e6:>7,.1f} MB  {backup.workspace}"
        for number, backup in enumerate(found, start=1)
    )


def _when(backup: Backup) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(backup.seconds))
