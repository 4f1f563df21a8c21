"""Serves a policy of the project to other tools, as `plumbline serve` does, until it is stopped."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from engine.task.load import load_task_files
from engine.task.translation_cache import TranslationCache
from engine.workers.link import Link

LOOK_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Serving:
    """Others may ask now."""

    address: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answered:
    count: int  # since the beginning


def serve_policy(
    link: Link, spec: str, files: Sequence[str], unit_costs: bool, address: str
) -> None:
    """`files` are those of one problem: a server speaks of one task."""
    from engine.policies.remote.server import (
        serving,  # gRPC is slow to import, and the window need not
    )

    link.progress(0, None, "reading the problem")
    task = load_task_files(
        files,
        unit_costs=unit_costs,
        cancelled=link.cancelled,
        cache=TranslationCache.of_user(),
    )
    with serving(spec, task, address) as server:
        link.emit(Serving(server.address, server.notes))
        told = -1
        while not link.cancelled():
            if server.answered != told:
                told = server.answered
                link.emit(Answered(told))
                link.progress(told, None, f"{told:,} answered")
            time.sleep(LOOK_SECONDS)
