"""The search kernels against exhaustive h*, on random tasks of every width."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import fdr
from reference.random_tasks import counter, dials, make_task, partial_states, tasks, widened

from engine.errors import UsageError
from engine.native.library import HEURISTICS
from engine.records.finding import INFINITY
from engine.search.forward import Outcome, SearchLimits, search
from engine.search.heuristics import ADMISSIBLE
from engine.task.task import Operator, Task

WIDTHS = st.sampled_from([0, 0, 70, 130, 200, 300])


def hstar(task: Task) -> dict[fdr.State, int]:
    return fdr.optimal_costs(task, fdr.all_states(task))


def rank(task: Task, state: fdr.State) -> int:
    return int(np.ravel_multi_index(state, task.domain_sizes))


@given(tasks(), WIDTHS, st.sampled_from(sorted(ADMISSIBLE)), st.data())
def test_astar_is_optimal_from_any_state(
    task: Task, bits: int, heuristic: str, data: st.DataObject
) -> None:
    state = data.draw(st.sampled_from(fdr.all_states(task)))
    expected = hstar(task)[state]
    wide = widened(task, bits) if bits else task
    start = state + wide.init[len(state) : len(wide.init) - len(state)] + state if bits else state
    result = search(wide, "astar", heuristic, state=start)
    assert result.lower_bound == expected
    if expected == INFINITY:
        assert result.outcome is Outcome.UNSOLVABLE
        assert result.plan is None
        assert result.cost is None
    else:
        assert result.outcome is Outcome.SOLVED
        assert result.plan is not None
        assert result.cost == expected
        assert fdr.plan_cost(task, result.plan, state, task.goal) == expected


@given(tasks(), st.data())
def test_astar_is_optimal_with_inconsistent_heuristics(task: Task, data: st.DataObject) -> None:
    truth = hstar(task)
    random = data.draw(st.randoms(use_true_random=False))
    values = np.array(
        [
            random.randint(0, cost) if cost < INFINITY else random.choice([0, 7, INFINITY])
            for cost in (truth[state] for state in fdr.all_states(task))
        ]
    )
    result = search(task, "astar", values)
    assert result.lower_bound == truth[task.init]
    assert (result.outcome is Outcome.SOLVED) == (truth[task.init] < INFINITY)


def test_astar_reopens() -> None:
    """Reached first over the expensive way, expanded, and then over the cheap one."""
    step = [(0, 1, 1), (1, 2, 1), (0, 2, 4), (2, 3, 5)]
    operators = tuple(Operator(f"{x} {y}", ((0, x),), ((0, y),), cost) for x, y, cost in step)
    task = make_task((4,), operators, (0,), ((0, 3),))
    result = search(task, "astar", np.array([0, 6, 0, 0]))
    assert result.cost == 7
    assert result.expanded == 4  # state 2 twice


@given(tasks(), st.sampled_from(sorted(ADMISSIBLE)), st.data())
def test_only_plans_below_the_bound_are_found(
    task: Task, heuristic: str, data: st.DataObject
) -> None:
    truth = hstar(task)[task.init]
    near = [max(truth + d, 0) for d in (-1, 0, 1)] if truth < INFINITY else []
    bound = data.draw(st.sampled_from([0, 1, 5, 10**12, *near]))
    result = search(task, "astar", heuristic, bound=bound)
    assert (result.outcome is Outcome.SOLVED) == (truth < bound)
    if truth < bound:
        assert result.cost == truth
    elif truth < INFINITY:
        assert result.outcome is Outcome.NO_CHEAPER_PLAN
        assert result.lower_bound == bound
    else:
        assert result.outcome in {Outcome.NO_CHEAPER_PLAN, Outcome.UNSOLVABLE}


@given(tasks(), st.sampled_from(sorted(HEURISTICS.keys() - ADMISSIBLE)), st.integers(0, 12))
def test_astar_claims_nothing_that_an_inadmissible_heuristic_says(
    task: Task, heuristic: str, bound: int
) -> None:
    truth = hstar(task)[task.init]
    for result in (search(task, "astar", heuristic), search(task, "astar", heuristic, bound=bound)):
        assert result.lower_bound <= truth
    assert (result.outcome is Outcome.SOLVED) == (truth < bound)


@given(tasks(costs=(0, 1, 2, 63, 64, 65, 500, 4095)), st.sampled_from([0, 70]))
def test_costs_far_apart(task: Task, bits: int) -> None:
    """Small enough for buckets by cost, with long gaps between them and rings that wrap."""
    wide = widened(task, bits) if bits else task
    assert search(wide, "astar", "blind").lower_bound == hstar(task)[task.init]


@given(tasks(), st.sampled_from(sorted(HEURISTICS)), st.data())
def test_another_goal(task: Task, heuristic: str, data: st.DataObject) -> None:
    whole_states = st.sampled_from([tuple(enumerate(s)) for s in fdr.all_states(task)])
    goal = data.draw(st.one_of(partial_states(task.domain_sizes, 4), whole_states))
    truth = fdr.optimal_costs(task, fdr.all_states(task), goal)[task.init]
    result = search(task, "astar" if heuristic in ADMISSIBLE else "gbfs", heuristic, goal=goal)
    assert (result.outcome is Outcome.SOLVED) == (truth < INFINITY)
    if result.cost is not None:
        assert result.cost >= truth
        assert result.cost == truth or heuristic not in ADMISSIBLE


@given(tasks(), st.sampled_from(sorted(HEURISTICS)))
def test_greedy_best_first_solves_what_is_solvable(task: Task, heuristic: str) -> None:
    truth = hstar(task)[task.init]
    result = search(task, "gbfs", heuristic)
    if truth < INFINITY:
        assert result.outcome is Outcome.SOLVED
        assert result.cost is not None
        assert result.cost >= truth
    else:
        assert result.outcome is Outcome.UNSOLVABLE


@given(tasks(), st.sampled_from(sorted(HEURISTICS)))
def test_hill_climbing_never_calls_a_task_unsolvable(task: Task, heuristic: str) -> None:
    """P31: that it fails says nothing about the task."""
    result = search(task, "ehc", heuristic)
    assert result.outcome in {Outcome.SOLVED, Outcome.FAILED}
    if result.cost is not None:
        assert hstar(task)[task.init] <= result.cost < INFINITY


@given(tasks())
def test_hill_climbing_with_the_true_costs_finds_a_plan(task: Task) -> None:
    truth = hstar(task)
    result = search(task, "ehc", np.array([truth[state] for state in fdr.all_states(task)]))
    assert (result.outcome is Outcome.SOLVED) == (truth[task.init] < INFINITY)


def test_hill_climbing_fails_where_the_way_leads_over_a_dead_end() -> None:
    """The only state with smaller h is a trap; nothing leads out of it."""
    step = [(0, 1), (0, 2), (2, 3)]
    operators = tuple(Operator(f"{x} {y}", ((0, x),), ((0, y),), 1) for x, y in step)
    task = make_task((4,), operators, (0,), ((0, 3),))
    assert search(task, "ehc", np.array([5, 1, 6, 0])).outcome is Outcome.FAILED
    assert search(task, "ehc", np.array([5, INFINITY, 6, 0])).plan == (1, 2)


@given(tasks(), st.sampled_from(["gbfs", "ehc"]), st.integers(0, 12))
def test_greedy_searches_keep_the_bound_and_prove_nothing_with_it(
    task: Task, algorithm: str, bound: int
) -> None:
    truth = hstar(task)[task.init]
    result = search(task, algorithm, "ff", bound=bound)
    if result.outcome is Outcome.SOLVED:
        assert result.cost is not None
        assert truth <= result.cost < bound
    elif result.outcome is Outcome.UNSOLVABLE:
        assert truth == INFINITY
    else:
        assert result.outcome is Outcome.FAILED


@pytest.mark.parametrize("heuristic", sorted(ADMISSIBLE - {"ms"}))
@pytest.mark.parametrize("algorithm", ["astar", "gbfs", "ehc"])
def test_expansion_limit_is_exact(algorithm: str, heuristic: str) -> None:
    """Not with merge-and-shrink, which merges the switches and sees that there is no plan."""
    task = dials(6, 8, solvable=False)
    result = search(task, algorithm, heuristic, limits=SearchLimits(expansions=50))
    assert result.outcome is Outcome.EXPANSION_LIMIT
    assert result.outcome.is_limit
    assert result.expanded == 50


@pytest.mark.parametrize("costs", [(1,), (1, 2), (1, 100_000)])
def test_memory_limit_is_kept(costs: tuple[int, ...]) -> None:
    task = dials(10, 8, costs, solvable=False)
    result = search(task, "astar", "blind", limits=SearchLimits(bytes=8_000_000))
    assert result.outcome is Outcome.MEMORY_LIMIT
    assert 2_000_000 < result.peak_bytes <= 8_000_000
    assert result.expanded > 10_000
    assert 0 < result.lower_bound < INFINITY


@pytest.mark.parametrize("algorithm", ["astar", "gbfs", "ehc"])
def test_time_limit_ends_the_search(algorithm: str) -> None:
    task = dials(10, 8, solvable=False)
    result = search(task, algorithm, "gc", limits=SearchLimits(seconds=0.02))
    assert result.outcome is Outcome.TIME_LIMIT


def test_a_limit_of_nothing_ends_at_once() -> None:
    task = dials(3, 4)
    assert search(task, limits=SearchLimits(seconds=0)).outcome is Outcome.TIME_LIMIT
    assert search(task, limits=SearchLimits(bytes=0)).outcome is Outcome.MEMORY_LIMIT


@pytest.mark.parametrize("costs", [(1,), (3,), (0, 1), (1_000_000, 999_999)])
def test_lower_bounds_of_unfinished_searches_hold(costs: tuple[int, ...]) -> None:
    task = dials(3, 9, costs)
    best = search(task, "astar", "blind").cost
    assert best is not None
    for heuristic in ADMISSIBLE:
        for expansions in (1, 10, 100):
            limits = SearchLimits(expansions=expansions)
            result = search(task, "astar", heuristic, limits=limits)
            assert result.outcome in {Outcome.EXPANSION_LIMIT, Outcome.SOLVED}
            assert result.lower_bound <= best


@pytest.mark.parametrize("costs", [(60_000, 59_999), (1_000_000, 0), (2**32, 1), (2**31,)])
@pytest.mark.parametrize("heuristic", sorted(ADMISSIBLE))
def test_sums_of_large_costs_are_exact(costs: tuple[int, ...], heuristic: str) -> None:
    """P47. Far beyond 32 bits: the narrow blind search must notice and begin again."""
    bits = 17 if heuristic == "blind" else 8
    task = counter(bits, costs)
    steps = [2 ** (bits - 1 - bit) for bit in range(bits)]
    expected = sum(n * costs[bit % len(costs)] for bit, n in enumerate(steps))
    result = search(task, "astar", heuristic)
    assert result.cost == expected
    assert result.lower_bound == expected
    assert result.expanded == 2**bits - 1


@given(tasks(costs=(0,)))
def test_all_actions_free(task: Task) -> None:
    truth = hstar(task)[task.init]
    result = search(task, "astar", "blind")
    assert (result.cost == 0) == (truth == 0)


def test_a_costly_operator_does_not_hide_its_cheap_twin() -> None:
    twins = tuple(Operator(f"go {c}", ((0, 0),), ((0, 1),), c) for c in (5, 2, 9))
    task = make_task((2,), twins, (0,), ((0, 1),))
    for heuristic in ADMISSIBLE:
        assert search(task, "astar", heuristic).plan == (1,)


@pytest.mark.parametrize("algorithm", ["astar", "gbfs", "ehc"])
def test_start_is_a_goal(algorithm: str) -> None:
    task = make_task((2,), (), (1,), ((0, 1),))
    for heuristic in HEURISTICS:
        result = search(task, algorithm, heuristic)
        assert (result.outcome, result.plan, result.cost) == (Outcome.SOLVED, (), 0)
        none_cheaper = search(task, algorithm, heuristic, bound=0)
        assert none_cheaper.outcome in {Outcome.NO_CHEAPER_PLAN, Outcome.FAILED}


def test_no_operators_and_no_variables() -> None:
    assert search(make_task((2,), (), (0,), ((0, 1),))).outcome is Outcome.UNSOLVABLE
    assert search(make_task((), (), (), ()), "astar", "blind").cost == 0


def test_unknown_names_are_refused() -> None:
    task = dials(2, 3)
    with pytest.raises(UsageError, match="unknown algorithm 'dfs'"):
        search(task, "dfs")
    with pytest.raises(UsageError, match="unknown heuristic 'magic'"):
        search(task, "astar", "magic")


def test_wrong_states_goals_and_tables_are_refused() -> None:
    task = dials(2, 3)
    with pytest.raises(ValueError, match=r"expected shape \(2,\), got \(1,\)"):
        search(task, state=(0,))
    with pytest.raises(ValueError, match="out of range"):
        search(task, state=(0, 3))
    with pytest.raises(ValueError, match="out of range"):
        search(task, goal=[(0, 1), (0, 2)])
    with pytest.raises(ValueError, match=r"expected shape \(9,\), got \(8,\)"):
        search(task, "astar", np.zeros(8, np.int64))


def test_what_the_goal_does_not_need_costs_nothing() -> None:
    """An irrelevant dial, and an operator that changes what it needs into itself."""
    small, large = dials(3, 5), dials(4, 5)
    idle = Operator("idle", ((0, 2),), ((0, 2),), 0)
    task = make_task((5,) * 4, (idle, *large.operators), (0,) * 4, large.goal[:3])
    expected, result = search(small, "astar", "blind"), search(task, "astar", "blind")
    assert result.expanded == expected.expanded
    assert result.cost == expected.cost
    assert result.plan is not None
    names = [task.operators[o].name for o in result.plan]
    assert all(name.startswith(("turn 0", "turn 1", "turn 2")) for name in names)


def test_limits_and_bounds_beyond_64_bits_are_none() -> None:
    task = dials(3, 5)
    limits = SearchLimits(seconds=1e300, bytes=10**40, expansions=10**40)
    assert search(task, bound=10**40, limits=limits).cost == search(task).cost
    assert search(task, bound=-(10**40)).outcome is Outcome.NO_CHEAPER_PLAN
