"""Novelty: the size of the smallest set of facts that no pool state has.

If a smaller set of facts is new, so is some set of exactly `level` facts, so a filter needs the
sets of one size only. See docs/theory/fuzzing.md, "Novelty filter".
"""

from __future__ import annotations

from itertools import combinations, pairwise
from math import comb

import numpy as np

from engine.errors import UsageError
from engine.native.library import Int64Array
from engine.task.task import Task

MOST_SETS = 2**31
"""A filter needs one byte per possible set of facts."""


class NoveltyFilter:
    """Accepts a state that has a set of at most `level` facts no accepted state had."""

    def __init__(self, task: Task, level: int) -> None:
        sizes = np.array(task.domain_sizes, np.int64)
        self._level = min(level, len(sizes))
        if comb(len(sizes), self._level) * int(sizes.max(initial=1)) ** self._level > MOST_SETS:
            raise UsageError(
                f"novelty level {level} needs too much memory for {len(sizes)} variables",
                hint="choose a lower level",
            )
        columns = list(combinations(range(len(sizes)), self._level))
        self._columns = np.array(columns, np.int64).reshape(len(columns), self._level)
        # The sets over the same variables are numbered like digits of a mixed-radix number.
        radix = np.ones((len(columns), self._level), np.int64)
        for left, right in pairwise(reversed(range(self._level))):
            radix[:, right] = radix[:, left] * sizes[self._columns[:, left]]
        self._radix = radix
        counts = sizes[self._columns].prod(axis=1) if self._level else np.ones(1, np.int64)
        self._offset = np.concatenate([[0], np.cumsum(counts)[:-1]])
        self._seen = np.zeros(int(counts.sum()), np.bool_)

    def is_novel(self, state: tuple[int, ...]) -> bool:
        return not self._seen[self._numbers(state)].all()

    def add(self, state: tuple[int, ...]) -> None:
        self._seen[self._numbers(state)] = True

    @property
    def seen(self) -> int:
        """How many different sets of facts the accepted states had."""
        return int(self._seen.sum())

    def _numbers(self, state: tuple[int, ...]) -> Int64Array:
        values = np.array(state, np.int64)[self._columns]
        numbers: Int64Array = self._offset + (values * self._radix).sum(axis=1)
        return numbers
