"""What a task makes impossible for oracles; asked without loading them."""

from __future__ import annotations

from engine.task.cases import find_obstacle
from engine.task.task import Task


def describe_obstacle(task: Task) -> str:
    """Why a task has no dominance function, or less of one, and what that means; or nothing."""
    if obstacle := find_obstacle(task):
        return (
            f"dominance is unavailable: {obstacle}; smo proves nothing, bmo compares no states, "
            "and undo, combined and composite use their other parts"
        )
    if task.cone:
        return (
            f"dominance is limited: axioms depend on {len(task.cone)} of the "
            f"{len(task.state_variables)} variables; smo, bmo, undo, combined and composite "
            "compare only states that agree on these"
        )
    return ""
