"""`plumbline serve`: let other tools ask one of our policies, over the pheromone protocol."""

from __future__ import annotations

import argparse

from engine.commands.arguments import add_task_argument, load_task_argument
from engine.commands.console import Console
from engine.commands.policy import add_policy_argument
from engine.errors import ExitCode

DEFAULT_ADDRESS = "localhost:50051"


def configure(parser: argparse.ArgumentParser) -> None:
    add_policy_argument(parser)
    add_task_argument(parser)
    parser.add_argument(
        "--address",
        default=DEFAULT_ADDRESS,
        help=f"host:port or unix:path; port 0 takes a free one (default {DEFAULT_ADDRESS})",
    )
    parser.epilog = "Serves until it is interrupted (Ctrl-C)."


def run(args: argparse.Namespace, console: Console) -> int:
    from engine.policies.remote.server import serving

    task = load_task_argument(args, console)
    with serving(args.policy, task, args.address) as server:
        for note in server.notes:
            console.message(f"warning: {note}")
        document = {
            "address": server.address,
            "policy": args.policy,
            "variables": len(task.variables),
            "operators": len(task.operators),
        }
        console.result(document, f"Serving at {server.address}. Stop with Ctrl-C.")
        server.wait()
    return ExitCode.DONE
