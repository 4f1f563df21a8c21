"""How long something will still take."""

from __future__ import annotations

import pytest

from app.services.jobs import WINDOW_SECONDS, Eta, in_words


def test_nobody_knows_before_there_was_progress() -> None:
    eta = Eta()
    assert eta.seconds(0.0) is None
    eta.update(0.0, 0, 100)
    assert eta.seconds(5.0) is None
    eta.update(5.0, 0, 100)
    assert eta.seconds(5.0) is None


def test_without_a_total_nobody_knows() -> None:
    eta = Eta()
    for second in range(5):
        eta.update(float(second), second, None)
    assert eta.seconds(5.0) is None


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


def test_the_first_moment_says_nothing_about_the_rest() -> None:
    eta = Eta()
    eta.update(0.0, 0, 1000)
    eta.update(1.5, 3, 1000)
    assert eta.seconds(1.5) is None
    eta.update(2.0, 100, 1000)
    assert eta.seconds(2.0) == pytest.approx(18.0)


def test_slow_work_is_told_all_the_same() -> None:
    eta = Eta()
    eta.update(0.0, 0, 1000)
    eta.update(6.0, 3, 1000)
    assert eta.seconds(6.0) == pytest.approx(1994.0)


def test_a_new_stage_counts_from_its_start() -> None:
    eta = Eta()
    eta.update(0.0, 0, 10)
    eta.update(1.0, 9, 10)
    eta.update(2.0, 0, 10)
    assert eta.seconds(2.0) is None
    eta.update(3.0, 5, 10)
    assert eta.seconds(3.0) == pytest.approx(1.0)


def test_nothing_is_left_of_what_is_counted() -> None:
    """Neither 0 seconds nor fewer while it still runs."""
    eta = Eta()
    eta.update(0.0, 0, 10)
    for done in (10, 12):
        eta.update(6.0, done, 10)
        assert eta.seconds(7.0) is None


def test_where_a_unit_fails_the_time_begins_anew() -> None:
    """Two units at a tenth each; one fails, and the other is not quicker for that."""
    eta = Eta()
    eta.update(0.0, 0, 2)
    eta.update(10.0, 0.2, 2)
    assert eta.seconds(10.0) == pytest.approx(90.0)
    eta.update(10.1, 0.1, 1)
    assert eta.seconds(10.1) is None
    eta.update(20.1, 0.2, 1)
    assert eta.seconds(20.1) == pytest.approx(80.0)


def test_less_to_do_is_no_progress() -> None:
    eta = Eta()
    eta.update(0.0, 0, 100)
    eta.update(10.0, 10, 100)
    eta.update(11.0, 10, 20)
    assert eta.seconds(12.0) is None


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "1 s"), (8.4, "8 s"), (59.4, "59 s"), (59.6, "1 min"), (150, "2 min"), (3600, "1 h")],
)
def test_times_are_told_shortly(seconds: float, words: str) -> None:
    assert in_words(seconds).replace("\u202f", " ") == words


def test_hours_have_minutes() -> None:
    assert in_words(7800).replace("\u202f", " ") == "2 h 10 min"
