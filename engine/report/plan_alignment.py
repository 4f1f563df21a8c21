"""Two plans side by side: steps they share stand in one row, all others beside a gap.

Steps are matched by a longest common subsequence of their operators, so the order of both plans is
kept and as few rows as possible differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from engine.report.trace import Trace, TraceStep


@dataclass(frozen=True, slots=True)
class AlignedSteps:
    """Positions in the two plans; None is a gap."""

    left: int | None
    right: int | None

    @property
    def is_common(self) -> bool:
        return self.left is not None and self.right is not None


def align_plans(left: Sequence[int], right: Sequence[int]) -> tuple[AlignedSteps, ...]:
    """Align two plans; where they differ, the steps of the left one come first."""
    first = np.asarray(left, dtype=np.int64)
    second = np.asarray(right, dtype=np.int64)
    lengths = _common_lengths(first, second)
    rows: list[AlignedSteps] = []
    i = j = 0
    while i < len(first) and j < len(second):
        if first[i] == second[j]:
            rows.append(AlignedSteps(i, j))
            i, j = i + 1, j + 1
        elif lengths[i + 1, j] >= lengths[i, j + 1]:
            rows.append(AlignedSteps(i, None))
            i += 1
        else:
            rows.append(AlignedSteps(None, j))
            j += 1
    rows += [AlignedSteps(k, None) for k in range(i, len(first))]
    rows += [AlignedSteps(None, k) for k in range(j, len(second))]
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


CELLS = 4_000_000
"""Longer pairs of plans are aligned at their beginning only."""


class RowKind(Enum):
    SAME = "same"  # the same action in the same state
    SAME_ACTION = "same-action"  # the same action, but the plans are in different states
    DIFFERENT = "different"
    END = "end"


@dataclass(frozen=True, slots=True)
class AlignedRow:
    """A step of each plan, or of one of them beside a gap; the last row is how they end."""

    kind: RowKind
    policy: TraceStep | None
    better: TraceStep | None

    @property
    def common(self) -> bool:
        return self.kind in (RowKind.SAME, RowKind.SAME_ACTION)


@dataclass(frozen=True, slots=True)
class Alignment:
    rows: tuple[AlignedRow, ...]
    differences: tuple[range, ...]  # of row numbers


def align(policy: Trace, better: Trace | None) -> Alignment:
    """All steps of both in order. Without a better plan there is nothing to differ from."""
    if better is None:
        alone = [AlignedRow(RowKind.SAME, step, None) for step in policy.steps]
        return Alignment((*alone, _END), ())
    rows: list[AlignedRow] = []
    differences: list[range] = []
    i = j = 0
    for next_i, next_j in [*_matches(policy, better), (len(policy.steps), len(better.steps))]:
        begin = len(rows)
        rows += [
            AlignedRow(RowKind.DIFFERENT, *pair)
            for pair in zip_longest(policy.steps[i:next_i], better.steps[j:next_j])
        ]
        if len(rows) > begin:
            differences.append(range(begin, len(rows)))
        if next_i < len(policy.steps):
            rows.append(_common_row(policy, better, next_i, next_j))
        i, j = next_i + 1, next_j + 1
    return Alignment((*rows, _END), tuple(differences))


_END = AlignedRow(RowKind.END, None, None)


def _common_row(policy: Trace, better: Trace, i: int, j: int) -> AlignedRow:
    same = policy.states[i] == better.states[j]
    kind = RowKind.SAME if same else RowKind.SAME_ACTION
    return AlignedRow(kind, policy.steps[i], better.steps[j])


def _matches(policy: Trace, better: Trace) -> list[tuple[int, int]]:
    """Pairs of step numbers that go on common rows, ascending."""
    n, m = len(policy.steps), len(better.steps)
    left = [(step.operator, policy.states[step.index]) for step in policy.steps]
    right = [(step.operator, better.states[step.index]) for step in better.steps]
    found: list[tuple[int, int]] = []
    i = j = 0
    for next_i, next_j in [*_common(left, right), (n, m)]:
        parts = int(next_i > i and next_j > j)  # here both do something else in the same state
        between = _common(
            [operator for operator, _ in left[i + parts : next_i]],
            [operator for operator, _ in right[j + parts : next_j]],
        )
        found += [(i + parts + a, j + parts + b) for a, b in between]
        found.append((next_i, next_j))
        i, j = next_i + 1, next_j + 1
    return found[:-1]


def _common(left: Sequence[object], right: Sequence[object]) -> list[tuple[int, int]]:
    """A longest common subsequence as pairs of positions."""
    head = 0
    while head < min(len(left), len(right)) and left[head] == right[head]:
        head += 1
    pairs = [(k, k) for k in range(head)]
    first, second = left[head:], right[head:]
    if not first or not second or len(first) * len(second) > CELLS:
        return pairs
    numbers: dict[object, int] = {}
    rows = align_plans(
        [numbers.setdefault(item, len(numbers)) for item in first],
        [numbers.setdefault(item, len(numbers)) for item in second],
    )
    middle = [(row.left, row.right) for row in rows]
    return pairs + [(head + i, head + j) for i, j in middle if i is not None and j is not None]
