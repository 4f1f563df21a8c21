"""One trial of an experiment: a question, its limits, and its answer as one event.

What a limit cuts off is an answer, too: a problem that was not solved, an action that was not
decided.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby

from engine.dominance.cache import dominance_function
from engine.dominance.compute import DEFAULT_LIMITS
from engine.errors import CancelledError, DamagedRecordError, PlumblineError
from engine.localize.action_optimality import ActionVerdict, check_action
from engine.pddl import parse_domain
from engine.pddl.reader import text_of
from engine.policies.policy import Policy, close_policy, open_policy
from engine.policies.portfolio import recorded_order
from engine.records.comparison import CompareOptions
from engine.records.config import Factorization
from engine.records.events import TrialFinished, UnitFailed, UnitStarted, UnitStopped, Warned
from engine.records.experiment import (
    ActionAnswer,
    ActionPlan,
    ActionResult,
    ActionSettings,
    PairPlan,
    PairResult,
    PolicyRun,
    RunPlan,
    RunResult,
    SearchAnswer,
    Trial,
    TrialResult,
)
from engine.records.finding import RunOutcome
from engine.records.inputs import File
from engine.records.localization import StepVerdict
from engine.search.forward import SearchLimits, search
from engine.task.successors import is_applicable
from engine.task.task import Task
from engine.task.unpacked import UnpackedInputs, unpack_inputs
from engine.usecases.compare import compare
from engine.usecases.run import take_run
from engine.workers.link import InnerLink, WorkerLink

DOMINANCE = "dominance"
MEMORY_FACTORS = {"pms-bc": 2, "pms-lama": 3}
"""Threads that search side by side share the memory of as many searches (Section 7.2)."""

TOO_LARGE = "the dominance function was not computed within the limit"


def run_trial(link: WorkerLink, trial: Trial) -> None:
    """Answer the question of a trial; the last event says how it ended."""
    link.emit(UnitStarted(trial.number, trial.domain, trial.label, 0))
    try:
        result = _result(link, trial)
        if not link.limit:
            link.check()  # what a stop cuts off is no answer
        link.emit(TrialFinished(trial.number, result, link.seconds))
    except CancelledError:
        message = f"{link.limit}, before there was an answer" if link.limit else ""
        link.emit(UnitFailed(trial.number, message) if message else UnitStopped(trial.number))
    except PlumblineError as error:
        link.emit(UnitFailed(trial.number, str(error)))


def _result(link: WorkerLink, trial: Trial) -> TrialResult:
    if isinstance(trial.plan, PairPlan):
        if len(trial.files) != 2:
            raise DamagedRecordError("a comparison needs two domains")
        a, b = trial.files
        return _compare(link, a, b, trial.plan.options)
    if trial.problem is None or not (isinstance(trial.plan, ActionPlan) or trial.policies):
        raise DamagedRecordError("a trial without its problem or policy")
    with unpack_inputs(trial.problem, None, trial.policies) as files:
        try:
            task = files.load_task(link.cancelled)
            for note in task.notes:
                link.emit(Warned(trial.number, files.original(note)))
            if isinstance(trial.plan, ActionPlan):
                return _check_actions(link, task, trial.plan)
            return RunResult(tuple(_runs(link, task, files, trial)))
        except PlumblineError as error:
            raise type(error)(files.original(error.message)) from error


def _runs(link: WorkerLink, task: Task, files: UnpackedInputs, trial: Trial) -> Iterator[PolicyRun]:
    """The policy under test first, then the others in their order, until the time is up."""
    plan = trial.plan
    assert isinstance(plan, RunPlan)
    domain = task.source.domain if task.source else None
    began = time.monotonic()

    def late() -> bool:
        is_late = plan.seconds is not None and time.monotonic() - began > plan.seconds
        return is_late or link.cancelled()

    specs = files.portfolio_specs
    opened: dict[str, Policy] = {}
    try:
        for name, spec in specs.items():
            opened[name] = open_policy(spec, domain, plan.seed)
        first, *others = opened
        if plan.ranked:
            others = recorded_order({name: opened[name] for name in others})
        for name in (first, *others[: plan.most - 1]):
            if late():
                break
            run, errors = _run(task, name, opened[name], plan, late)
            for text in errors:
                link.emit(Warned(trial.number, files.original(f"{name} failed: {text}")))
            yield run
    finally:
        for policy in opened.values():
            close_policy(policy)


def _run(
    task: Task, name: str, policy: Policy, plan: RunPlan, late: Callable[[], bool]
) -> tuple[PolicyRun, list[str]]:
    """Return the run of a policy, and what happened where it gave no answer."""
    taken = take_run(policy, task, step_limit=plan.step_limit, cancelled=late)
    solved = taken.run.outcome is RunOutcome.SOLVED
    run = PolicyRun(
        name,
        taken.run.outcome,
        "time-limit" if taken.stopped else str(taken.run.reason),
        taken.run.cost if solved else None,
        taken.actions,
        time.monotonic() - taken.began,
    )
    return run, taken.statistics.errors


def drawn_actions(task: Task, count: int, seed: int) -> tuple[list[int], int]:
    """Random operators that are applicable in the initial state, and how many there are.

    The same task always gives the same ones: they are drawn by name, once per name.
    """
    applicable = [
        number
        for number, operator in enumerate(task.operators)
        if is_applicable(operator, task.init)
    ]
    applicable.sort(key=lambda number: task.operators[number].name)
    named = [
        next(group) for _, group in groupby(applicable, lambda number: task.operators[number].name)
    ]
    if len(named) < 2:  # there is nothing to decide
        return [], len(named)
    drawn = random.Random(f"{seed} {task.hash}").sample(named, min(count, len(named)))
    return drawn, len(named)


def _check_actions(link: WorkerLink, task: Task, plan: ActionPlan) -> ActionResult:
    drawn, applicable = drawn_actions(task, plan.settings.actions, plan.seed)
    if not drawn:
        return ActionResult(applicable, ())
    if not plan.heuristic:
        answers = [_by_dominance(link, task, operator, plan.settings) for operator in drawn]
        return ActionResult(applicable, tuple(answers))
    answers = []
    for operator in drawn:
        for algorithm in plan.settings.algorithms:
            if algorithm != DOMINANCE:
                answers.append(_ask(link, task, operator, algorithm, plan))
    return ActionResult(applicable, tuple(answers), _search(link, task, plan))


def _limits(settings: ActionSettings, factor: int = 1) -> SearchLimits:
    return SearchLimits(settings.seconds, settings.megabytes * factor * 2**20)


def _ask(
    link: WorkerLink, task: Task, operator: int, algorithm: str, plan: ActionPlan
) -> ActionAnswer:
    began = time.monotonic()
    answer = check_action(
        task,
        task.init,
        operator,
        algorithm,
        plan.heuristic,
        limits=_limits(plan.settings, MEMORY_FACTORS.get(algorithm, 1)),
        control=link.control,
        greedy=plan.settings.greedy,
    )
    link.check()
    return _answer(task, operator, algorithm, answer, time.monotonic() - began)


def _answer(
    task: Task, operator: int, algorithm: str, answer: ActionVerdict, seconds: float
) -> ActionAnswer:
    reason = answer.decided_by if answer.decided_by is not None else answer.reason
    return ActionAnswer(
        f"({task.operators[operator].name})",
        algorithm,
        answer.verdict,
        str(reason or ""),
        seconds,
        answer.expanded,
    )


def _by_dominance(
    link: WorkerLink, task: Task, operator: int, settings: ActionSettings
) -> ActionAnswer:
    """Only where the function can be computed within the limit; the time is that of both."""
    began = time.monotonic()
    limits = replace(DEFAULT_LIMITS, seconds=settings.seconds)
    function = dominance_function(
        task, Factorization.parse(settings.factors), limits=limits, control=link.control
    )
    link.check()
    if not function.complete:
        name, seconds = f"({task.operators[operator].name})", time.monotonic() - began
        undecided = StepVerdict.UNDECIDED
        return ActionAnswer(name, DOMINANCE, undecided, TOO_LARGE, seconds, 0)
    answer = check_action(
        task,
        task.init,
        operator,
        DOMINANCE,
        "blind",
        dominance=function,
        limits=_limits(settings),
        control=link.control,
    )
    link.check()
    return _answer(task, operator, DOMINANCE, answer, time.monotonic() - began)


def _search(link: WorkerLink, task: Task, plan: ActionPlan) -> SearchAnswer:
    began = time.monotonic()
    result = search(
        task, "astar", plan.heuristic, limits=_limits(plan.settings), control=link.control
    )
    link.check()
    return SearchAnswer(result.cost, time.monotonic() - began, result.expanded)


def _compare(link: WorkerLink, a: File, b: File, options: CompareOptions) -> PairResult:
    comparison = compare(InnerLink(link), a, b, options)
    domains = [parse_domain(text_of(file.content)) for file in (a, b)]
    first, second = domains
    return PairResult(
        comparison,
        len(first.predicates),
        (len(first.actions), len(second.actions)),
    )
