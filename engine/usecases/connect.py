"""Asks a policy server, or the scheduler of a cluster, what it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.campaign.inputs import read_file
from engine.errors import PolicyError
from engine.files import disk_error, write_text
from engine.fuzzing.imported_pool import task_of
from engine.records.events import ClusterSize
from engine.task.sas import write_sas
from engine.task.task import Task
from engine.workers.link import Link


@dataclass(frozen=True, slots=True)
class ServerFound:
    """`action` is what it does in the initial state of its task; empty if it has none there."""

    address: str
    variables: int
    operators: int
    action: str = ""
    trouble: str = ""  # it has a task, but could not decide


def try_server(link: Link, address: str) -> ServerFound:
    """Return what answers at an address; raise what went wrong if nothing does."""
    from engine.policies.remote.policy import open_remote  # gRPC is slow to import

    link.progress(0, None, address)
    with open_remote(address) as policy:
        task = policy.task
        size = len(task.variables), len(task.operators)
        try:
            (operator,) = policy.operators(np.array([task.init], dtype=np.int32))
        except PolicyError as error:
            return ServerFound(policy.address, *size, trouble=str(error))
        action = task.operators[operator].name if operator >= 0 else ""
        return ServerFound(policy.address, *size, action)


def check_cluster(link: Link, address: str) -> ClusterSize:
    """Return the size of a cluster; raise if campaigns cannot run there."""
    from engine.workers.cluster import look_at  # asyncio and sockets

    del link
    return look_at(address)


def task_of_server(link: Link, address: str, path: Path) -> Path:
    """Write the task of a server, for projects without the problem that it serves."""
    from engine.policies.remote.policy import open_remote  # gRPC is slow to import

    link.progress(0, None, address)
    with open_remote(address) as policy:
        return _written(policy.task, path)


def task_of_bugs(link: Link, bugs: str, path: Path) -> Path:
    """Write the task of a bugs file, for projects without the problem that it belongs to."""
    link.progress(0, None, Path(bugs).name)
    return _written(task_of(read_file(bugs)), path)


def _written(task: Task, path: Path) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise disk_error(error, path.parent) from error
    write_text(path, write_sas(task))
    return path
