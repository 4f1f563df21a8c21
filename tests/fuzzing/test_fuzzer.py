import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import count, product
from random import Random
from types import SimpleNamespace

import pytest
from reference import fdr
from reference.adl_tasks import axiom_task, conditional_task, eventful_task
from reference.amount import amount
from reference.random_tasks import dials
from reference.soundness import TablePolicy, Truth, optimal_policy, policies, random_task

from engine.fuzzing import fuzzer as fuzzer_module
from engine.fuzzing.biases import BIASES, Judgment, make_bias
from engine.fuzzing.fuzzer import Fuzzer, FuzzOptions, weighted_choice
from engine.native import walks
from engine.native.library import NativeLimits
from engine.policies.runs import PolicyRuns
from engine.records.config import Unsolved
from engine.records.finding import INFINITY, RunOutcome
from engine.search.heuristics import Evaluator
from engine.task.states import StateTable
from engine.task.task import Task


def pool_of(fuzzer: Fuzzer) -> list:
    for _ in fuzzer.grow():
        pass
    return fuzzer.entries


def test_every_entry_is_reached_by_its_walk_and_is_no_goal() -> None:
    random = Random(1)
    checked = 0
    for seed in range(amount(20, 8)):
        task = random_task(random)
        entries = pool_of(Fuzzer(StateTable(task), None, FuzzOptions(30, 4, seed, walks=200)))
        assert entries[0].state == task.init
        for entry in entries[1:]:
            state = entries[entry.reference].state
            for operator in entry.operators:
                assert fdr.holds(task.operators[operator].precondition, state)
                state = fdr.apply(task, task.operators[operator], state)
                assert not fdr.holds(task.goal, state)
            assert state == entry.state
            assert entry.steps == len(entry.operators)
            checked += 1
        assert len({entry.state for entry in entries}) == len(entries)
    assert checked > amount(100, 40)


def test_the_same_seed_gives_the_same_pool() -> None:
    task = dials(4, 5)
    first, again, other = (
        pool_of(Fuzzer(StateTable(task), None, FuzzOptions(40, seed=seed))) for seed in (3, 3, 4)
    )
    assert first == again
    assert first != other


