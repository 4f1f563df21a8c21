"""`plumbline`: the engine without the window.

Each command is a module of `engine.commands` with `configure(options)` and
`run(args, console) -> exit code`. It is imported only when it is needed, so that the
command line answers at once.
"""

from __future__ import annotations

import argparse
import errno
import gc
import importlib
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, cast

from engine import __version__
from engine.commands.options import Options
from engine.commands.stop_signal import ended_like_interrupted
from engine.errors import CancelledError, ExitCode, PlumblineError
from engine.files import open_standard_streams
from engine.plain_text import printable
from engine.workers.limits import address_space, is_out_of_memory

MIN_ADDRESS_SPACE = 192 * 2**20

if TYPE_CHECKING:
    from engine.commands.console import Console  # as the log, only commands need it

COMMANDS = {
    "check": "check a domain and a problem and report every error with its location",
    "task": "translate a domain and a problem and describe the grounded task",
    "search": "find a plan with a search algorithm and a heuristic",
    "validate": "check a plan and explain why a step fails",
    "picture": "draw a state of a task, alone or as a step of a plan",
    "compare": "decide whether two domain models mean the same, with evidence",
    "policy": "describe a policy and check whether it fits a domain",
    "run": "run a policy on problems and report how each run ends",
    "fuzz": "generate a pool of test states by random walks",
    "test": "test a policy on the states of a pool with oracles",
    "campaign": "fuzz and test policies on problems and store the results in a workspace",
    "experiment": "repeat a paper's experiment on your domains and policies",
    "bugs": "list and triage the bugs in a workspace",
    "changes": "list bugs that are new, gone or still there since another campaign",
    "localize": "find the bad steps of a policy's run",
    "verify": "check everything that a workspace claims with independent code",
    "report": "write the results of a campaign or an experiment as files",
    "minimize": "find the smallest problem in which a policy makes the same mistake",
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
    configure: Callable[[Options], None]
    run: Callable[[argparse.Namespace, Console], int]


def load_command(name: str) -> Command:
    return cast("Command", importlib.import_module(f"engine.commands.{name}"))


class _Parser(argparse.ArgumentParser):
    """argparse with our form of error message."""

    def error(self, message: str) -> None:  # type: ignore[override]
        text = printable(message)  # it repeats the user's input, such as names of files
        self.exit(ExitCode.BAD_INPUT, f"error: {text}; see '{self.prog} --help'\n")


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """Return the whole command line, or with `only` just what one command needs."""
    parser = _Parser(prog="plumbline", description="Find bugs in learned action policies.")
    parser.add_argument("--version", action="version", version=f"plumbline {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary)
        command.add_argument("--json", action="store_true", help="print one JSON document")
        command.add_argument("--verbose", action="store_true", help="log details to stderr")
        if only is None or only == name:
            load_command(name).configure(Options(command))
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    # Commands make many objects that stay, and hardly any cycles: looking for these can wait.
    gc.set_threshold(50_000)
    open_standard_streams()
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        with ended_like_interrupted():
            code = _main(words)
        if arguments is None:
            gc.freeze()  # nor is it of use at the end of the program
        return code
    except KeyboardInterrupt:  # before or after the command itself
        return ExitCode.INTERRUPTED
    except Exception as error:  # the command cannot even be loaded
        from engine.commands.console import Console
        from engine.logs import set_up_logging

        set_up_logging()
        return _failed(error, Console(as_json=False))


def _main(words: list[str]) -> int:
    if 0 <= address_space() < MIN_ADDRESS_SPACE:  # NumPy would end the process with exit code 1
        raise MemoryError
    parser = build_parser(only=words[0] if words and words[0] in COMMANDS else "")
    try:
        options = parser.parse_args(words)
    except SystemExit as exit_request:
        return int(exit_request.code or 0)
    if options.command is None:
        parser.print_help(sys.stderr)
        return ExitCode.BAD_INPUT
    from engine.commands.console import Console
    from engine.logs import set_up_logging

    set_up_logging(verbose=options.verbose)
    return execute(options, Console(options.json))


def execute(options: argparse.Namespace, console: Console) -> int:
    """Run one command and turn every way it can end into its exit code."""
    try:
        return load_command(options.command).run(options, console)
    except (CancelledError, KeyboardInterrupt):
        console.message("stopped")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:  # the reader of our output has closed the pipe
        return ExitCode.DONE
    except Exception as error:
        return _failed(error, console)


def _failed(error: Exception, console: Console) -> int:
    if isinstance(error, PlumblineError):
        console.message(f"error: {error}")
        return error.exit_code
    if is_out_of_memory(error):
        console.message("error: not enough memory; raise the limit of this shell (ulimit -v)")
        return ExitCode.LIMIT_REACHED
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        console.message("error: too many open files; raise the limit of this shell (ulimit -n)")
        return ExitCode.LIMIT_REACHED
    import logging

    from engine.logs import log_path

    # By name: run as a module this is __main__, whose logger has no handler.
    logging.getLogger("engine.cli").error("internal error", exc_info=error)
    console.message(f"internal error; details in {log_path()}")
    return ExitCode.INTERNAL


if __name__ == "__main__":
    sys.exit(main())
