"""Which step of a run is the worst, and what it is called (pitfall W22)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace
from reference.small_tasks import task_of
from reference.soundness import Table, Truth

from engine.localize.losses import find_worst_step, loss_between, share_gap
from engine.localize.run_searches import LocalizationLimits
from engine.policies.policy import NO_ACTION
from engine.records.finding import INFINITY
from engine.records.localization import CauseKind, Localization, LocalizedStep, StepVerdict
from engine.report.loss_text import describe_losses, loss_words, step_loss_cell

MakeRunner = Callable[..., Any]
BAD, UNDECIDED, OPTIMAL = StepVerdict.NOT_OPTIMAL, StepVerdict.UNDECIDED, StepVerdict.OPTIMAL


def road(length: int, detours: dict[int, int]) -> tuple[Truth, Table]:
    """Places in a row, a step costs 1; a policy that steps at a higher price at some of them."""
    rules = [(f"step {x}", {0: x}, {0: x + 1}, 1) for x in range(length)]
    rules += [(f"crawl {x}", {0: x}, {0: x + 1}, 1 + loss) for x, loss in detours.items()]
    truth = Truth.of(task_of((length + 1,), rules, (0,), {0: length}))
    policy = {(x,): x for x in range(length)}
    return truth, policy | {(x,): length + k for k, x in enumerate(detours)}


@pytest.mark.parametrize(
    ("detours", "worst", "sentence"),
    [
        (
            {2: 20},
            2,
            "Step 3 (crawl 2) costs 20 more than necessary; everything after it is optimal.",
        ),
        (
            {1: 23, 3: 5, 4: 3},
            1,
            "Step 2 (crawl 1) costs 23 of the 31 too much; the last of 3 bad steps is step 5 (+3), "
            "everything after it is optimal.",
        ),
        (
            {1: 3, 4: 7},
            4,
            "Step 5 (crawl 4) costs 7 of the 10 too much; it is the last of 2 bad steps, "
            "everything after it is optimal.",
        ),
    ],
)
def test_w22_the_worst_step_comes_first_in_words(
    runner: MakeRunner, detours: dict[int, int], worst: int, sentence: str
) -> None:
    found = runner(*road(8, detours)).localize((0,))
    assert (found.worst_step, found.worst_action) == (worst, f"crawl {worst}")
    assert found.worst_loss == (detours[worst], detours[worst])
    assert found.cause.index == max(detours)
    assert describe_losses(found) == sentence
    assert [step_loss_cell(step) for step in found.steps] == [
        f"+{detours[k]}" if k in detours else "" for k in range(8)
    ]


def test_w22_of_equal_losses_the_last_is_the_worst_so_that_it_is_the_root_cause(
    runner: MakeRunner,
) -> None:
    found = runner(*road(8, {1: 4, 3: 4, 6: 4})).localize((0,))
    assert found.worst_step == found.cause.index == 6
    found = runner(*road(8, {1: 4, 3: 4, 6: 1})).localize((0,))
    assert (found.worst_step, found.cause.index) == (3, 6)


def test_w22_a_run_whose_only_bad_step_is_its_last(runner: MakeRunner) -> None:
    found = runner(*road(5, {4: 2})).localize((0,))
    assert found.bad_steps == (4,)
    assert (found.worst_step, found.cause.index) == (4, 4)
    assert describe_losses(found).startswith("Step 5 (crawl 4) costs 2 more than necessary;")


def test_w22_a_dead_end_whose_run_continues_for_100_steps(runner: MakeRunner) -> None:
    """The step that loses the goal is the worst; those after it lose nothing more."""
    rules = [("go", {0: 0}, {0: 1}, 1), ("end", {0: 1}, {0: 2}, 1), ("fall", {0: 1}, {0: 3}, 1)]
    rules += [(f"crawl {x}", {0: x}, {0: x + 1}, 5) for x in range(3, 103)]
    truth = Truth.of(task_of((104,), rules, (0,), {0: 2}))
    policy = {(0,): 0, (1,): 2} | {(x,): x for x in range(3, 103)}
    found = runner(truth, policy).localize((0,))
    assert len(found.steps) == 102
    assert found.cause.kind is CauseKind.DEAD_END
    assert (found.worst_step, found.worst_action) == (1, "fall")
    assert found.worst_loss == (INFINITY, INFINITY)
    assert {(step.loss_low, step.loss_high) for step in found.steps[2:]} == {(0, 0)}
    assert describe_losses(found) == "After step 2 (fall) the goal cannot be reached."
    cells = [step_loss_cell(step) for step in found.steps]
    assert (cells[0], cells[1], set(cells[2:])) == ("", "lost", {"-"})


def loop(*costs: int) -> tuple[Truth, Table]:
    """From place 1 a circle of steps with these costs leads back; the goal is one step away."""
    size = len(costs)
    rules = [("go", {0: 0}, {0: 1}, 1), ("end", {0: 1}, {0: size + 1}, 1)]
    places = [1, *range(2, size + 1), 1]
    rules += [
        (f"turn {k}", {0: places[k]}, {0: places[k + 1]}, cost) for k, cost in enumerate(costs)
    ]
    truth = Truth.of(task_of((size + 2,), rules, (0,), {0: size + 1}))
    return truth, {(0,): 0} | {(places[k],): 2 + k for k in range(size)}


@pytest.mark.parametrize(
    ("costs", "worst", "sentence"),
    [
        (
            (1, 1, 1),
            1,
            "Steps 2 to 4 repeat forever; step 2 (turn 0) leads away from the goal (+3).",
        ),
        ((0, 0, 0), 1, "Steps 2 to 4 repeat forever, although each of them is optimal by itself."),
        ((4,), 1, "Step 2 repeats forever; step 2 (turn 0) leads away from the goal (+4)."),
    ],
)
def test_w22_the_worst_step_of_a_loop_is_in_the_loop(
    runner: MakeRunner, costs: tuple[int, ...], worst: int, sentence: str
) -> None:
    found = runner(*loop(*costs)).localize((0,))
    assert found.cause.kind is CauseKind.LOOP
    assert found.worst_step == worst
    assert describe_losses(found) == sentence
    assert sum(step.loss_low for step in found.steps[1:]) == sum(costs)


def test_w22_a_policy_that_stops_loses_where_it_stops(runner: MakeRunner) -> None:
    truth, policy = road(6, {2: 9})
    found = runner(truth, policy | {(4,): NO_ACTION}).localize((0,))
    assert found.cause.kind is CauseKind.NO_ACTION
    assert (found.worst_step, found.worst_action, found.worst_loss) == (4, "", (0, 0))
    text = "After step 4 the policy chooses no action, but the goal can be reached."
    assert describe_losses(found) == text
    at_once = runner(truth, policy | {(0,): NO_ACTION}).localize((0,))
    assert at_once.worst_step == 0
    assert describe_losses(at_once).startswith("At once the policy chooses no action")


def test_a_plan_for_the_first_state_is_found_on_every_kind_of_run(runner: MakeRunner) -> None:
    truth, policy = road(6, {2: 9})
    assert runner(truth, policy).localize((0,)).better_plan == (0, 1, 2, 3, 4, 5)
    assert runner(truth, policy | {(4,): NO_ACTION}).localize((0,)).better_plan is not None
    assert runner(*road(6, {})).localize((0,)).better_plan is None


def step(index: int, verdict: StepVerdict, low: int, high: int) -> LocalizedStep:
    return LocalizedStep(index, 0, verdict, None, 0, 0, 0, 0, low, high)


@pytest.mark.parametrize(
    ("bounds", "verdict", "expected"),
    [
        ((7, 7, 9, 9), BAD, (2, 2)),
        ((5, 7, 9, INFINITY), BAD, (2, INFINITY)),
        ((5, 9, 7, 11), BAD, (1, 6)),  # proven without finding both costs
        ((5, 9, 7, 11), OPTIMAL, (0, 0)),
        ((5, 9, 7, 11), UNDECIDED, (0, 6)),
        ((7, 7, INFINITY, INFINITY), BAD, (INFINITY, INFINITY)),
        ((7, INFINITY, INFINITY, INFINITY), UNDECIDED, (0, INFINITY)),
        ((INFINITY,) * 4, OPTIMAL, (0, 0)),
    ],
)
def test_bounds_on_both_costs_bound_the_loss(
    bounds: tuple[int, int, int, int], verdict: StepVerdict, expected: tuple[int, int]
) -> None:
    assert loss_between(verdict, *bounds) == expected


def test_a_step_cannot_lose_what_others_are_proven_to_lose() -> None:
    steps = [step(0, BAD, 3, 9), step(1, UNDECIDED, 0, 9), step(2, BAD, 4, 9)]
    shared = share_gap(steps, 8)
    assert [(item.loss_low, item.loss_high) for item in shared] == [(3, 4), (0, 1), (4, 5)]
    nothing_left = share_gap(steps, 7)
    assert [item.verdict for item in nothing_left] == [BAD, OPTIMAL, BAD]
    assert [item.loss_high for item in nothing_left] == [3, 0, 4]


def test_losses_in_words() -> None:
    cases = {
        "+23": step(0, BAD, 23, 23),
        "+5 or more": step(0, BAD, 5, INFINITY),
        "+5 to +9": step(0, BAD, 5, 9),
        "0 to +4, undecided": step(0, UNDECIDED, 0, 4),
        "undecided": step(0, UNDECIDED, 0, INFINITY),
        "loses the goal": step(0, BAD, INFINITY, INFINITY),
        "": step(0, OPTIMAL, 0, 0),
        "-": replace(step(0, OPTIMAL, 0, 0), optimal_low=INFINITY, optimal_high=INFINITY),
    }
    assert {loss_words(item): text for text, item in cases.items()} == {t: t for t in cases}


def test_what_limits_leave_open_is_reported(runner: MakeRunner) -> None:
    limits = LocalizationLimits(search_expansions=1)
    found = runner(*road(30, {3: 2}), limits=limits, heuristic="blind").localize((0,))
    assert found.undecided_steps
    assert describe_losses(found).endswith("undecided.")
    nothing = Localization((), None, None, 0, 0, 0, 0.0)
    assert find_worst_step((), None, None) is None
    assert describe_losses(nothing) == "No step is bad."
    assert describe_losses(replace(nothing, limited=True)).startswith("No step was proven bad")
