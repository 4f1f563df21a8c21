"""Ports at which no program listens, nor will before the test does."""

from __future__ import annotations

import socket
from contextlib import suppress
from random import SystemRandom

NEVER_GIVEN = range(20_000, 32_000)
"""The system gives out higher ports to programs that ask for any, at any moment."""


def free_port() -> int:
    while True:
        port = SystemRandom().choice(NEVER_GIVEN)
        with socket.socket() as probe, suppress(OSError):  # taken: try another one
            probe.bind(("127.0.0.1", port))
            return port
