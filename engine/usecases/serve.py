"""Serves a policy to other tools over the pheromone protocol until it is stopped."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from engine.task.load import load_task_files
from engine.task.translation_cache import TranslationCache
from engine.workers.link import Link

LOOK_SECONDS = 0.1
DEFAULT_PORT = 50051


@dataclass(frozen=True, slots=True)
class Serving:
    """The server is ready for requests."""

    address: str
    notes: tuple[str, ...]
    variables: int
    operators: int


@dataclass(frozen=True, slots=True)
class Answered:
    count: int  # since the beginning


def serve(link: Link, spec: str, files: Sequence[str], unit_costs: bool, address: str) -> None:
    """Serve until the link is cancelled; `files` are those of one problem."""
    from engine.policies.remote import server as remote  # gRPC is slow to import

    link.progress(0, None, "reading the problem")
    task = load_task_files(
        files,
        unit_costs=unit_costs,
        cancelled=link.cancelled,
        cache=TranslationCache.of_user(),
    )
    with remote.serving(spec, task, address) as server:
        notes = (*task.notes, *server.notes)
        link.emit(Serving(server.address, notes, len(task.variables), len(task.operators)))
        told = -1
        while not link.cancelled():
            if server.answered != told:
                told = server.answered
                link.emit(Answered(told))
                link.progress(told, None, f"{told:,} answered")
            time.sleep(LOOK_SECONDS)
