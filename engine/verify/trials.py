"""Claims of experiments: plans of policies, verdicts about actions, equivalence of domains.

Plans are replayed, policies are asked again, verdicts are compared with the verifier's own costs,
and the evidence of a comparison is replayed as `plumbline compare --verify` does. Every answer has
to be one to its question. What a limit cut off, and all times, are taken as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.equivalence.budget import Budget, LimitExceededError, Limits
from engine.equivalence.verify import verify_certificate
from engine.errors import PlumblineError
from engine.pddl import parse_domain
from engine.pddl.reader import text_of
from engine.records.evidence import State
from engine.records.experiment import (
    ActionAnswer,
    ActionPlan,
    ActionResult,
    PairPlan,
    PairResult,
    PolicyRun,
    RunPlan,
    RunResult,
    Trial,
    TrialResult,
)
from engine.records.finding import INFINITY, EndReason, RunOutcome
from engine.records.inputs import File
from engine.records.localization import StepVerdict
from engine.records.verification import HOLDS, Standing, Verdict, false, undecided
from engine.task.task import Task
from engine.verify.claims import find_end_problem
from engine.verify.cost_to_go import CostToGo
from engine.verify.inputs import (
    GivenFiles,
    check_given_policy,
    check_given_portfolio,
    check_given_problem,
)
from engine.verify.optimality import check_at_least, check_at_most
from engine.verify.run import Decisions, check_actions_taken, check_pool_run
from engine.verify.semantics import is_applicable, is_goal, successor
from engine.workers.link import NULL_LINK, Link
from engine.workspace.rows import PoolRow

PAIR_SECONDS = 300.0
"""For replaying the evidence of one comparison."""
MAX_WAYS = 64
"""Operators of one name may differ, so up to this many states are followed at a time."""


DOMINANCE = "dominance"
"""The algorithm that needs no heuristic."""


def find_question_problem(trial: Trial, status: str, result: TrialResult | None) -> str:
    """Return why a result does not answer the question of its trial, or an empty string."""
    if (result is None) == (status == "finished"):
        return f"it is {status}, but has {'no' if result is None else 'a'} result"
    if result is None:
        return ""
    match trial.plan, result:
        case RunPlan() as plan, RunResult():
            return next(_run_mismatches(trial, plan, result), "")
        case ActionPlan() as plan, ActionResult():
            return next(_action_mismatches(plan, result), "")
        case PairPlan() as plan, PairResult(comparison=found):
            asked = plan.options.parameters
            read = tuple(reading.parameters for reading in found.readings)
            done = read == asked or (found.stopped and read == asked[: len(read)])
            return "" if done else "its readings are not those that were asked for"
    return "its result is the answer to another kind of question"


def _run_mismatches(trial: Trial, plan: RunPlan, result: RunResult) -> Iterator[str]:
    asked, run = [policy.name for policy in trial.policies], [item.policy for item in result.runs]
    if run[:1] != asked[: len(run)][:1] or not set(run) <= set(asked):
        yield "its policies are not those that were asked"
    if len(set(run)) < len(run) or len(run) > plan.most:
        yield "it has more runs than policies that were asked"


def _action_mismatches(plan: ActionPlan, result: ActionResult) -> Iterator[str]:
    algorithms = [item for item in plan.settings.algorithms if item != DOMINANCE]
    if not plan.heuristic:
        algorithms = [DOMINANCE]
    actions = dict.fromkeys(item.action for item in result.answers)
    asked = min(plan.settings.actions, result.applicable) if result.applicable > 1 else 0
    if len(actions) != asked and algorithms:
        yield f"{asked} actions were to be asked about, not {len(actions)}"
    expected = sorted((action, algorithm) for action in actions for algorithm in algorithms)
    if sorted((item.action, item.algorithm) for item in result.answers) != expected:
        yield "its answers are not one of each algorithm about each action"
    if result.search is not None and not plan.heuristic:
        yield "it has a search, but no heuristic"


def check_given_trial(trial: Trial, given: GivenFiles) -> Verdict:
    """Whether the files of a trial are those of the user, as far as these were given."""
    tested, others = trial.policies[:1], trial.policies[1:]
    verdicts = [check_given_policy(policy, given) for policy in tested]
    verdicts += [check_given_portfolio(policy, given) for policy in others]
    if trial.problem is not None:
        verdicts.append(check_given_problem(trial.problem, given))
    if given.domain is not None and trial.files:
        known = any(file.content == given.domain.content for file in trial.files)
        verdicts.append(HOLDS if known else undecided("no file was given for its domains"))
    return joined(verdicts)


def check_runs(result: RunResult, task: Task) -> Verdict:
    """Check that the steps of policies can be taken, and reach the goal at the claimed costs."""
    return joined([_check_run(run, task) for run in result.runs])


def check_policy_run(run: PolicyRun, decisions: Decisions | str, task: Task) -> Verdict:
    """Check a claimed run by asking the policy again; nothing is claimed of a stopped run."""
    if run.outcome is RunOutcome.ABORTED:
        return HOLDS
    if isinstance(decisions, str):
        return undecided(f"{run.policy} was not asked: {decisions}")
    start = tuple(task.init)
    decisions.follow([start])
    row = PoolRow(0, start, -1, (), 0.0, run.outcome, EndReason(run.reason), run.cost, True)
    verdict = check_pool_run(decisions, row, 0)
    return check_actions_taken(decisions, start, run.plan) if verdict == HOLDS else verdict


def _check_run(run: PolicyRun, task: Task) -> Verdict:
    if run.outcome is RunOutcome.ABORTED and run.cost is not None:
        return false(f"{run.policy} was stopped, but has a cost")
    if run.outcome is not RunOutcome.ABORTED and (
        problem := find_end_problem(run.outcome, run.reason, run.cost)
    ):
        return false(f"{run.policy}: {problem}")
    return _check_plan(run, task)


def _check_plan(run: PolicyRun, task: Task) -> Verdict:
    ways: dict[State, int] = {tuple(task.init): 0}
    for action in run.plan:
        following: dict[State, int] = {}
        for operator in task.operators:
            if f"({operator.name})" != action:
                continue
            for state, cost in ways.items():
                if is_applicable(operator, state):
                    after = successor(task, operator, state)
                    price = cost + operator.cost
                    following[after] = min(price, following.get(after, price))
        if not following:
            return false(f"{action} of {run.policy} cannot be executed")
        ways = dict(list(following.items())[:MAX_WAYS])
    if run.outcome is not RunOutcome.SOLVED:
        return HOLDS
    costs = [cost for state, cost in ways.items() if is_goal(task, state)]
    if not costs:
        return false(f"the plan of {run.policy} does not reach the goal")
    if run.cost not in costs:
        return false(f"the plan of {run.policy} costs {min(costs)}, not {run.cost}")
    return HOLDS


def check_actions(result: ActionResult, task: Task, costs: CostToGo) -> Verdict:
    """Whether actions are optimal or not, as far as the verifier can find out."""
    names = {item.name for item in task.operators if is_applicable(item, task.init)}
    if result.applicable != len(names):
        return false(f"{len(names)} actions are applicable, not {result.applicable}")
    verdicts = [_check_action(item, task, costs) for item in result.answers]
    if result.search is not None and result.search.cost is not None:
        claimed = result.search.cost
        verdicts += [
            check_at_most(costs, task.init, claimed),
            check_at_least(costs, task.init, claimed),
        ]
    return joined(verdicts)


def _check_action(answer: ActionAnswer, task: Task, costs: CostToGo) -> Verdict:
    operators = [
        operator
        for operator in task.operators
        if f"({operator.name})" == answer.action and is_applicable(operator, task.init)
    ]
    if not operators:
        return false(f"{answer.action} is not applicable in the initial state")
    if answer.verdict is StepVerdict.UNDECIDED:
        return HOLDS
    decided = set()
    for operator in operators:
        after = successor(task, operator, task.init)
        low, high = costs.low(task.init), costs.high(task.init)
        after_low, after_high = costs.low(after), costs.high(after)
        if INFINITY in (low, high, after_high):
            decided.add(StepVerdict.NOT_OPTIMAL if after_low == INFINITY != high else None)
        elif operator.cost + after_low > high:
            decided.add(StepVerdict.NOT_OPTIMAL)
        elif operator.cost + after_high <= low:
            decided.add(StepVerdict.OPTIMAL)
        else:
            decided.add(None)
    if answer.verdict in decided:
        return HOLDS
    if None in decided:
        return undecided(f"the verifier could not decide whether {answer.action} is optimal")
    return false(
        f"{answer.algorithm} says that {answer.action} is {answer.verdict}, which is false"
    )


def check_pair(result: PairResult, files: Sequence[File], link: Link = NULL_LINK) -> Verdict:
    """Whether the evidence for the verdicts about two domains holds."""
    try:
        a, b = (parse_domain(text_of(file.content), file.path) for file in files)
    except (PlumblineError, ValueError) as error:
        return false(f"its domains cannot be read: {error}")
    operators = len(a.actions), len(b.actions)
    if (result.predicates, result.operators) != (len(a.predicates), operators):
        return false("it counts other predicates or actions than its domains have")
    budget = Budget(Limits(PAIR_SECONDS, None), link.cancelled)
    try:
        objections = [
            objection
            for reading in result.comparison.readings
            for objection in verify_certificate(reading, a, b, budget=budget)
        ]
    except LimitExceededError as error:
        return undecided(str(error))
    return false(objections[0]) if objections else HOLDS


def joined(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the worst verdict."""
    for standing in (Standing.FALSE, Standing.UNDECIDED):
        for verdict in verdicts:
            if verdict.standing is standing:
                return verdict
    return HOLDS
