"""Aligned plans keep both orders, put equal steps together, and match as many as can be."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from engine.report.plan_alignment import align_plans

PLANS = st.lists(st.integers(0, 4), max_size=12)


def most_common(left: Sequence[int], right: Sequence[int]) -> int:
    """The length of a longest common subsequence, by definition."""

    @cache
    def longest(i: int, j: int) -> int:
        if i == len(left) or j == len(right):
            return 0
        together = 1 + longest(i + 1, j + 1) if left[i] == right[j] else 0
        return max(together, longest(i + 1, j), longest(i, j + 1))

    return longest(0, 0)


@given(PLANS, PLANS)
def test_alignment(left: list[int], right: list[int]) -> None:
    rows = align_plans(left, right)
    assert [row.left for row in rows if row.left is not None] == list(range(len(left)))
    assert [row.right for row in rows if row.right is not None] == list(range(len(right)))
    common = [(row.left, row.right) for row in rows if row.is_common]
    assert all(left[i] == right[j] for i, j in common if i is not None and j is not None)
    assert len(common) == most_common(left, right)


def test_the_left_plan_comes_first_where_they_differ() -> None:
    rows = align_plans([1, 2, 3], [1, 4, 3])
    assert [(row.left, row.right) for row in rows] == [(0, 0), (1, None), (None, 1), (2, 2)]
