"""Two plans side by side: steps they share stand in one row, all others beside a gap.

Steps are matched by a longest common subsequence of their operators, so the order of both plans is
kept and as few rows as possible differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class AlignedRow:
    """Positions in the two plans; None is a gap."""

    left: int | None
    right: int | None

    @property
    def is_common(self) -> bool:
        return self.left is not None and self.right is not None


def align_plans(left: Sequence[int], right: Sequence[int]) -> tuple[AlignedRow, ...]:
    """Where both plans differ, the steps of the left one come first."""
    first = np.asarray(left, dtype=np.int64)
    second = np.asarray(right, dtype=np.int64)
    lengths = _common_lengths(first, second)
    rows: list[AlignedRow] = []
    i = j = 0
    while i < len(first) and j < len(second):
        if first[i] == second[j]:
            rows.append(AlignedRow(i, j))
            i, j = i + 1, j + 1
        elif lengths[i + 1, j] >= lengths[i, j + 1]:
            rows.append(AlignedRow(i, None))
            i += 1
        else:
            rows.append(AlignedRow(None, j))
            j += 1
    rows += [AlignedRow(k, None) for k in range(i, len(first))]
    rows += [AlignedRow(None, k) for k in range(j, len(second))]
    return tuple(rows)


def _common_lengths(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int32]:
    """[i, j]: how many steps first[i:] and second[j:] have in common, in order."""
    lengths = np.zeros((len(first) + 1, len(second) + 1), dtype=np.int32)
    for i in range(len(first) - 1, -1, -1):
        # A row is the running maximum, from the right, of its own matches and the row below.
        matched = np.where(second == first[i], lengths[i + 1, 1:] + 1, 0)
        best = np.maximum(matched, lengths[i + 1, :-1])
        lengths[i, :-1] = np.maximum.accumulate(best[::-1])[::-1]
    return lengths
