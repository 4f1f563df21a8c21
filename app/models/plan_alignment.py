"""Two plans from the same state side by side: which steps they share and where they differ.

A longest common subsequence of actions, in which steps taken in the very same state count more,
goes on common rows; what lies between two common rows is one difference, its steps paired in
order. Computed row by row over arrays, so that plans of a thousand steps take milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import zip_longest

import numpy as np

from app.models.trace import Trace, TraceStep

SAME_STATE = 3
SAME_ACTION = 2
CELLS = 4_000_000
"""Longer pairs of plans are aligned at their ends only: nobody reads two thousand steps."""


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

    def row_of_policy_step(self, index: int) -> int:
        return next(
            number
            for number, row in enumerate(self.rows)
            if row.policy is not None and row.policy.index == index
        )


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

    def same(i: int, j: int) -> bool:
        return (
            policy.steps[i].operator == better.steps[j].operator
            and policy.states[i] == better.states[j]
        )

    head = 0
    while head < min(n, m) and same(head, head):
        head += 1
    tail = 0
    while tail < min(n, m) - head and same(n - 1 - tail, m - 1 - tail):
        tail += 1
    middle: list[tuple[int, int]] = []
    if (n - head - tail) * (m - head - tail) <= CELLS:
        weights = _weights(policy, better, slice(head, n - tail), slice(head, m - tail))
        middle = [(head + i, head + j) for i, j in heaviest_chain(weights)]
    return [
        *((k, k) for k in range(head)),
        *middle,
        *((n - k, m - k) for k in range(tail, 0, -1)),
    ]


def _weights(policy: Trace, better: Trace, rows: slice, columns: slice) -> np.ndarray:
    numbers: dict[object, int] = {}

    def number(items: Sequence[object]) -> np.ndarray:
        return np.array([numbers.setdefault(item, len(numbers)) for item in items], np.int32)

    operators = number([step.operator for step in policy.steps[rows]])[:, None] == number(
        [step.operator for step in better.steps[columns]]
    )
    states = number(policy.states[rows])[:, None] == number(better.states[columns])
    return np.where(operators, np.where(states, SAME_STATE, SAME_ACTION), 0).astype(np.int32)


def heaviest_chain(weights: np.ndarray) -> list[tuple[int, int]]:
    """Cells with positive weights, ascending in both directions, of the largest total weight."""
    n, m = weights.shape
    best = np.zeros((n + 1, m + 1), np.int32)
    for i in range(n):
        taken = np.where(weights[i] > 0, best[i, :-1] + weights[i], 0)
        best[i + 1, 1:] = np.maximum.accumulate(np.maximum(best[i, 1:], taken))
    return list(_trace_back(best, weights))[::-1]


def _trace_back(best: np.ndarray, weights: np.ndarray) -> Iterator[tuple[int, int]]:
    i, j = weights.shape
    while i and j:
        if best[i, j] == best[i - 1, j]:
            i -= 1
        elif best[i, j] == best[i, j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            yield i, j
