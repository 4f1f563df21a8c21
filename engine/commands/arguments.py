"""Arguments that several commands share: the task, a state, a seed, limits."""

from __future__ import annotations

import argparse
import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from engine.commands.console import Console
from engine.task.load import load_task_files
from engine.task.task import Task
from engine.task.translate import Limits
from engine.workers.link import Link


def add_task_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "task",
        nargs="+",
        metavar="TASK",
        help="DOMAIN.pddl PROBLEM.pddl, or one FILE.sas from the Fast Downward translator",
    )
    add_unit_costs(parser)


def add_unit_costs(parser: argparse._ActionsContainer) -> None:
    parser.add_argument("--unit-costs", action="store_true", help="let every action cost 1")


def add_seed(parser: argparse._ActionsContainer, what: str) -> None:
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help=f"seed of {what} (default: %(default)s)"
    )


def add_state_argument(parser: argparse._ActionsContainer, what: str) -> None:
    parser.add_argument(
        "--state",
        type=state_values,
        metavar="V0,V1,...",
        help=f"{what}: one value per variable, in the order of 'plumbline task' "
        "(default: the initial state)",
    )


def add_limits(
    parser: argparse.ArgumentParser,
    time: str = "stop after this many seconds",
    memory: str = "stop when this many megabytes of memory are used",
) -> None:
    add_time_limit(parser, time)
    parser.add_argument("--memory-limit", type=positive_megabytes, metavar="MB", help=memory)


def add_time_limit(parser: argparse.ArgumentParser, meaning: str) -> None:
    parser.add_argument("--time-limit", type=positive_seconds, metavar="S", help=meaning)


def load_task_argument(args: argparse.Namespace, console: Console) -> Task:
    """The task of the command line, with a bar while it is translated and its notes on stderr."""
    started = time.monotonic()
    limits = Limits(getattr(args, "time_limit", None), getattr(args, "memory_limit", None))
    with console.progress("Translating") as bar:
        task = load_task_files(
            args.task,
            unit_costs=args.unit_costs,
            limits=limits,
            progress=lambda stage: bar.update(time.monotonic() - started, stage),
        )
    for note in task.notes:
        console.message(f"warning: {note}")
    return task


def seconds_left(limit: float | None, started: float) -> float | None:
    """The rest of a limit that began at `started` of the monotonic clock; always above 0."""
    return None if limit is None else max(limit - (time.monotonic() - started), 0.001)


def count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number, 0 or more")
    return int(text)


def state_values(text: str) -> tuple[int, ...]:
    """A state of a command line: a value per variable."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) <= 9 for part in parts):
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of values like 0,2,1")
    return tuple(map(int, parts))


def positive_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not (seconds > 0 and math.isfinite(seconds)):
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive number of seconds")
    return seconds


def positive_megabytes(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 2**40):
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive number of megabytes")
    return int(text)


TICK_SECONDS = 0.2


@contextmanager
def kernel_progress(link: Link) -> Iterator[None]:
    """Moves the bar as the kernel expands states."""
    control, done = link.control, threading.Event()

    def tick() -> None:
        while not done.wait(TICK_SECONDS):
            if control.expanded:
                link.progress(control.expanded, None, f"{control.expanded:,} states expanded")

    ticker = threading.Thread(target=tick, name="progress", daemon=True)
    ticker.start()
    try:
        yield
    finally:
        done.set()
        ticker.join()
