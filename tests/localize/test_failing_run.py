"""Runs that do not reach the goal: what lost it, or what the policy did instead."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from reference import fdr
from reference.small_tasks import task_of
from reference.soundness import Truth, policies, random_task

from engine.localize.run_searches import LocalizationLimits
from engine.policies.policy import NO_ACTION, NO_OPERATION
from engine.records.localization import CauseKind, Localization, StepVerdict

MakeRunner = Callable[..., Any]


def failure_violations(truth: Truth, states: list[fdr.State], found: Localization) -> list[str]:
    """Compare the claims about solvability with the truth."""
    solvable = [truth.hstar[state] != fdr.INFINITY for state in states]
    failure = found.failure
    assert failure is not None
    last, first = failure.last_solvable, failure.first_unsolvable
    wrong = []
    if last is not None and not solvable[last]:
        wrong.append(f"state {last} is called solvable")
    if first is not None and solvable[first]:
        wrong.append(f"state {first} is called unsolvable")
    if last is not None:
        plan = failure.plan
        cost = fdr.plan_cost(truth.task, plan, states[last], truth.task.goal)
        if plan is None or cost is None:
            wrong.append("there is no plan from the last solvable state")
    if found.cause is not None and found.cause.kind is CauseKind.DEAD_END:
        k = found.cause.index
        if not (solvable[k] and not solvable[k + 1]):
            wrong.append(f"step {k} does not lose the goal")
    if not found.limited:
        if last != max((k for k, yes in enumerate(solvable) if yes), default=None):
            wrong.append(f"{last} is not the last solvable state")
        if (found.cause is None) != (not solvable[0]):
            wrong.append("there must be a cause if and only if there was a plan")
    return wrong


@pytest.mark.parametrize("expansions", [None, 1, 3])
def test_failures_are_understood(runner: MakeRunner, expansions: int | None) -> None:
    random = Random(3000)
    limits = LocalizationLimits(search_expansions=expansions)
    kinds = set()
    for _ in range(8):
        truth = Truth.of(random_task(random))
        for _, policy in policies(truth, random):
            examined = runner(truth, policy, limits=limits)
            for state in random.sample(truth.states, 8):
                found = examined.localize(state)
                assert examined.violations(state, found, complete=expansions is None) == []
                if found.failure is not None:
                    states = examined.states(state, found)
                    assert failure_violations(truth, states, found) == []
                    kinds.add(found.cause and found.cause.kind)
    expected = {CauseKind.LOOP, CauseKind.DEAD_END, CauseKind.NO_ACTION, CauseKind.FAULT}
    assert kinds - {None} == expected


def corridor(circle: int) -> Truth:
    """Places 0..5 to the goal 6; from 3 one can fall to 7, and from there walk on to 8 and 9.

    From place 1 one can turn in a circle over 10 and 11, and in place 2 stay.
    """
    rules = [(f"step {x}", {0: x}, {0: x + 1}, 1) for x in range(6)]
    rules += [("fall", {0: 3}, {0: 7}, 0), ("stumble", {0: 7}, {0: 8}, 1)]
    rules += [("crawl", {0: 8}, {0: 9}, 1), ("out", {0: 1}, {0: 10}, circle)]
    rules += [("round", {0: 10}, {0: 11}, circle), ("back", {0: 11}, {0: 1}, circle)]
    rules += [("stay", {0: 2}, {0: 2}, 1), ("rest", {0: 2}, {0: 2}, 0)]
    return Truth.of(task_of((12,), rules, (0,), {0: 6}))


FALL, STUMBLE, CRAWL, OUT, ROUND, BACK, STAY, REST = range(6, 14)
TRUTH, FREE_TURN = corridor(1), corridor(0)
STEPS = {(x,): x for x in range(6)}
TURN = STEPS | {(1,): OUT, (10,): ROUND, (11,): BACK}


def causes(found: Localization) -> tuple[CauseKind, tuple[int, ...], int | None] | None:
    return found.cause and (found.cause.kind, found.cause.state, found.cause.operator)


@pytest.mark.parametrize("end", [{}, {(9,): -7}])
def test_the_step_into_the_trap_is_the_root_cause(runner: MakeRunner, end: dict[Any, int]) -> None:
    policy = STEPS | {(3,): FALL, (7,): STUMBLE, (8,): CRAWL} | end
    found = runner(TRUTH, policy).localize((0,))
    assert causes(found) == (CauseKind.DEAD_END, (3,), FALL)
    assert found.failure is not None
    assert (found.failure.last_solvable, found.failure.first_unsolvable) == (3, 4)
    assert found.failure.plan == (3, 4, 5)
    assert found.bad_steps == (3,)
    assert [step.lost for step in found.steps] == [False, False, False, False, True, True]
    assert {step.verdict for step in found.steps[4:]} == {StepVerdict.OPTIMAL}
    assert found.steps[3].loses_goal
    assert found.worst_step == 3
    assert found.searches < found.naive_searches


def test_a_loop_has_the_same_root_cause_wherever_it_is_entered(runner: MakeRunner) -> None:
    examined = runner(TRUTH, TURN)
    found = {start: examined.localize((start,)) for start in (0, 1, 10, 11)}
    assert {causes(item) for item in found.values()} == {(CauseKind.LOOP, (1,), OUT)}
    assert found[0].failure is not None
    assert found[0].failure.loop_begin == 1
    assert found[0].failure.first_unsolvable is None
    assert found[0].bad_steps == (1,)
    assert [step.operator for step in found[0].steps] == [0, OUT, ROUND, BACK]
    assert found[10].failure is not None
    assert found[10].failure.loop_begin == 0


def test_in_a_loop_without_costs_every_step_can_be_optimal(runner: MakeRunner) -> None:
    examined = runner(FREE_TURN, TURN)
    for start in (0, 1, 10, 11):
        found = examined.localize((start,))
        assert found.bad_steps == ()
        assert causes(found) == (CauseKind.LOOP, (1,), OUT)
        assert examined.violations((start,), found) == []


@pytest.mark.parametrize(("choice", "bad"), [(STAY, (2,)), (REST, ())])
def test_a_step_that_leads_nowhere(runner: MakeRunner, choice: int, bad: tuple[int, ...]) -> None:
    for expansions in (None, 1):
        limits = LocalizationLimits(search_expansions=expansions)
        found = runner(TRUTH, STEPS | {(2,): choice}, limits=limits).localize((0,))
        assert found.failure is not None
        assert found.failure.loop_begin == 2
        if expansions is None:
            assert causes(found) == (CauseKind.LOOP, (2,), choice)
            assert found.bad_steps == bad


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (NO_ACTION, CauseKind.NO_ACTION),
        (NO_OPERATION, CauseKind.LOOP),
        (STUMBLE, CauseKind.FAULT),
    ],
)
def test_a_policy_without_a_usable_answer(runner: MakeRunner, answer: int, kind: CauseKind) -> None:
    found = runner(TRUTH, STEPS | {(4,): answer}).localize((0,))
    assert causes(found) == (kind, (4,), None)
    assert found.bad_steps == ()
    assert found.searches < found.naive_searches


def test_a_long_run_that_gives_up_late_takes_few_searches(runner: MakeRunner) -> None:
    steps = [(f"step {x}", {0: x}, {0: x + 1}, 1) for x in range(100)]
    truth = Truth.of(task_of((101,), steps, (0,), {0: 100}))
    found = runner(truth, {(x,): x for x in range(98)}).localize((0,))
    assert causes(found) == (CauseKind.NO_ACTION, (98,), None)
    assert found.searches <= 3


def test_giving_up_in_a_trap_goes_back_to_what_led_there(runner: MakeRunner) -> None:
    found = runner(TRUTH, STEPS | {(3,): FALL, (7,): NO_ACTION}).localize((2,))
    assert causes(found) == (CauseKind.DEAD_END, (3,), FALL)


def test_where_there_never_was_a_plan_nothing_is_bad(runner: MakeRunner) -> None:
    found = runner(TRUTH, {(7,): STUMBLE, (8,): CRAWL}).localize((7,))
    assert found.cause is None
    assert found.failure is not None
    assert (found.failure.last_solvable, found.failure.first_unsolvable) == (None, 0)
    assert not found.limited


def test_a_stopped_run_tells_what_is_known(runner: MakeRunner) -> None:
    """Nothing is lost yet, but what was walked holds a bad step already, or none."""
    found = runner(TRUTH, TURN).localize((0,), step_limit=3)
    assert causes(found) == (CauseKind.DETOUR, (1,), OUT)
    assert found.failure is not None
    assert found.failure.last_solvable == 3
    assert found.steps[0].policy_cost_to_go is None
    found = runner(TRUTH, STEPS).localize((0,), step_limit=3)
    assert (found.bad_steps, found.cause) == ((), None)
    fallen = STEPS | {(3,): FALL, (7,): STUMBLE, (8,): CRAWL}
    found = runner(TRUTH, fallen).localize((0,), step_limit=5)
    assert causes(found) == (CauseKind.DEAD_END, (3,), FALL)


class Broken:
    """Walks the corridor and raises in one place."""

    def decide(self, states: Any) -> Any:
        if (states == 4).any():
            raise ValueError("it broke")
        return states[:, 0]


def test_a_policy_that_raises_is_a_fault(runner: MakeRunner) -> None:
    examined = runner(TRUTH, STEPS)
    examined.runs.policy = Broken()
    found = examined.localize((0,))
    assert causes(found) == (CauseKind.FAULT, (4,), None)


START, HOME, TRAP, DROWNED, ROAD, GATE = range(6)


def trap() -> Truth:
    """A road with a gate, home beside it, and behind the gate a trap with a large space of its own.

    The key that one needs in the trap breaks in the first of two locks, which no relaxation
    notices: a search must look at all positions of three dials to know that it is one.
    """
    zero = dict.fromkeys(range(1, 7), 0)
    rules = [("walk", {0: START}, {0: ROAD}, 1), ("walk on", {0: ROAD}, {0: GATE}, 1)]
    rules += [("in", {0: GATE}, {0: TRAP}, 1), ("drown", {0: TRAP}, {0: DROWNED}, 1)]
    rules += [(f"home {x}", {0: x}, {0: HOME}, 1) for x in (START, ROAD, GATE)]
    rules += [(f"open {v}", {0: TRAP, 4: 0}, {4: 1, v: 1}, 1) for v in (5, 6)]
    rules += [("leave", {0: TRAP, 1: 3, 2: 3, 3: 3, 5: 1, 6: 1}, {0: HOME}, 1)]
    rules += [
        (f"turn {dial} {x}", {0: TRAP, dial: x}, {dial: (x + 1) % 6}, 1)
        for dial in (1, 2, 3)
        for x in range(6)
    ]
    sizes, init = (6, 6, 6, 6, 2, 2, 2), (START, *zero.values())
    return Truth.of(task_of(sizes, rules, init, {0: HOME}))


def test_a_limit_is_no_proof_of_a_dead_end(runner: MakeRunner) -> None:
    """Drowned is drowned, which every heuristic sees; but had it begun before?"""
    truth = trap()
    names = {operator.name: number for number, operator in enumerate(truth.task.operators)}
    still = (0,) * 6
    walks = {
        (START, *still): names["walk"],
        (ROAD, *still): names["walk on"],
        (GATE, *still): names["in"],
    }
    for turns in (0, 4):
        stays = walks | {(TRAP, x, *still[1:]): names[f"turn 1 {x}"] for x in range(turns)}
        drowns = stays | {(TRAP, turns, *still[1:]): names["drown"]}
        for policy, first in ((stays, None), (drowns, 4 + turns)):
            limits = LocalizationLimits(search_expansions=20)
            found = runner(truth, policy, limits=limits).localize((START, *still))
            assert found.failure is not None
            assert (found.failure.last_solvable, found.failure.first_unsolvable) == (2, first)
            assert (found.cause, found.limited) == (None, True)
            assert found.steps[2].verdict is StepVerdict.UNDECIDED
            found = runner(truth, policy).localize((START, *still))
            assert causes(found) == (CauseKind.DEAD_END, (GATE, *still), names["in"])
