"""Choosing among weighted candidates (ALGORITHMS 3.3).

Weights may be infinite in both directions: an infinite one wins over every finite one, a negative
infinite one is out. Negative weights are shifted so that the smallest becomes zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random


def weighted_choice(weights: Sequence[float], random: Random) -> int | None:
    """The index of a candidate drawn in proportion to its weight, None when there is none."""
    candidates = [number for number, weight in enumerate(weights) if weight != -math.inf]
    if not candidates:
        return None
    infinite = [number for number in candidates if weights[number] == math.inf]
    if infinite:
        return random.choice(infinite)
    least = min(0.0, *(weights[number] for number in candidates))
    shifted = [weights[number] - least for number in candidates]
    if not any(shifted):
        return random.choice(candidates)
    return random.choices(candidates, shifted)[0]
