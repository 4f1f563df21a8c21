"""Where units run: worker processes of this machine, at most N at a time, or a Dask cluster.

The interface is `concurrent.futures.Executor`. What is submitted starts a process of its own for
the unit and waits for its end, so that a crash, a leak or an endless loop costs that unit alone,
on any kind of executor.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from engine.errors import UsageError
from engine.files import scratch_errors, scratch_folder
from engine.workers.channel import Address, Ticket
from engine.workers.link import NULL_LINK
from engine.workers.program import run_process

if TYPE_CHECKING:
    from engine.workers.cluster import ClusterSize


WORKER = "engine.workers.worker"

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class WorkerEnd:
    return_code: int  # negative: the signal that ended it
    last_words: str


class LocalExecutor(ThreadPoolExecutor):
    """What is submitted can be cancelled; when the executor is shut down, it is."""

    def __init__(self, places: int) -> None:
        super().__init__(places, thread_name_prefix="unit")
        self._over = threading.Event()

    def submit(self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        return super().submit(fn, *args, cancelled=self._over.is_set, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._over.set()
        super().shutdown(wait, cancel_futures=cancel_futures)


def run_worker(ticket: Ticket, cancelled: Callable[[], bool] = NULL_LINK.cancelled) -> WorkerEnd:
    """Start the process of a unit and wait for its end; its temporary files end with it."""
    root = str(Path(__file__).resolve().parents[2])
    paths = [root, os.environ.get("PYTHONPATH", "")]
    with scratch_errors(), scratch_folder("worker") as folder:
        result = run_process(
            # -P: modules beside the user's files must not shadow ours
            [sys.executable, "-P", "-m", WORKER],
            folder=folder,
            environment={
                "OMP_NUM_THREADS": "1",
                "PYTHONPATH": os.pathsep.join(path for path in paths if path),
                "TMPDIR": str(folder),
                **ticket.environment(),
            },
            cancelled=cancelled,
        )
    return WorkerEnd(result.return_code, result.output[-1] if result.output else "")


def make_executor(text: str) -> Executor:
    """The executor a user asks for: `local:N` or `dask:ADDRESS`."""
    if found := re.fullmatch(r"local:([1-9][0-9]{0,3})", text):
        return LocalExecutor(int(found[1]))
    if found := re.fullmatch(r"dask:(\S+)", text):
        from engine.workers.cluster import ClusterExecutor

        return ClusterExecutor(found[1])
    raise UsageError(
        f"there is no executor '{text}'",
        hint="write local:N for N processes of this machine, or dask:ADDRESS for a cluster",
    )


def cluster_size(executor: Executor) -> ClusterSize | None:
    """How many workers there are now, if that is not for us to say."""
    size: ClusterSize | None = getattr(executor, "size", None)
    return size


def hub_address(executor: Executor) -> Address | None:
    """Where the campaign has to listen so that its workers reach it; None: on this machine."""
    address: Address | None = getattr(executor, "hub_address", None)
    return address
