"""Localization along runs, held against h* of every state."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from reference import fdr
from reference.small_tasks import task_of
from reference.soundness import Table, Truth, policies, random_task

from engine.errors import UsageError
from engine.localize.localizer import ALGORITHMS, Searched
from engine.localize.run_searches import LocalizationLimits
from engine.native.control import Control
from engine.policies.runs import PolicyRun
from engine.records.finding import EndReason, RunOutcome
from engine.records.localization import CauseKind, StepVerdict

MakeRunner = Callable[..., Any]


@pytest.mark.parametrize("seed", range(12))
def test_exactly_the_bad_steps_are_found(runner: MakeRunner, seed: int) -> None:
    random = Random(seed)
    truth = Truth.of(random_task(random))
    bad = 0
    for name, policy in policies(truth, random):
        shared = runner(truth, policy)
        for state in random.sample(truth.states, 10):
            found = shared.localize(state)
            assert shared.violations(state, found) == [], (name, state)
            bad += len(found.bad_steps)
            alone = runner(truth, policy).localize(state)
            assert [s.verdict for s in alone.steps] == [s.verdict for s in found.steps]
            assert (alone.cause is None) == (found.cause is None)
    assert bad


@pytest.mark.parametrize("heuristic", ["blind", "hmax", "lmcut", "cartesian", "ms"])
@pytest.mark.parametrize("seed", range(3))
def test_every_admissible_heuristic_gives_the_same(
    runner: MakeRunner, seed: int, heuristic: str
) -> None:
    random = Random(100 + seed)
    truth = Truth.of(random_task(random))
    for _, policy in policies(truth, random):
        examined = runner(truth, policy, heuristic=heuristic)
        for state in truth.states[::5]:
            assert examined.violations(state, examined.localize(state)) == []


@pytest.mark.parametrize("algorithm", [a for a in ALGORITHMS if a != "pms-lama"])
def test_asking_about_one_step_after_the_other_gives_the_same(
    runner: MakeRunner, algorithm: str
) -> None:
    """pms-lama starts a planner for each question; it is tested where it stands."""
    random = Random(77)
    for _ in range(3):
        truth = Truth.of(random_task(random))
        for _, policy in policies(truth, random):
            examined = runner(truth, policy, algorithm=algorithm)
            bisected = runner(truth, policy)
            for state in random.sample(truth.states, 4):
                found = examined.localize(state)
                complete = algorithm != "dominance"
                assert examined.violations(state, found, complete, plans=False) == []
                if complete:
                    expected = bisected.localize(state)
                    assert found.bad_steps == expected.bad_steps
                    assert found.cause == expected.cause


@pytest.mark.parametrize("seed", range(6))
def test_limits_leave_steps_undecided_and_intervals_honest(runner: MakeRunner, seed: int) -> None:
    random = Random(1000 + seed)
    truth = Truth.of(random_task(random))
    undecided = 0
    for expansions in (1, 2, 4, 8):
        for total in (None, 3, 12):
            limits = LocalizationLimits(search_expansions=expansions, total_expansions=total)
            for _, policy in policies(truth, random):
                examined = runner(truth, policy, limits=limits, heuristic="blind")
                for state in random.sample(truth.states, 3):
                    found = examined.localize(state)
                    assert examined.violations(state, found, complete=False) == []
                    assert found.limited or not found.undecided_steps
                    assert total is None or found.expanded <= total
                    undecided += len(found.undecided_steps)
    assert undecided


def road(length: int, *slips: int) -> tuple[Truth, Table]:
    """A road on which a policy slips to the next of three lanes at some places.

    A slip costs nothing at once, but at the end of the road 3 for each lane to return.
    """
    rules = [(f"step {x}", {0: x}, {0: x + 1}, 1) for x in range(length)]
    rules += [(f"slip {lane}", {1: lane}, {1: lane + 1}, 0) for lane in (0, 1)]
    rules += [(f"return {lane}", {0: length, 1: lane}, {1: lane - 1}, 3) for lane in (1, 2)]
    truth = Truth.of(task_of((length + 1, 3), rules, (0, 0), {0: length, 1: 0}), everything=True)
    policy = {(x, lane): x for x in range(length) for lane in range(3)}
    policy |= {(place, lane): length + lane for lane, place in enumerate(slips)}
    policy |= {(length, lane): length + 1 + lane for lane in (1, 2)}
    return truth, policy


def test_few_searches_find_one_bad_step_in_a_long_run(runner: MakeRunner) -> None:
    examined = runner(*road(200, 77), heuristic="blind")
    found = examined.localize((0, 0))
    assert examined.violations((0, 0), found) == []
    assert found.bad_steps == (77,)
    step = found.steps[77]
    assert (step.policy_cost_to_go, step.optimal_cost_to_go, step.after_low) == (126, 123, 126)
    assert (step.loss_low, step.loss_high, step.better_operator) == (3, 3, 77)
    assert found.naive_searches == 203
    assert 2 < found.searches <= 10
    assert found.cause is not None
    assert (found.cause.kind, found.cause.state) == (CauseKind.DETOUR, (77, 0))


def test_an_optimal_run_takes_one_search(runner: MakeRunner) -> None:
    found = runner(*road(50)).localize((0, 0))
    assert {step.verdict for step in found.steps} == {StepVerdict.OPTIMAL}
    assert (found.searches, found.cause, found.failure) == (1, None, None)


def test_runs_that_join_share_what_is_known(runner: MakeRunner) -> None:
    examined = runner(*road(100, 20, 80), heuristic="blind")
    first = examined.localize((10, 0))
    assert first.searches > 5
    assert first.bad_steps == (10, 71)
    again = examined.localize((10, 0))
    assert again.searches == 0
    assert [s.verdict for s in again.steps] == [s.verdict for s in first.steps]
    assert examined.localize((50, 1)).searches <= 1
    earlier = examined.localize((0, 0))
    assert earlier.searches <= 1
    assert earlier.bad_steps == (20, 81)
    starts = [(0, 0), (10, 0), (20, 0), (50, 1), (80, 1)]
    causes = {examined.localize(state).cause.state for state in starts}
    assert causes == {(80, 1)}


def test_what_is_known_of_the_middle_of_a_run_spares_searches(runner: MakeRunner) -> None:
    whole = road(200, 95)
    alone = runner(*whole, heuristic="blind").localize((0, 0))
    examined = runner(*whole, heuristic="blind")
    examined.localize((90, 0))
    found = examined.localize((0, 0))
    assert found.bad_steps == alone.bad_steps == (95,)
    assert found.searches == 1 < alone.searches


@pytest.mark.parametrize(
    "known", [{"known_plan": tuple(range(30))}, {"known_bound": 30}, {"known_bound": 31}]
)
@pytest.mark.parametrize("place", [0, 3])
def test_known_plans_and_bounds_are_used(
    runner: MakeRunner, known: dict[str, object], place: int
) -> None:
    examined = runner(*road(30, place), heuristic="blind")
    found = examined.localizer.localize(*examined.run((0, 0)), **known)
    assert examined.violations((0, 0), found) == []
    assert found.bad_steps == (place,)


def test_what_is_too_far_from_the_goal_does_not_hide_the_rest(runner: MakeRunner) -> None:
    """Far from the goal searches are too long; near it they are not."""
    limits = LocalizationLimits(search_expansions=24)
    examined = runner(*road(64, 60), heuristic="blind", limits=limits)
    found = examined.localize((0, 0))
    assert examined.violations((0, 0), found, complete=False) == []
    assert found.bad_steps == (60,)
    assert found.undecided_steps[0] == 0
    assert found.limited
    assert found.steps[60].optimal_cost_to_go == 4
    assert 0 < found.steps[0].optimal_low < 64 == found.steps[0].optimal_high
    assert found.cause is not None
    assert found.searches <= 14


def test_what_was_too_hard_is_tried_again_with_other_limits_only(runner: MakeRunner) -> None:
    few, many = (LocalizationLimits(search_expansions=number) for number in (24, 1000))
    examined = runner(*road(64, 60), heuristic="blind", limits=few)
    first = examined.localize((0, 0))
    again = examined.localize((0, 0))
    assert first.searches > again.searches == 0
    assert again.undecided_steps == first.undecided_steps
    assert examined.localize((20, 0)).searches <= 1
    longer = examined.localizer.localize(*examined.run((0, 0)), limits=many)
    assert not longer.limited
    assert longer.bad_steps == (60,)


def test_a_goal_state_has_no_steps(runner: MakeRunner) -> None:
    found = runner(*road(3)).localize((3, 0))
    assert (found.steps, found.cause, found.searches, found.limited) == ((), None, 0, False)


def test_progress_is_reported_after_every_search(runner: MakeRunner) -> None:
    heard: list[Searched] = []
    found = runner(*road(40, 7), heuristic="blind", emit=heard.append).localize((0, 0))
    assert [event.searches for event in heard] == list(range(1, found.searches + 1))
    assert heard[-1] == Searched(found.searches, found.expanded, 42, 42)
    assert sorted(event.decided for event in heard) == [event.decided for event in heard]


def test_stopping_keeps_what_is_known(runner: MakeRunner) -> None:
    control = Control()

    def stop_after_three(event: Searched) -> None:
        if event.searches == 3:
            control.cancel()

    examined = runner(*road(40, 10), heuristic="blind", control=control, emit=stop_after_three)
    found = examined.localize((0, 0))
    assert found.searches == 3
    assert found.limited
    assert 0 < len(found.undecided_steps) < 41
    assert examined.violations((0, 0), found, complete=False) == []


@pytest.mark.parametrize("options", [{"heuristic": "ff"}, {"algorithm": "guessing"}])
def test_what_proves_nothing_is_refused(runner: MakeRunner, options: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=r"may overestimate|unknown algorithm 'guessing'"):
        runner(*road(5), **options)


def test_time_is_a_limit_too(runner: MakeRunner) -> None:
    limits = LocalizationLimits(total_seconds=0.0)
    found = runner(*road(40, 30), limits=limits).localize((0, 0))
    assert found.searches == 0
    assert len(found.undecided_steps) == 42


def test_the_decision_at_the_end_must_close_a_loop(runner: MakeRunner) -> None:
    examined = runner(*road(5))
    (start,) = examined.runs.table.add((0, 0)).tolist()
    run = PolicyRun(RunOutcome.FAILED, EndReason.LOOP, None, (start,), ())
    with pytest.raises(ValueError, match="does not close a loop"):
        examined.localizer.localize(run, 0)


def test_gaps_fall_by_what_each_bad_step_loses(runner: MakeRunner) -> None:
    random = Random(5)
    seen = 0
    while seen < 10:
        truth = Truth.of(random_task(random))
        policy = dict(policies(truth, random))["roundabout"]
        examined = runner(truth, policy)
        for state in truth.states[:20]:
            cost = truth.policy_cost(policy, state)
            if cost == fdr.INFINITY:
                continue
            found = examined.localize(state)
            losses = sum(step.loss_low for step in found.steps)
            assert losses == cost - truth.hstar[state]
            assert (found.cause is not None) == (losses > 0)
            seen += losses > 0
