from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.random_tasks import make_task

from engine.errors import UsageError
from engine.fuzzing.novelty import NoveltyFilter

SIZES = (2, 3, 2)
TASK = make_task(SIZES, (), (0, 0, 0), ())
STATES = list(product(*map(range, SIZES)))


def sets_of_facts(state: tuple[int, ...], most: int) -> set[tuple[tuple[int, int], ...]]:
    facts = list(enumerate(state))
    return {chosen for size in range(1, most + 1) for chosen in combinations(facts, size)}


@given(st.lists(st.sampled_from(STATES), max_size=12), st.integers(1, 4))
def test_novelty_by_the_definition(states: list[tuple[int, ...]], level: int) -> None:
    novelty = NoveltyFilter(TASK, level)
    known: set[tuple[tuple[int, int], ...]] = set()
    for state in states:
        sets = sets_of_facts(state, level)
        assert novelty.is_novel(state) == bool(sets - known)
        novelty.add(state)
        known |= sets


def test_a_level_beyond_memory_is_refused() -> None:
    wide = make_task((9,) * 300, (), (0,) * 300, ())
    with pytest.raises(UsageError, match="too much memory"):
        NoveltyFilter(wide, 3)
