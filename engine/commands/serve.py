"""`plumbline serve`: let other tools ask one of our policies, over the pheromone protocol."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType

from engine.commands.policy import add_policy_argument
from engine.commands.task_argument import add_task_argument, load_task_argument
from engine.console import Console
from engine.errors import ExitCode, UsageError
from engine.policies.policy import close_policy, notes_of, open_policy

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
    from engine.policies.pheromone import is_address
    from engine.policies.server import PolicyServer

    if not is_address(args.address, lowest_port=0):
        raise UsageError(f"'{args.address}' is not an address", hint="write host:port or unix:path")
    task = load_task_argument(args, console)
    domain = None if task.source is None else task.source.domain
    with ExitStack() as stack:
        stack.enter_context(_terminated_like_interrupted())
        policy = open_policy(args.policy, domain)
        stack.callback(close_policy, policy)
        bound = policy.bind(task)
        stack.callback(close_policy, bound)
        for note in notes_of(bound):
            console.message(f"warning: {note}")
        server = stack.enter_context(PolicyServer(bound, task, args.address))
        document = {
            "address": server.address,
            "policy": args.policy,
            "variables": len(task.variables),
            "operators": len(task.operators),
        }
        console.result(document, f"Serving at {server.address}. Stop with Ctrl-C.")
        server.wait()
    return ExitCode.DONE


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """Whoever ends us with SIGTERM wants the same tidy end as with Ctrl-C."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
