"""Factors, pruning and merging against enumeration."""

from collections.abc import Callable
from random import Random

import numpy as np
from reference.dominance import Reference, random_task

from engine.dominance.compute import Variant, compute
from engine.dominance.factors import atomic_system
from engine.dominance.merging import merge
from engine.records.config import Factorization
from engine.task.task import Task

Build = Callable[..., Task]


def test_pruned_states_are_those_of_the_definition() -> None:
    random = Random(1)
    pruned = 0
    for _ in range(60):
        task = random_task(random)
        for system in (atomic_system(task), merge(atomic_system(task), 60)):
            if not system.has_states:
                continue
            partition = [factor.variables for factor in system.factors]
            reference = Reference(task, partition, truncation=0)
            for factor, states in zip(system.factors, reference.states, strict=True):
                sizes = [task.domain_sizes[variable] for variable in factor.variables]
                alive = np.argwhere(factor.lookup.reshape(sizes) >= 0).tolist()
                assert sorted(map(list, states)) == alive
                pruned += len(factor.lookup) - len(alive)
    assert pruned > 20


def test_a_label_that_is_dead_somewhere_is_gone_everywhere(build: Build) -> None:
    """P5: it must not look as if it were irrelevant."""
    task = build((3, 2), [({0: 1}, {0: 2, 1: 0}, 1), ({0: 0}, {1: 0}, 1)], (1, 1), {1: 0})
    system = atomic_system(task)  # value 0 of variable 0 cannot be reached
    assert system.alive.tolist() == [True, False]


def test_merging_keeps_its_limits() -> None:
    random = Random(2)
    merged = 0
    for _ in range(60):
        system = atomic_system(random_task(random))
        for transitions, states in ((40, 3000), (10_000, 12)):
            result = merge(system, transitions, max_states=states)
            assert sorted(v for f in result.factors for v in f.variables) == list(
                range(len(system.factors))
            )
            for factor in result.factors:
                if len(factor.variables) > 1:
                    merged += 1
                    assert len(factor.labels) <= transitions
                    assert factor.n_states <= states
    assert merged > 20


def test_of_parallel_actions_only_the_cheaper_one_counts(build: Build) -> None:
    """Labels that do the same are one label, at the lower price (P12)."""
    moves = [({0: 0}, {0: 1}, 3), ({0: 0}, {0: 1}, 1), ({0: 1}, {0: 0}, 2)]
    function = compute(build((2, 2), moves, (0, 0), {0: 1}), Factorization())
    assert function.value((0, 0), (1, 0)) == 1
    assert function.value((1, 0), (0, 0)) == -1


def test_an_unsolvable_task_compares_nothing(build: Build) -> None:
    task = build((2, 2), [({0: 0}, {1: 1}, 1)], (0, 0), {0: 1})
    for variant in Variant:
        function = compute(task, Factorization(100), variant)
        assert function.value((0, 0), (0, 1)) is None
