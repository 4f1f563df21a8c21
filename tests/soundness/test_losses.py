"""What steps lose, held against h* of every state, on random tasks (pitfall W21)."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from msgspec.structs import replace
from reference import fdr
from reference.amount import amount
from reference.localizing import Runner
from reference.soundness import Truth, policies, random_task

from engine.localize.localizer import ALGORITHMS
from engine.localize.losses import share_gap
from engine.localize.run_searches import LocalizationLimits
from engine.records.finding import INFINITY, RunOutcome
from engine.records.localization import CauseKind, Localization

TASKS = amount(60, 8)


def identities(examined: Runner, state: fdr.State, found: Localization) -> list[str]:
    """Which sums of losses are wrong; all losses have to be known exactly."""
    truth, steps = examined.truth, found.steps
    wrong = [f"step {s.index} is not exact" for s in steps if s.loss_low != s.loss_high]
    wrong += [f"step {s.index} loses after the goal" for s in steps if s.lost and s.loss_high]
    run, _ = examined.run(state)
    if run.outcome is RunOutcome.SOLVED:
        gap = (run.cost or 0) - truth.hstar[state]
        if sum(step.loss_low for step in steps) != gap:
            wrong.append(f"the losses do not add up to the gap of {gap}")
    cause, failure = found.cause, found.failure
    if cause is not None and cause.kind is CauseKind.LOOP and failure and failure.loop_begin:
        round_ = steps[failure.loop_begin :]
        cost = sum(truth.task.operators[step.operator].cost for step in round_)
        if sum(step.loss_low for step in round_) != cost:
            wrong.append(f"the losses of a round do not add up to its cost of {cost}")
        if cost and not any(step.loss_low for step in round_):
            wrong.append("a loop that costs something has no bad step")
    return wrong


@pytest.mark.parametrize("algorithm", ["bisection", "sms"])
def test_w21_losses_add_up_to_the_gap_and_to_the_cost_of_a_round(algorithm: str) -> None:
    random = Random(2100)
    seen: Counter[str] = Counter()
    for _ in range(TASKS):
        truth = Truth.of(random_task(random))
        for _, policy in policies(truth, random):
            examined = Runner.of(truth, policy, algorithm=algorithm)
            for state in random.sample(truth.states, 8):
                found = examined.localize(state)
                assert examined.violations(state, found, plans=False) == []
                if algorithm == "bisection":  # others compare two costs without finding them
                    assert identities(examined, state, found) == []
                seen[found.cause.kind if found.cause else ""] += 1
                seen["lost"] += any(step.lost for step in found.steps)
                seen["several"] += len(found.bad_steps) > 1
    assert all(seen[kind] for kind in (*CauseKind, "lost", "several"))


@pytest.mark.parametrize("algorithm", [a for a in ALGORITHMS if a != "pms-lama"])
def test_w21_intervals_contain_the_true_loss_within_any_limit(algorithm: str) -> None:
    random = Random(2200)
    undecided = 0
    for _ in range(max(TASKS // 4, 2)):
        truth = Truth.of(random_task(random))
        for expansions in (1, 3, 9):
            limits = LocalizationLimits(search_expansions=expansions)
            for _, policy in policies(truth, random):
                examined = Runner.of(
                    truth, policy, algorithm=algorithm, limits=limits, heuristic="blind"
                )
                for state in random.sample(truth.states, 3):
                    found = examined.localize(state)
                    assert examined.violations(state, found, complete=False, plans=False) == []
                    undecided += len(found.undecided_steps)
    assert undecided


def test_w21_sharing_the_gap_never_leaves_out_the_true_loss() -> None:
    """Bounds of any quality around the truth, made tighter by what other steps lose."""
    random, tighter = Random(2250), 0
    for _ in range(TASKS):
        truth = Truth.of(random_task(random))
        examined = Runner.of(truth, dict(policies(truth, random))["roundabout"])
        for state in truth.states[:20]:
            steps = examined.localize(state).steps
            if not steps or any(step.loss_low == INFINITY for step in steps):
                continue
            gap = sum(step.loss_low for step in steps)
            wider = [
                replace(
                    step,
                    loss_low=random.randint(0, step.loss_low),
                    loss_high=step.loss_high + random.randint(0, 3),
                )
                for step in steps
            ]
            for step, wide, shared in zip(
                steps, wider, share_gap(wider, gap + random.randint(0, 2)), strict=True
            ):
                assert shared.loss_low <= step.loss_low <= shared.loss_high <= wide.loss_high
                tighter += shared.loss_high < wide.loss_high
    assert tighter


def test_w21_a_loss_that_is_too_small_is_noticed() -> None:
    """The harness sees an interval that leaves out the truth."""
    random = Random(2300)
    seen = 0
    while seen < 10:
        truth = Truth.of(random_task(random))
        examined = Runner.of(truth, dict(policies(truth, random))["roundabout"])
        for state in truth.states[:20]:
            found = examined.localize(state)
            for k in found.bad_steps:
                step = found.steps[k]
                less = replace(step, loss_low=0, loss_high=step.loss_high - 1)
                changed = replace(found, steps=(*found.steps[:k], less, *found.steps[k + 1 :]))
                assert examined.violations(state, changed) != []
                seen += 1
