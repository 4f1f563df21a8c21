"""How a worker finds its campaign: an address, a secret, and the number of its unit.

The version says whose unit it is: on a cluster machines may come later that have another one.
"""

from __future__ import annotations

import base64
import json
import os
import socket
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from multiprocessing.connection import Client, Connection, answer_challenge, deliver_challenge

from engine import __version__
from engine.campaign.unit import Unit
from engine.records.events import UnitEvent

Address = str | tuple[str, int]
"""A socket's file, or a host and a port."""

VARIABLE = "PLUMBLINE_TICKET"


GREETING_SECONDS = 120
"""How long somebody who connects may take to say who it is: workers import much in between."""


def connect(address: Address) -> Connection:
    """As a client of `multiprocessing` does, which does not know IPv6."""
    if isinstance(address, str):
        return Client(address)
    return Connection(socket.create_connection(address).detach())


@contextmanager
def hurried(connection: Connection) -> Iterator[None]:
    """Waiting for somebody who falls silent while we greet each other ends with an error."""
    with socket.socket(fileno=os.dup(connection.fileno())) as underlying:
        _set_patience(underlying, GREETING_SECONDS)
        yield
        _set_patience(underlying, 0)  # for ever


def _set_patience(underlying: socket.socket, seconds: int) -> None:
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        underlying.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", seconds, 0))


@dataclass(frozen=True, slots=True)
class Ticket:
    unit: int
    address: Address
    secret: bytes
    version: str = __version__

    def connect(self) -> Connection:
        """Both sides show that they know the secret."""
        connection = connect(self.address)
        try:
            with hurried(connection):
                answer_challenge(connection, self.secret)
                deliver_challenge(connection, self.secret)
        except BaseException:
            connection.close()
            raise
        return connection

    def environment(self) -> dict[str, str]:
        """For the worker: a command line could be read by others, an environment cannot."""
        secret = base64.b64encode(self.secret).decode()
        return {VARIABLE: json.dumps([self.unit, self.address, secret, self.version])}

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Ticket:
        unit, address, secret, version = json.loads(environment[VARIABLE])
        if isinstance(address, list):
            address = (str(address[0]), int(address[1]))
        return cls(unit, address, base64.b64decode(secret), version)


@dataclass(frozen=True, slots=True)
class Hello:
    """A worker is there and wants its unit."""

    unit: int


@dataclass(frozen=True, slots=True)
class Assignment:
    unit: Unit


@dataclass(frozen=True, slots=True)
class Report:
    events: tuple[UnitEvent, ...]


@dataclass(frozen=True, slots=True)
class Goodbye:
    """Nothing more will come from this worker."""


class Command(Enum):
    STOP = "stop"
    PAUSE = "pause"
    RESUME = "go on"
