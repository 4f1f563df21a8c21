"""Non-linear merging after Dräger, Finkbeiner and Podelski.

Two factors that must work together close to the goal are replaced by their product, as long as
it stays small. Nothing is shrunk, so that the product is exact.
See docs/theory/dominance.md, "Merging".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

import numpy as np

from engine.dominance.factors import Factor, FactoredSystem, product, prune
from engine.native.library import Int64Array
from engine.records.finding import INFINITY
from engine.workers.link import NULL_LINK

MAX_STATES = 3000
"""States of a product: its table has the square of that many entries."""

MAX_LOOKUP = 2**22
"""Combinations of values a product may have, pruned ones included."""


@dataclass(frozen=True)
class _Member:
    """A factor with what is needed to rate its pairs."""

    factor: Factor
    ranks: Int64Array  # by label: how close to the goal its closest target is
    counts: Int64Array  # arcs by label
    age: int  # when it was made; atomic factors are oldest


def merge(
    system: FactoredSystem,
    transitions: int,
    look: Callable[[], None] = NULL_LINK.check,
    max_states: int = MAX_STATES,
) -> FactoredSystem:
    """Merge factors until every further product would have too many transitions or states.

    `look` is called often and may raise.
    """
    members = [_member(factor, system, 0) for factor in system.factors]
    age = 0
    while system.has_states and (
        pair := _best_pair(members, system, transitions, max_states, look)
    ):
        age += 1
        first, second = pair
        merged = product(first.factor, second.factor, system.alive)
        rest = [member for member in members if member is not first and member is not second]
        system = FactoredSystem(
            system.costs, system.alive, (*(member.factor for member in rest), merged)
        )
        system = prune(system, look)
        ages = [*(member.age for member in rest), age]
        olds = [*rest, None]
        members = [
            old if old is not None and old.factor is factor else _member(factor, system, factor_age)
            for factor, factor_age, old in zip(system.factors, ages, olds, strict=True)
        ]
    return system


def _member(factor: Factor, system: FactoredSystem, age: int) -> _Member:
    heights = factor.heights(system.costs)
    ranks = np.full(len(system.alive), INFINITY)
    np.minimum.at(ranks, factor.labels, heights[factor.targets])
    return _Member(factor, ranks, factor.arcs_per_label(), age)


def _best_pair(
    members: list[_Member],
    system: FactoredSystem,
    transitions: int,
    max_states: int,
    look: Callable[[], None],
) -> tuple[_Member, _Member] | None:
    """The admissible pair of least weight; of equals the newer product, then variable order."""
    best: tuple[tuple[int, int, int, int, int], tuple[_Member, _Member]] | None = None
    for i, first in enumerate(members):
        look()
        for j in range(i + 1, len(members)):
            second = members[j]
            if not _fits(first, second, system, transitions, max_states):
                continue
            weight = int(np.maximum(first.ranks, second.ranks).min(initial=INFINITY))
            ages = sorted((first.age, second.age))
            key = (weight, -ages[1], -ages[0], i, j)
            if best is None or key < best[0]:
                best = key, (first, second)
    return None if best is None else best[1]


def _fits(
    first: _Member, second: _Member, system: FactoredSystem, transitions: int, max_states: int
) -> bool:
    a, b = first.factor, second.factor
    if a.frozen or b.frozen or not (a.matters_for_goal or b.matters_for_goal):
        return False
    if a.n_states * b.n_states > max_states or prod(map(len, (a.lookup, b.lookup))) > MAX_LOOKUP:
        return False
    relevant = (a.relevant | b.relevant) & system.alive
    return int((first.counts[relevant] * second.counts[relevant]).sum()) <= transitions
