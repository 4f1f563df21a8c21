"""`python -m app [workspace]`: opens Plumbline's window.

Where there is no display, or with --demo, the bundled example runs on the command line instead.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import engine
from app.shell.no_display import no_window_because


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="plumbline-app",
        description="Opens Plumbline's window on a workspace: the last one, or the example.",
    )
    parser.add_argument("workspace", nargs="?", type=Path, help="a .plumb file")
    parser.add_argument("--demo", action="store_true", help="the example on the command line")
    parser.add_argument("--version", action="version", version=f"Plumbline {engine.__version__}")
    options = parser.parse_args(arguments)
    reason = "" if options.demo else no_window_because()
    if options.demo or reason:
        from app.shell.no_display import run_tour

        if reason:
            print(f"No window: {reason}. Showing the example on the command line.", flush=True)
        return run_tour()
    from app.shell.application import run

    return run(options.workspace)


if __name__ == "__main__":
    sys.exit(main())
