"""`plumbline`: the engine without the window.

Each command is a module of `engine.commands` with `HELP`, `configure(parser)` and
`run(args, console) -> exit code`. It is imported only when it is asked for, so that the
command line answers at once.
"""

from __future__ import annotations

import argparse
import importlib
import logging
import sys
from collections.abc import Callable, Sequence
from typing import Protocol, cast

from engine import __version__
from engine.commands.console import Console
from engine.commands.stop_signal import ended_like_interrupted
from engine.errors import CancelledError, ExitCode, PlumblineError
from engine.logs import log_path, set_up_logging
from engine.plain_text import printable

COMMANDS = {
    "check": "check a domain and a problem and report every error with its location",
    "task": "translate a domain and a problem and describe the grounded task",
    "search": "find a plan with a search algorithm and a heuristic",
    "validate": "check a plan and explain why a step fails",
    "compare": "decide whether two domain models mean the same, with evidence",
    "policy": "describe a policy and check whether it fits a domain",
    "run": "run a policy on problems and report how each run ends",
    "fuzz": "generate a pool of test states by random walks",
    "test": "test a policy on the states of a pool with oracles",
    "campaign": "fuzz and test policies on problems and store the results in a workspace",
    "bugs": "list and triage the bugs in a workspace",
    "changes": "list bugs that are new, gone or still there since another campaign",
    "localize": "find the bad steps of a policy's run",
    "verify": "check everything that a workspace claims with independent code",
    "report": "write the results of a campaign as one file",
    "export": "write bugs as bundles to reproduce them, or files for other tools",
    "restore": "list the backups of workspaces and restore one",
    "aoc": "decide whether an action is optimal in a state",
    "dominance": "show which states are provably better than others, and by how much",
    "train": "train a policy for a domain on small problems",
    "serve": "serve a policy to other tools over the network",
    "integrate": "add Plumbline and .plumb files to the desktop of this user",
    "doctor": "show what is installed, what is missing and how to install it",
}


class Command(Protocol):
    configure: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Console], int]


def load_command(name: str) -> Command:
    return cast("Command", importlib.import_module(f"engine.commands.{name}"))


class _Parser(argparse.ArgumentParser):
    """argparse with our form of error message."""

    def error(self, message: str) -> None:  # type: ignore[override]
        text = printable(message)  # it repeats the user's words, such as names of files
        self.exit(ExitCode.BAD_INPUT, f"error: {text}; see '{self.prog} --help'\n")


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """The whole command line, or with `only` just what one command needs."""
    parser = _Parser(prog="plumbline", description="Find bugs in learned action policies.")
    parser.add_argument("--version", action="version", version=f"plumbline {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary)
        command.add_argument("--json", action="store_true", help="print one JSON document")
        command.add_argument("--verbose", action="store_true", help="log details to stderr")
        if only is None or only == name:
            load_command(name).configure(command)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        with ended_like_interrupted():
            return _main(words)
    except KeyboardInterrupt:  # before or after the command itself
        return ExitCode.INTERRUPTED
    except PlumblineError as error:  # the command cannot even be loaded
        Console(as_json=False).message(f"error: {error}")
        return error.exit_code


def _main(words: list[str]) -> int:
    parser = build_parser(only=words[0] if words and words[0] in COMMANDS else "")
    try:
        options = parser.parse_args(words)
    except SystemExit as exit_request:
        return int(exit_request.code or 0)
    if options.command is None:
        parser.print_help(sys.stderr)
        return ExitCode.BAD_INPUT
    set_up_logging(verbose=options.verbose)
    return execute(options, Console(options.json))


def execute(options: argparse.Namespace, console: Console) -> int:
    """Run one command and turn every way it can end into its exit code."""
    try:
        return load_command(options.command).run(options, console)
    except (CancelledError, KeyboardInterrupt):
        console.message("stopped")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:  # the reader of our output went away
        return ExitCode.DONE
    except PlumblineError as error:
        console.message(f"error: {error}")
        return error.exit_code
    except MemoryError:
        console.message("error: not enough memory; raise the limit of this shell (ulimit -v)")
        return ExitCode.LIMIT_REACHED
    except Exception:
        # By name: run as a module this is __main__, which nobody listens to.
        logging.getLogger("engine.cli").exception("internal error")
        console.message(f"internal error; details in {log_path()}")
        return ExitCode.INTERNAL


if __name__ == "__main__":
    sys.exit(main())
