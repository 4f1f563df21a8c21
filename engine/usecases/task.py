"""Techniques that do not work on a task, and what is used instead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.native.library import HEURISTICS
from engine.oracles.kind import describe_obstacle
from engine.oracles.registry import factorizations
from engine.search.heuristics import find_heuristic_obstacle
from engine.task.task import Task


def declined(task: Task) -> Iterator[tuple[str, str]]:
    """Each technique that declines the task, and a sentence that says why."""
    if note := describe_obstacle(task):
        yield "dominance", note
    for name in HEURISTICS:
        if obstacle := find_heuristic_obstacle(name, task):
            yield name, f"{obstacle}; searches use lmcut unless you choose another one"


def declined_by(oracles: Iterable[str], task: Task) -> str:
    """What these oracles cannot do on the task and what they do instead, or nothing."""
    return describe_obstacle(task) if factorizations(oracles) else ""
