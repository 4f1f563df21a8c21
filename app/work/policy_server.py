"""Asks a policy server of somebody else who it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.work.link import Link
from engine.errors import PolicyError


@dataclass(frozen=True, slots=True)
class ServerFound:
    """`action` is what it does in the initial state of its task; empty if it has none there."""

    address: str
    variables: int
    operators: int
    action: str = ""
    trouble: str = ""  # it has a task, but could not decide


def try_server(link: Link, address: str) -> ServerFound:
    """Who answers at an address; raises what went wrong if nobody does."""
    from engine.policies.remote import open_remote  # gRPC is slow to import

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
