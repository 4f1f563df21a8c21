"""How long something will still take."""

from __future__ import annotations

import pytest

from app.services.jobs import WINDOW_SECONDS, Eta, in_words

Step = tuple[float, float, float | None, float | None]
"""A time, what is done by then, the total, and the seconds that are then left."""
STORIES: dict[str, list[Step]] = {
    "no progress yet": [(0, 0, 100, None), (5, 0, 100, None)],
    "no total": [(second, second, None, None) for second in range(5)],
    "the first moment says nothing about the rest": [
        (0, 0, 1000, None),
        (1.5, 3, 1000, None),
        (2, 100, 1000, 18),
    ],
    "slow work": [(0, 0, 1000, None), (6, 3, 1000, 1994)],
    "a new stage counts from its start": [
        (0, 0, 10, None),
        (1, 9, 10, 1 / 9),
        (2, 0, 10, None),
        (3, 5, 10, 1),
    ],
    "more is done than there was to do": [(0, 0, 10, None), (6, 10, 10, None), (6, 12, 10, None)],
    "a unit of two fails, and the other is not quicker for that": [
        (0, 0, 2, None),
        (10, 0.2, 2, 90),
        (10.1, 0.1, 1, None),
        (20.1, 0.2, 1, 80),
    ],
    "less to do is no progress": [(0, 0, 100, None), (10, 10, 100, 90), (11, 10, 20, None)],
}


@pytest.mark.parametrize("story", STORIES)
def test_what_is_left_after_each_update(story: str) -> None:
    eta = Eta()
    assert eta.seconds(0.0) is None
    for second, done, total, left in STORIES[story]:
        eta.update(float(second), done, total)
        assert eta.seconds(second) == (None if left is None else pytest.approx(left))
        assert (eta.seconds(second + 0.5) is None) == (left is None)


def test_steady_work_ends_when_it_should() -> None:
    eta = Eta()
    for second in range(11):
        eta.update(float(second), 2.0 * second, 100)
    assert eta.seconds(10.0) == pytest.approx(40.0)


def test_the_last_while_counts() -> None:
    eta = Eta()
    for second in range(1000):
        eta.update(float(second), min(second * 0.01, 1) + max(0, second - 900), 200)
    assert eta.seconds(999.0) == pytest.approx(100.0, rel=0.1)
    assert WINDOW_SECONDS < 100


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        *[(0, "1 s"), (8.4, "8 s"), (59.4, "59 s"), (59.6, "1 min"), (150, "2 min")],
        *[(3600, "1 h"), (7800, "2 h 10 min")],
    ],
)
def test_times_are_short_texts(seconds: float, words: str) -> None:
    assert in_words(seconds).replace("\u202f", " ") == words
