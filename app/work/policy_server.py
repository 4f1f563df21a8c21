"""Asks a policy server of somebody else who it is, and takes its task home."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from app.work.link import Link
from engine.errors import PolicyError
from engine.files import disk_error, write_text
from engine.task.sas import write_sas

if TYPE_CHECKING:
    from engine.policies.remote import RemotePolicy


@dataclass(frozen=True, slots=True)
class ServerFound:
    """`action` is what it does in the initial state of its task; empty if it has none there."""

    address: str
    variables: int
    operators: int
    action: str = ""
    trouble: str = ""  # it has a task, but could not decide


def _open(address: str) -> RemotePolicy:
    from engine.policies.remote import open_remote  # gRPC is slow to import

    return open_remote(address)


def try_server(link: Link, address: str) -> ServerFound:
    """Who answers at an address; raises what went wrong if nobody does."""
    link.progress(0, None, address)
    with _open(address) as policy:
        task = policy.task
        size = len(task.variables), len(task.operators)
        try:
            (operator,) = policy.operators(np.array([task.init], dtype=np.int32))
        except PolicyError as error:
            return ServerFound(policy.address, *size, trouble=str(error))
        action = task.operators[operator].name if operator >= 0 else ""
        return ServerFound(policy.address, *size, action)


def fetch_task(link: Link, address: str, path: Path) -> Path:
    """The task of a server as a file, for projects without the problem it serves."""
    link.progress(0, None, address)
    with _open(address) as policy:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise disk_error(error, path.parent) from error
        write_text(path, write_sas(policy.task))
    return path
