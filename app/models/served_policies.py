"""The policies of a project that this window serves to other tools, each by a job of its own."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal, Slot

from app.services.context import Context
from app.services.jobs import Job
from engine.report.policy_text import policy_name
from engine.usecases.serve import DEFAULT_PORT, Answered, Serving, serve

HERE, EVERYWHERE = "127.0.0.1", "0.0.0.0"
"""Where a server can be asked from: this machine, or all that reach it."""


@dataclass(eq=False)
class Served:
    """`address` is empty until others may ask."""

    spec: str
    problem: str
    job: Job
    address: str = ""
    answered: int = 0
    notes: tuple[str, ...] = ()

    @property
    def reached_at(self) -> str:
        """Return an address that other machines can use instead of the wildcard address."""
        host, _, port = self.address.rpartition(":")
        return f"{socket.gethostname()}:{port}" if host == EVERYWHERE else self.address


def served_policies(context: Context) -> ServedPolicies:
    """Return the served policies of this document."""
    known = context.document.findChild(ServedPolicies)
    return known if isinstance(known, ServedPolicies) else ServedPolicies(context)


class ServedPolicies(QObject):
    changed = Signal(str)  # the policy

    def __init__(self, context: Context) -> None:
        super().__init__(context.document)
        self._context = context
        self.by_spec: dict[str, Served] = {}

    def serve(
        self, spec: str, files: Sequence[str], unit_costs: bool, host: str, port: int
    ) -> None:
        """Serve a policy for one task; the last of `files` is the problem."""
        if spec in self.by_spec:
            return
        job = self._context.jobs.start(
            f"Serve {policy_name(spec)}", serve, *(spec, tuple(files), unit_costs, f"{host}:{port}")
        )
        self.by_spec[spec] = Served(spec, files[-1], job)
        job.events.connect(self._on_events)
        job.ended.connect(self._on_ended)
        self.changed.emit(spec)

    def stop(self, spec: str) -> None:
        if spec in self.by_spec:
            self.by_spec[spec].job.stop()
            self.changed.emit(spec)

    def free_port(self) -> int:
        """Return the usual port, or the next one that this window does not use."""
        ours = {served.address.rpartition(":")[2] for served in self.by_spec.values()}
        port = DEFAULT_PORT
        while str(port) in ours:
            port += 1
        return port

    def _of(self, job: QObject | None) -> Served:
        (served,) = (served for served in self.by_spec.values() if served.job is job)
        return served

    @Slot(list)
    def _on_events(self, events: list[object]) -> None:
        served = self._of(self.sender())
        for event in events:
            match event:
                case Serving(address, notes, _, _):
                    served.address, served.notes = address, notes
                case Answered(count):
                    served.answered = count
        self.changed.emit(served.spec)

    @Slot()
    def _on_ended(self) -> None:
        served = self._of(self.sender())
        del self.by_spec[served.spec]
        self.changed.emit(served.spec)
