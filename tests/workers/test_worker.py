"""The process of a unit, as far as it can be seen from inside."""

from __future__ import annotations

import threading
from typing import Any

from engine.records.events import Warned
from engine.workers.launch import run_worker
from engine.workers.ticket import Report, Ticket
from engine.workers.unit_worker import _Outbox


class Refusing:
    """A connection for which there is no memory the first time."""

    def __init__(self) -> None:
        self.refused = threading.Event()
        self.sent: list[Warned] = []

    def send(self, message: Report) -> None:
        if not self.refused.is_set():
            self.refused.set()
            raise MemoryError
        self.sent += message.events  # type: ignore[arg-type]


def test_what_there_was_no_memory_to_send_is_sent_later() -> None:
    """A unit at its limit must not say that it is done when half of what it found is missing."""
    connection: Any = Refusing()
    outbox = _Outbox(connection)
    outbox.put(Warned(1, "first"))
    assert connection.refused.wait(30)
    outbox.put(Warned(1, "second"))
    outbox.close()
    assert connection.sent == [Warned(1, "first"), Warned(1, "second")]


def test_a_machine_with_another_version_does_no_unit() -> None:
    """It may have come to the cluster after all others were asked for theirs."""
    end = run_worker(Ticket(1, "nowhere", b"secret", version="0.1"))
    assert end.return_code == 1
    assert end.last_words.endswith("the campaign 0.1: install the same version")
