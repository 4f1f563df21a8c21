"""What localizing says on random tasks holds, and what is made of it does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import pytest
from msgspec.structs import replace
from reference import fdr
from reference.soundness import Table, Truth, optimal_policy, policies, random_task

from engine.localize.localizer import Localizer
from engine.localize.run_searches import LocalizationLimits
from engine.records.evidence import Evidence, State, Walk
from engine.records.finding import INFINITY, BugKind, EndReason, Finding, Run, RunOutcome
from engine.records.localization import Cause, CauseKind, Failure, Localization, StepVerdict
from engine.records.verification import HOLDS, Standing
from engine.report.loss_text import describe_losses
from engine.task.states import StateTable
from engine.verify.claims import better_evidence, find_description_problem, find_problem
from engine.verify.cost_to_go import CostToGo
from engine.verify.localization import check_cause, check_localization


def follow(truth: Truth, policy: Table, state: State) -> Run:
    """The run of a policy that is a table."""
    states, operators = [state], list[int]()
    while not fdr.holds(truth.task.goal, states[-1]):
        choice = policy.get(states[-1], -1)
        if choice < 0:
            return Run(RunOutcome.FAILED, EndReason.NO_ACTION, None, tuple(operators), -1)
        following = fdr.apply(truth.task, truth.task.operators[choice], states[-1])
        if following in states:
            return Run(RunOutcome.FAILED, EndReason.LOOP, None, tuple(operators), choice)
        states.append(following)
        operators.append(choice)
    cost = sum(truth.task.operators[o].cost for o in operators)
    return Run(RunOutcome.SOLVED, EndReason.GOAL, cost, tuple(operators))


def bugs(truth: Truth, policy: Table) -> Iterator[Finding]:
    best = optimal_policy(truth)
    for state in truth.states:
        if truth.policy_cost(policy, state) > truth.hstar[state]:
            run, plan = follow(truth, policy, state), follow(truth, best, state)
            kind = BugKind.FAILS if run.cost is None else BugKind.TOO_EXPENSIVE
            assert plan.cost is not None
            walk = Walk(plan.operators, "best")
            evidence = Evidence(state, (walk,), plan.cost)
            yield Finding(state, kind, run, plan.cost, evidence, "best")


def applicable_policies(truth: Truth, random: Random) -> Iterator[Table]:
    for _, policy in policies(truth, random):
        yield {
            state: choice
            for state, choice in policy.items()
            if choice < 0 or fdr.holds(truth.task.operators[choice].precondition, state)
        }


@pytest.mark.parametrize("algorithm", ["bisection", "aoca"])
@pytest.mark.parametrize("expansions", [None, 4])
@pytest.mark.parametrize("seed", range(3))
def test_what_localizing_says_holds(seed: int, expansions: int | None, algorithm: str) -> None:
    random = Random(seed)
    truth = Truth.of(random_task(random))
    costs = CostToGo(truth.task)
    costs.explore(truth.states)
    blind = CostToGo(truth.task, 0)
    limits = LocalizationLimits(search_expansions=expansions)
    causes = 0
    for policy in applicable_policies(truth, random):
        localizer = Localizer(StateTable(truth.task), algorithm=algorithm)
        for finding in list(bugs(truth, policy))[:12]:
            found = localizer.localize_finding(finding, limits)
            assert check_localization(finding, found, truth.task, costs) == HOLDS
            assert check_cause(finding, found, truth.task) == HOLDS
            unsure = check_localization(finding, found, truth.task, blind)
            assert unsure.standing is not Standing.FALSE
            causes += found.cause is not None
    assert causes


@pytest.fixture(scope="module")
def example() -> tuple[Truth, CostToGo, Finding, Localization]:
    """A run that reaches the goal with good and bad steps."""
    for seed in range(50):
        random = Random(seed)
        truth = Truth.of(random_task(random))
        costs = CostToGo(truth.task)
        costs.explore(truth.states)
        for policy in applicable_policies(truth, random):
            localizer = Localizer(StateTable(truth.task))
            for finding in bugs(truth, policy):
                found = localizer.localize_finding(finding)
                verdicts = {step.verdict for step in found.steps}
                if finding.run.cost is not None and len(verdicts) == 2:
                    return truth, costs, finding, found
    raise AssertionError("no such run")


def bad_step(**changes: object) -> Callable[[Localization], Localization]:
    def change(found: Localization) -> Localization:
        index = found.bad_steps[0]
        steps = list(found.steps)
        steps[index] = replace(steps[index], **changes)
        return replace(found, steps=tuple(steps))

    return change


CHANGES: dict[str, Callable[[Localization], Localization]] = {
    "a good step": bad_step(verdict=StepVerdict.OPTIMAL),
    "an undecided step": bad_step(verdict=StepVerdict.UNDECIDED),
    "no plan": bad_step(better_plan=None),
    "another plan": bad_step(better_plan=(0, 0, 0, 0)),
    "another action": bad_step(better_operator=None),
    "a smaller h*": bad_step(optimal_low=0, optimal_high=0),
    "a larger policy cost": bad_step(policy_cost_to_go=10**6),
    "no steps": lambda found: replace(found, steps=()),
    "a limit": lambda found: replace(found, limited=not found.limited),
    "a smaller loss": bad_step(loss_low=0),
    "a larger loss": bad_step(loss_high=10**6),
    "a lost goal": bad_step(loss_low=INFINITY, loss_high=INFINITY),
    "another worst step": lambda found: replace(found, worst_step=0 if found.worst_step else 1),
    "no worst step": lambda found: replace(found, worst_step=None),
    "another worst action": lambda found: replace(found, worst_action="another"),
    "no better plan": lambda found: replace(found, better_plan=None),
    "a plan that costs more": lambda found: replace(
        found, better_plan=tuple(step.operator for step in found.steps)
    ),
    "more searches": lambda found: replace(found, naive_searches=found.naive_searches + 1),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_made_of_it_is_false(
    name: str, example: tuple[Truth, CostToGo, Finding, Localization]
) -> None:
    truth, costs, finding, found = example
    assert check_localization(finding, found, truth.task, costs) == HOLDS
    changed = CHANGES[name](found)
    assert check_localization(finding, changed, truth.task, costs).standing is Standing.FALSE


def without_bad_steps(
    finding: Finding, found: Localization, truth: Truth, bounds: list[tuple[int, int]]
) -> Localization:
    """All steps are called optimal, and all that follows agrees; the last state is the goal."""
    costs = [truth.task.operators[number].cost for number in finding.run.operators]
    steps = tuple(
        replace(
            step,
            verdict=StepVerdict.OPTIMAL,
            optimal_low=low,
            optimal_high=high,
            after_low=after[0] + cost,
            after_high=after[1] + cost,
            loss_low=0,
            loss_high=0,
            better_operator=None,
            better_plan=None,
        )
        for step, cost, (low, high), after in zip(
            found.steps, costs, bounds, [*bounds[1:], (0, 0)], strict=True
        )
    )
    return replace(
        found,
        steps=steps,
        cause=None,
        limited=False,
        worst_step=None,
        worst_action="",
        better_plan=None,
    )


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ("the run is the cheapest plan", "state 0 of the run: a plan costs"),
        ("nothing is known but the verdicts", "it is not-optimal, not optimal"),
        ("a state is cheap, but no plan says so", "every plan costs more than"),
    ],
)
def test_lies_that_agree_with_each_other_are_false(
    claim: str, reason: str, example: tuple[Truth, CostToGo, Finding, Localization]
) -> None:
    """Nothing but the costs-to-go that the verifier finds itself contradicts them."""
    truth, costs, finding, found = example
    left = [step.policy_cost_to_go or 0 for step in found.steps]
    bounds = [(0, cost) for cost in left]
    if claim.startswith("the run"):
        bounds = [(cost, cost) for cost in left]
    elif claim.startswith("a state"):
        state = fdr.apply(truth.task, truth.task.operators[found.steps[0].operator], finding.state)
        cheap = truth.task.operators[found.steps[1].operator].cost
        assert cheap < truth.hstar[state]
        bounds[1] = (0, cheap)
    lie = without_bad_steps(finding, found, truth, bounds)
    verdict = check_localization(finding, lie, truth.task, costs)
    assert verdict.standing is Standing.FALSE
    assert reason in verdict.reason


def test_localizing_improves_a_bound_that_is_not_the_best() -> None:
    """A plan that is cheaper than the evidence becomes the evidence; one that is not does not."""
    random, improved = Random(5), 0
    for _ in range(6):
        truth = Truth.of(random_task(random))
        others = list(applicable_policies(truth, random))
        localizer = Localizer(StateTable(truth.task))
        for finding in (item for policy in others for item in bugs(truth, policy)):
            assert better_evidence(finding, localizer.localize_finding(finding), truth.task) is None
            for other in others:
                plan = follow(truth, other, finding.state)
                if plan.cost is None or plan.cost <= finding.bound:
                    continue
                walk = Walk(plan.operators, "other")
                evidence = Evidence(finding.state, (walk,), plan.cost)
                worse = replace(finding, bound=plan.cost, evidence=evidence)
                if find_problem(worse, truth.task):
                    continue  # it is no longer a bug: this plan costs as much as the run
                found = localizer.localize_finding(worse)
                better = better_evidence(worse, found, truth.task)
                assert better is not None
                assert better.bound == truth.hstar[finding.state] < plan.cost
                proven = replace(worse, bound=better.bound, evidence=better)
                assert find_problem(proven, truth.task) == ""
                improved += 1
    assert improved


def test_another_cause_is_false(
    example: tuple[Truth, CostToGo, Finding, Localization],
) -> None:
    truth, _, finding, found = example
    cause = found.cause
    assert cause is not None
    others: list[Cause | None] = [
        None,
        replace(cause, index=cause.index + 1),
        replace(cause, action="another"),
        replace(cause, state=(*finding.evidence.state, 0)),
    ]
    for other in others:
        verdict = check_cause(finding, replace(found, cause=other), truth.task)
        assert verdict.standing is Standing.FALSE


@pytest.mark.parametrize("seed", range(3))
def test_what_can_be_described_is_and_the_rest_is_refused(seed: int) -> None:
    """A localization may name steps that it does not have, if it comes from a stranger."""
    random = Random(seed)
    truth = Truth.of(random_task(random))
    refused = 0
    for policy in applicable_policies(truth, random):
        localizer = Localizer(StateTable(truth.task))
        for finding in list(bugs(truth, policy))[:12]:
            found = localizer.localize_finding(finding, LocalizationLimits())
            length = len(finding.run.operators)
            assert not find_description_problem(found, length)
            assert describe_losses(found)
            for lie in changed_places(found):
                if find_description_problem(lie, length):
                    refused += 1
                else:
                    assert describe_losses(lie)
    assert refused > 20


def changed_places(found: Localization) -> Iterator[Localization]:
    count = len(found.steps)
    for some in {0, count // 2, count}:
        for worst in (None, 0, some, count + 1):
            lie = replace(found, steps=found.steps[:some], worst_step=worst)
            yield replace(lie, cause=None)
            for kind in CauseKind:
                cause = Cause(kind, min(some, count - 1), (0,), None)
                for begin in (None, 0, count):
                    failure = Failure(None, None, None, begin)
                    yield replace(lie, cause=cause, failure=failure)
