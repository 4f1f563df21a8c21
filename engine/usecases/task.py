"""Techniques that do not work on a task, and what is used instead."""

from __future__ import annotations

from collections.abc import Iterator

from engine.oracles.obstacle import describe_obstacle
from engine.search.obstacle import NEED_PLAIN_TASKS, find_heuristic_obstacle
from engine.task.task import Task


def declined(task: Task) -> Iterator[tuple[str, str]]:
    """Each technique that declines the task, and a sentence that says why."""
    if note := describe_obstacle(task):
        yield "dominance", note
    for name in NEED_PLAIN_TASKS:
        if obstacle := find_heuristic_obstacle(name, task):
            yield name, f"{obstacle}; searches use lmcut unless you choose another one"
