"""What a task makes impossible for heuristics; asked without loading the kernels."""

from __future__ import annotations

from engine.task.cases import find_split_obstacle
from engine.task.task import Task

NEED_PLAIN_TASKS = ("cartesian", "ms")
"""The heuristics that some tasks have to do without."""


def find_heuristic_obstacle(name: str, task: Task) -> str:
    """Return why a heuristic cannot be used on a task, or an empty string."""
    if name == "ms" and task.derived_variables:
        return "merge-and-shrink (ms) needs a task without axioms"
    if name == "cartesian" and (obstacle := find_split_obstacle(task)):
        return f"Cartesian abstractions (cartesian) do not work here: {obstacle}"
    return ""
