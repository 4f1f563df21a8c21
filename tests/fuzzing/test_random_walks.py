"""The kernel's walks are those of the definition, with the numbers of Python's generator."""

from __future__ import annotations

from itertools import combinations, product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import fdr
from reference.adl_tasks import axiom_task, conditional_task
from reference.amount import amount
from reference.random_tasks import dials, make_task
from reference.soundness import random_task
from reference.walks import Walks, steps

from engine.errors import UsageError
from engine.fuzzing.fuzzer import Fuzzer, FuzzOptions, check_novelty
from engine.native.walks import NativeWalks
from engine.task.states import StateTable
from engine.task.task import Task


def grown(task: Task, options: FuzzOptions) -> Fuzzer:
    fuzzer = Fuzzer(StateTable(task), None, options)
    for _ in fuzzer.grow():
        pass
    return fuzzer


@pytest.mark.parametrize("kind", ["plain", "conditional", "axioms"])
@pytest.mark.parametrize("novelty", [0, 1, 2])
def test_pools_and_counts_are_those_of_the_definition(kind: str, novelty: int) -> None:
    random = Random(novelty)
    exhausted = pruned = 0
    for seed in range(amount(40, 4)):
        task = {
            "plain": lambda: random_task(random),
            "conditional": lambda: conditional_task(seed),  # noqa: B023
            "axioms": lambda: axiom_task(seed),  # noqa: B023
        }[kind]()
        options = FuzzOptions(
            30, random.randint(1, 5), random.getrandbits(40), walks=60, novelty=novelty
        )
        ours, theirs = grown(task, options), Walks(task, options)
        theirs.grow(ours.statistics.walks)
        assert ours.entries == theirs.entries
        counted = ours.statistics
        assert (counted.duplicates, counted.filtered) == (theirs.duplicates, theirs.filtered)
        assert counted.failed_walks == theirs.failed_walks
        assert ours.exhausted == theirs.is_exhausted()
        is_full = len(ours.entries) == options.size
        assert ours.exhausted or is_full or counted.walks == options.walks
        exhausted += ours.exhausted
        pruned += any(
            not steps(task, entry.state) or len(steps(task, entry.state)) < len(after)
            for entry in theirs.entries
            if (after := fdr.successors(task, entry.state))
        )
    assert exhausted or kind == "plain"
    assert pruned


def test_a_complete_pool_has_every_state_that_walks_can_reach() -> None:
    random = Random(8)
    complete = 0
    for seed in range(amount(60, 12)):
        task = random_task(random)
        fuzzer = grown(task, FuzzOptions(10**6, 3, seed))  # no limit but the task's own states
        reached = {task.init}
        frontier = [task.init]
        while frontier:
            for _, after in steps(task, frontier.pop()):
                if after not in reached:
                    reached.add(after)
                    frontier.append(after)
        assert fuzzer.complete
        assert fuzzer.exhausted
        assert {entry.state for entry in fuzzer.entries} == reached
        complete += len(reached) > 5
    assert complete


def test_a_pool_is_complete_also_if_it_is_just_full() -> None:
    everything = 5**2 - 1
    assert grown(dials(2, 5), FuzzOptions(everything)).complete
    smaller = grown(dials(2, 5), FuzzOptions(everything - 1))
    assert not smaller.complete
    assert not smaller.exhausted


def test_a_filtered_pool_is_not_complete() -> None:
    fuzzer = grown(dials(2, 4), FuzzOptions(10**6, 3, novelty=1))
    assert fuzzer.exhausted
    assert fuzzer.statistics.filtered
    assert not fuzzer.complete


SIZES = (2, 3, 2)
TASK = make_task(SIZES, (), (0, 0, 0), ())
STATES = list(product(*map(range, SIZES)))


def sets_of_facts(state: tuple[int, ...], most: int) -> set[tuple[tuple[int, int], ...]]:
    facts = list(enumerate(state))
    return {chosen for size in range(1, most + 1) for chosen in combinations(facts, size)}


@given(st.lists(st.sampled_from(STATES), max_size=12, unique=True), st.integers(1, 4))
def test_novelty_by_the_definition(states: list[tuple[int, ...]], level: int) -> None:
    table = StateTable(TASK)
    walks = NativeWalks(table.native, Random(0), size=100, walk_length=1, novelty=level)
    known: set[tuple[tuple[int, int], ...]] = set()
    accepted = 0
    for state in states:
        sets = sets_of_facts(state, level)
        accepted += bool(sets - known)
        known |= sets
        walks.offer(int(table.add(state)[0]), -1, ())
        assert walks.counts().entries == accepted


def test_a_level_beyond_memory_is_refused() -> None:
    wide = make_task((9,) * 300, (), (0,) * 300, ())
    with pytest.raises(UsageError, match="too much memory"):
        check_novelty(wide, 3)
    check_novelty(wide, 0)


def test_what_is_no_state_or_operator_is_refused() -> None:
    table = StateTable(TASK)
    table.add(TASK.init)
    walks = NativeWalks(table.native, Random(0), size=9, walk_length=1, novelty=0)
    for state, reference, operators in ((1, -1, ()), (-1, -1, ()), (0, 0, ()), (0, -1, (0,))):
        with pytest.raises(ValueError, match="out of range"):
            walks.offer(state, reference, operators)
    with pytest.raises(ValueError, match="out of range"):
        walks.candidates(7)
