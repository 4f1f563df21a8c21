"""`plumbline serve`: serve a policy to other tools over the pheromone protocol."""

from __future__ import annotations

import argparse

from engine.commands.console import Console
from engine.commands.options import Options
from engine.errors import ExitCode
from engine.usecases.serve import DEFAULT_PORT, Serving, serve

DEFAULT_ADDRESS = f"localhost:{DEFAULT_PORT}"


def configure(options: Options) -> None:
    options.policy()
    options.task()
    options.add(
        "--address",
        default=DEFAULT_ADDRESS,
        help="host:port or unix:path; port 0 chooses a free port (default: %(default)s)",
    )
    options.epilog("Serves until it is interrupted (Ctrl-C); the exit code is then 130.")


def run(args: argparse.Namespace, console: Console) -> int:
    def hear(event: object) -> None:
        if not isinstance(event, Serving):
            return
        for note in event.notes:
            console.message(f"warning: {note}")
        document = {
            "address": event.address,
            "policy": args.policy,
            "variables": event.variables,
            "operators": event.operators,
        }
        console.result(document, f"Serving at {event.address}. Press Ctrl-C to stop.")

    with console.link("Serving", hear=hear) as link:
        serve(link, args.policy, args.task, args.unit_costs, args.address)
    return ExitCode.DONE
