"""Lets policies act: from one state, or on many problems one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import CancelledError, LimitReachedError, UsageError
from engine.policies.policy import Policy, close_policy, notes_of, open_policy
from engine.policies.runs import STEP_LIMIT, PolicyRun, PolicyRuns, Statistics
from engine.records.events import Warned
from engine.records.finding import RunOutcome
from engine.task.load import SAS_SUFFIX, load_task_files
from engine.task.states import StateTable
from engine.task.successors import State
from engine.task.task import Task
from engine.task.translate import Limits
from engine.workers.link import NULL_LINK, Link


@dataclass(frozen=True, slots=True)
class TakenRun:
    """A run of a policy through the states of a table."""

    table: StateTable
    run: PolicyRun
    last_decision: int | None  # where a run that fails ends
    statistics: Statistics
    stopped: bool  # before the run ended
    began: float  # on the monotonic clock

    @property
    def actions(self) -> tuple[str, ...]:
        operators = self.table.task.operators
        return tuple(f"({operators[number].name})" for number in self.run.operators)


def take_run(
    policy: Policy,
    task: Task,
    state: State | None = None,
    *,
    step_limit: int | None = STEP_LIMIT,
    cancelled: Callable[[], bool] = NULL_LINK.cancelled,
    warn: Callable[[str], object] = NULL_LINK.emit,
) -> TakenRun:
    """Let a policy act from a state (None: the initial one) until its run ends."""
    began = time.monotonic()
    bound = policy.bind(task)
    try:
        for note in notes_of(bound):
            warn(note)
        table = StateTable(task)
        runs = PolicyRuns(bound, table)
        (start,) = table.add(task.init if state is None else state).tolist()
        stopped = False
        try:
            runs.run(start, step_limit, cancelled)
        except CancelledError:
            stopped = True
        run = runs.trace(start)
        failed = run.outcome is RunOutcome.FAILED
        last = int(runs.decisions([run.states[-1]])[0]) if failed else None
        return TakenRun(table, run, last, runs.statistics, stopped, began)
    finally:
        close_policy(bound)


@dataclass(frozen=True, slots=True)
class RunOptions:
    unit_costs: bool = False
    step_limit: int | None = STEP_LIMIT
    seed: int = 0
    seconds: float | None = None  # for all problems together


@dataclass(frozen=True, slots=True)
class ProblemRun:
    """How a policy's run on a problem ended; the cost is None unless it solved the problem."""

    problem: str
    outcome: RunOutcome
    reason: str
    cost: int | None
    actions: tuple[str, ...]
    policy_calls: int
    seconds: float


def run_policy(
    link: Link, policy: str, files: Sequence[str], options: RunOptions
) -> tuple[ProblemRun, ...]:
    """Run a policy on DOMAIN PROBLEM..., or on one .sas file.

    Emits a `ProblemRun` after each problem, and a `Warned` for everything the user should know.
    At the time limit the last run is cut short, and `LimitReachedError` ends the rest.
    """
    problems = _problems(files)
    seconds = float("inf") if options.seconds is None else options.seconds
    deadline = time.monotonic() + seconds
    opened = open_policy(policy, seed=options.seed)
    done: list[ProblemRun] = []

    def warn(text: str) -> None:
        link.emit(Warned(None, text))

    def late() -> bool:
        return link.cancelled() or time.monotonic() > deadline

    try:
        for name, task_files in problems:
            link.progress(len(done), len(problems), name)
            task = load_task_files(
                task_files,
                unit_costs=options.unit_costs,
                limits=_until(deadline),
                cancelled=link.cancelled,
            )
            for note in task.notes:
                warn(note)
            taken = take_run(opened, task, step_limit=options.step_limit, cancelled=late, warn=warn)
            for text in taken.statistics.errors:
                warn(f"{name}: the policy failed: {text}")
            link.check()
            done.append(_result(name, taken))
            link.emit(done[-1])
            if taken.stopped:
                raise LimitReachedError("time limit reached")
    finally:
        close_policy(opened)
    return tuple(done)


def _problems(files: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Every problem with the files of its task."""
    first, *problems = files
    if problems:
        return [(problem, [first, problem]) for problem in problems]
    if Path(first).suffix.lower() == SAS_SUFFIX:
        return [(first, [first])]
    raise UsageError("no problem to run on", hint="give DOMAIN PROBLEM... or FILE.sas")


def _until(deadline: float) -> Limits:
    left = deadline - time.monotonic()
    return Limits(seconds=None if left == float("inf") else max(left, 0.001))


def _result(name: str, taken: TakenRun) -> ProblemRun:
    run = taken.run
    return ProblemRun(
        name,
        run.outcome,
        "time-limit" if taken.stopped else str(run.reason),
        run.cost if run.outcome is RunOutcome.SOLVED else None,
        taken.actions,
        taken.statistics.evaluated,
        time.monotonic() - taken.began,
    )