@pytest.mark.parametrize("bias", [None, "plan-length"])
def test_walks_get_on_however_little_time_a_call_has(
    bias: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A state with very many successors takes longer than the time between two looks at Ctrl-C."""
    task = dials(4, 5)

    def pool() -> list:
        table = StateTable(task)
        runs = PolicyRuns(TablePolicy(optimal_policy(Truth.of(task))), table)
        return pool_of(Fuzzer(table, bias and make_bias(bias, runs), FuzzOptions(40, walks=500)))

    whole, calls = pool(), count()

    def shortest(seconds: float) -> NativeLimits:
        del seconds
        assert next(calls) < 100_000
        return NativeLimits(1e-9, 0, 2**63)

    monkeypatch.setattr(walks, "_slice", shortest)
    assert pool() == whole


def test_novelty_filters_what_is_not_new() -> None:
    task = dials(3, 3)
    fuzzer = Fuzzer(StateTable(task), None, FuzzOptions(1000, walks=2000, novelty=1))
    entries = pool_of(fuzzer)
    assert len(entries) <= 9  # one state per fact at most
    assert fuzzer.statistics.filtered > 0


@pytest.mark.parametrize("name", BIASES)
def test_it_ends_when_walks_can_find_no_other_state(name: str) -> None:
    """Whatever keeps walks from some states; there is no limit of time or walks."""
    random = Random(4)
    truth = Truth.of(dials(2, 4))
    for novelty, unsolved in product((0, 1), Unsolved):
        table = StateTable(truth.task)
        _, policy = list(policies(truth, random))[-1]
        bias = make_bias(name, PolicyRuns(TablePolicy(policy), table), horizon=6)
        options = FuzzOptions(10**9, 3, novelty=novelty, unsolved=unsolved)
        fuzzer = Fuzzer(table, bias, options)
        entries = {entry.state for entry in pool_of(fuzzer)}
        assert fuzzer.exhausted
        if not novelty:  # which states are novel depends on their order
            others = Fuzzer(table, bias, replace(options, walks=300, seed=9))
            assert {entry.state for entry in pool_of(others)} <= entries


def test_all_states_within_reach_are_found() -> None:
    fuzzer = Fuzzer(StateTable(dials(2, 5)), None, FuzzOptions(10**9))
    assert len(pool_of(fuzzer)) == 5**2 - 1  # except for the goal
    assert fuzzer.exhausted


def test_states_that_hmax_knows_to_be_dead_ends_are_left_out() -> None:
    random = Random(6)
    left_out = 0
    for seed in range(amount(30, 8)):
        task = random_task(random)
        hmax = Evaluator(task, "hmax")
        entries = pool_of(Fuzzer(StateTable(task), None, FuzzOptions(30, 4, seed, walks=150)))
        assert (hmax([entry.state for entry in entries[1:]] or [task.init]) != INFINITY).all()
        left_out += int((hmax(fdr.reachable_states(task)) == INFINITY).sum())
    assert left_out


@pytest.mark.parametrize("make", [conditional_task, axiom_task])
def test_walks_enter_whatever_hmax_does_not_exclude(make: Callable[[int], Task]) -> None:
    """Where effects have conditions or variables are derived, too."""
    left_out = 0
    for number in range(amount(60, 12)):
        task = eventful_task(make, number)
        states = fdr.reachable_states(task)
        finite = dict(zip(states, Evaluator(task, "hmax")(states) != INFINITY, strict=True))
        found, waiting = {task.init}, [task.init]
        for state in waiting:
            for _, successor in fdr.successors(task, state):
                is_over = fdr.holds(task.goal, successor) or not fdr.applicable(task, successor)
                if finite[successor] and not is_over and successor not in found:
                    found.add(successor)
                    waiting.append(successor)
        fuzzer = Fuzzer(StateTable(task), None, FuzzOptions(10**9))
        assert {entry.state for entry in pool_of(fuzzer)} == found
        left_out += sum(not is_finite for is_finite in finite.values())
    assert left_out


def test_the_time_for_walks_does_not_run_while_states_are_tested(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 1000.0
    monkeypatch.setattr(fuzzer_module, "time", SimpleNamespace(monotonic=lambda: now))
    fuzzer = Fuzzer(StateTable(dials(4, 5)), None, FuzzOptions(30, seconds=0.2))
    for _ in fuzzer.grow():
        now += 60.0  # an oracle at work
    assert len(fuzzer.entries) == 30
    ended = Fuzzer(StateTable(dials(4, 5)), None, FuzzOptions(10**6, seconds=0.0))
    assert len(pool_of(ended)) == 1


@pytest.mark.parametrize(("megabytes", "size"), [(1, 1), (10**6, 500)])
def test_a_memory_limit_ends_walks(megabytes: int, size: int) -> None:
    """The process of the test uses more than one megabyte and less than a million."""
    options = FuzzOptions(500, megabytes=megabytes)
    assert len(pool_of(Fuzzer(StateTable(dials(4, 5)), None, options))) == size


@pytest.mark.parametrize("name", [name for name in BIASES if name != "none"])
def test_biases_judge_every_candidate(name: str) -> None:
    random = Random(2)
    for seed in range(amount(6, 2)):
        truth = Truth.of(random_task(random))
        for _, policy in policies(truth, random):
            table = StateTable(truth.task)
            runs = PolicyRuns(TablePolicy(policy), table)
            bias = make_bias(name, runs, horizon=6)
            assert bias is not None
            states = table.add(truth.states)
            judgment = bias.judge(states)
            assert len(judgment.weights) == len(judgment.failed) == len(states)
            fuzzer = Fuzzer(table, bias, FuzzOptions(10, 3, seed, walks=20))
            assert pool_of(fuzzer)


def test_plan_length_is_the_number_of_steps_of_the_policys_run() -> None:
    truth = Truth.of(dials(2, 5, costs=(2, 3)))
    table = StateTable(truth.task)
    policy = optimal_policy(truth)
    runs = PolicyRuns(TablePolicy(policy), table)
    states = table.add(truth.states)
    bias = make_bias("plan-length", runs, horizon=None, budget=None)
    weights = bias.judge(states).weights
    assert weights == [float(len(runs.trace(state).operators)) for state in states.tolist()]
    assert weights != [float(truth.hstar[state]) for state in truth.states]


def test_a_run_that_was_cut_off_weighs_more_than_all_finished_ones() -> None:
    truth = Truth.of(dials(2, 9))
    table = StateTable(truth.task)
    runs = PolicyRuns(TablePolicy(optimal_policy(truth)), table)
    near, far = (next(s for s in truth.states if truth.hstar[s] == cost) for cost in (2, 7))
    weights = make_bias("plan-length", runs, horizon=3).judge(table.add([near, far])).weights
    assert weights == [2.0, 4.0]


@pytest.mark.parametrize("name", [name for name in BIASES if name not in ("none", "heuristic")])
def test_what_is_known_beyond_the_horizon_changes_nothing(name: str) -> None:
    """Oracles run the same policy, and the pool must not depend on what they look at."""
    random = Random(3)
    cut = 0
    for _ in range(amount(12, 3)):
        truth = Truth.of(random_task(random))
        for _, policy in policies(truth, random):
            table = StateTable(truth.task)
            states = table.add(truth.states)
            for horizon in (1, 2, 4):
                fresh = PolicyRuns(TablePolicy(policy), table)
                known = PolicyRuns(TablePolicy(policy), table)
                known.run(random.sample(states.tolist(), len(states) // 2))
                found = [make_bias(name, runs, horizon=horizon) for runs in (fresh, known)]
                first, second = (bias.judge(states[:9]) for bias in found)
                assert first == second
                cut += RunOutcome.UNKNOWN in fresh.known(states[:9]).outcome.tolist()
    assert cut


def test_the_budget_leaves_candidates_out() -> None:
    truth = Truth.of(dials(3, 5))
    table = StateTable(truth.task)
    runs = PolicyRuns(TablePolicy(optimal_policy(truth)), table)
    weights = make_bias("plan-length", runs, budget=5).judge(table.add(truth.states)).weights
    assert weights.count(float("-inf")) == len(weights) - 16


class _Failing:
    """Says that the policy fails wherever the first dial stands on 1."""

    def __init__(self, table: StateTable) -> None:
        self.table = table

    def judge(self, states) -> Judgment:
        failed = [bool(value == 1) for value in self.table.values(states)[:, 0]]
        return Judgment([1.0] * len(states), failed)


def test_failures_are_inserted_and_avoided_or_preferred() -> None:
    task = dials(2, 6)
    table = StateTable(task)
    options = FuzzOptions(36, 1, 5, walks=30, unsolved=Unsolved.INSERT_AND_AVOID)
    avoiding = Fuzzer(table, _Failing(table), options)
    entries = pool_of(avoiding)
    assert any(entry.state[0] == 1 for entry in entries)
    options = FuzzOptions(36, 1, 5, walks=30, unsolved=Unsolved.PREFER)
    table = StateTable(task)
    preferring = pool_of(Fuzzer(table, _Failing(table), options))
    walked = [entry for entry in preferring[1:] if preferring[entry.reference].state == (0, 0)]
    assert walked
    assert all(entry.state[0] == 1 for entry in walked)


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
