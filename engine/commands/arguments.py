"""What several commands do with their arguments: load the task, count seconds, show progress."""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from engine.commands.console import Console
from engine.task.load import load_task_files
from engine.task.task import Task
from engine.task.translate import Limits
from engine.workers.link import Link


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
