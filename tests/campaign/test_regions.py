"""Regions agree with a plain search for connected components."""

from __future__ import annotations

from random import Random

import pytest
from reference import fdr
from reference.soundness import random_task

from engine.campaign.findings import Regions, regions


def components(task, states) -> list[int]:
    """The first state of each state's component, by following edges in both directions."""
    number = {state: n for n, state in enumerate(states)}
    edges: dict[int, set[int]] = {n: set() for n in number.values()}
    for state in states:
        for _, successor in fdr.successors(task, state):
            if successor in number:
                edges[number[state]].add(number[successor])
                edges[number[successor]].add(number[state])
    first = [-1] * len(states)
    for start in range(len(states)):
        waiting = [start] if first[start] < 0 else []
        while waiting:
            current = waiting.pop()
            if first[current] < 0:
                first[current] = start
                waiting += edges[current]
    return first


@pytest.mark.parametrize("seed", range(25))
def test_regions_are_connected_components(seed: int) -> None:
    random = Random(seed)
    task = random_task(random)
    states = fdr.reachable_states(task)
    chosen = random.sample(states, random.randint(1, len(states)))
    expected = components(task, chosen)
    assert regions(task, chosen) == expected

    growing, known = Regions(task), {}
    for number, state in enumerate(chosen):
        growing.add(state)
        if number % 3 == 0:
            known.update(growing.changes())
    known.update(growing.changes())
    assert known == {state: chosen[expected[n]] for n, state in enumerate(chosen)}


def test_no_states_no_regions() -> None:
    assert regions(random_task(Random(0)), []) == []
