"""Novelty: the size of the smallest set of facts that no pool state has.

If a smaller set of facts is new, so is some set of exactly `level` facts, so a filter needs the
sets of one size only. The filter is a part of the kernel that makes the walks.
See docs/theory/fuzzing.md, "Novelty filter".
"""

from __future__ import annotations

from math import comb

from engine.errors import UsageError
from engine.task.task import Task

MOST_SETS = 2**31
"""A filter needs one bit per possible set of facts."""


def check_novelty(task: Task, level: int) -> None:
    """The user's error if a filter of this level (0: none) would need too much memory."""
    variables = task.state_variables  # derived ones say nothing new
    size = min(level, len(variables))
    largest = max((task.domain_sizes[variable] for variable in variables), default=1)
    if comb(len(variables), size) * largest**size > MOST_SETS:
        raise UsageError(
            f"novelty level {level} needs too much memory for {len(variables)} variables",
            hint="choose a lower level",
        )
