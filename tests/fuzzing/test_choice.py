import math
from collections import Counter
from random import Random

from engine.fuzzing.fuzzer import weighted_choice


def drawn(weights: list[float], times: int = 3000) -> dict[int, float]:
    random = Random(5)
    counts = Counter(weighted_choice(weights, random) for _ in range(times))
    return {index: counts[index] / times for index in range(len(weights))}


def test_in_proportion_to_the_weights() -> None:
    shares = drawn([1, 3])
    assert abs(shares[1] - 0.75) < 0.05


def test_infinite_weights_win_and_negative_infinite_ones_are_out() -> None:
    assert drawn([1, math.inf, -math.inf, 5])[1] == 1.0
    assert drawn([1, -math.inf])[1] == 0.0


def test_negative_weights_are_shifted() -> None:
    shares = drawn([-2, 0, 2])
    assert shares[0] == 0.0
    assert abs(shares[2] - 2 / 3) < 0.05


def test_all_zero_is_even() -> None:
    assert abs(drawn([0, 0])[0] - 0.5) < 0.05


def test_a_single_candidate_is_chosen_whatever_its_weight() -> None:
    assert drawn([0])[0] == 1.0
    assert drawn([-3])[0] == 1.0


def test_nothing_to_choose_from() -> None:
    assert weighted_choice([], Random(1)) is None
    assert weighted_choice([-math.inf], Random(1)) is None
