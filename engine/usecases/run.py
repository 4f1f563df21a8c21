"""Runs policies: from one state, or on many problems one by one."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.errors import CancelledError, LimitReachedError, UsageError
from engine.files import SAS_SUFFIX
from engine.policies.policy import Policy, close_policy, notes_of, open_policy
from engine.policies.portfolio import named_policies, recorded_order
from engine.policies.runs import STEP_LIMIT, PolicyRun, PolicyRuns, Statistics
from engine.records.events import Warned
from engine.records.finding import RunOutcome
from engine.records.policy_spec import PolicySpec, SpecKind
from engine.task.load import load_task_files
from engine.task.states import StateTable, require_state
from engine.task.successors import State
from engine.task.task import Task
from engine.task.translate import Limits, warm_translator
from engine.workers.link import NULL_LINK, Link, giving_up_when


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
    state: State | None = None  # where runs start; None is the initial state


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
    policy: str = ""  # of a portfolio: the one whose plan is best
    members: tuple[MemberRun, ...] = ()  # of a portfolio: all of its policies, in their order


@dataclass(frozen=True, slots=True)
class MemberRun:
    policy: str
    outcome: RunOutcome
    cost: int | None


def run_policy(
    link: Link, policy: str, files: Sequence[str], options: RunOptions
) -> tuple[ProblemRun, ...]:
    """Run a policy on DOMAIN PROBLEM..., or on one .sas file.

    A folder is a portfolio: each of its policies runs in turn, those first that their training
    recorded as best, and the cheapest plan counts.

    Emits a `ProblemRun` after each problem, and a `Warned` for everything the user should know.
    At the time limit the last run is cut short, and `LimitReachedError` ends the rest.
    """
    problems = _problems(files)
    if options.state is not None and len(problems) > 1:
        raise UsageError(
            "--state belongs to one problem", hint="run the problems one after the other"
        )
    seconds = float("inf") if options.seconds is None else options.seconds
    deadline = time.monotonic() + seconds
    opened, translator = _opened(policy, options.seed), warm_translator()
    done: list[ProblemRun] = []

    def warn(text: str) -> None:
        link.emit(Warned(None, text))

    def late() -> bool:
        return link.cancelled() or time.monotonic() > deadline

    try:
        with giving_up_when(late):
            for name, task_files in problems:
                link.progress(len(done), len(problems), name)
                task = load_task_files(
                    task_files,
                    unit_costs=options.unit_costs,
                    limits=_until(deadline),
                    cancelled=link.cancelled,
                    translator=translator,
                )
                for note in task.notes:
                    warn(note)
                runs: list[tuple[str, TakenRun]] = []
                for member, single in opened.items():
                    taken = take_run(
                        single,
                        task,
                        options.state and require_state(task, options.state),
                        step_limit=options.step_limit,
                        cancelled=late,
                        warn=warn,
                    )
                    for text in taken.statistics.errors:
                        warn(f"{name}: the policy failed: {text}")
                    link.check()
                    runs.append((member, taken))
                    if taken.stopped:
                        break
                done.append(_best(name, runs, is_portfolio=len(opened) > 1))
                link.emit(done[-1])
                if runs[-1][1].stopped:
                    raise LimitReachedError("time limit reached")
    except CancelledError:  # while a policy began to work
        link.check()
        raise LimitReachedError("time limit reached") from None
    finally:
        translator.close()
        for single in opened.values():
            close_policy(single)
    return tuple(done)


def _opened(spec: str, seed: int) -> dict[str, Policy]:
    """The policy, or those of a folder, the most promising first."""
    if PolicySpec.parse(spec, base="").kind is not SpecKind.FOLDER:
        return {spec: open_policy(spec, seed=seed)}
    opened = {name: open_policy(one, seed=seed) for name, one in named_policies([spec]).items()}
    return {name: opened[name] for name in recorded_order(opened)}


def _best(problem: str, runs: Sequence[tuple[str, TakenRun]], is_portfolio: bool) -> ProblemRun:
    """The cheapest plan, or the first run if there is none."""

    def cost(item: tuple[str, TakenRun]) -> float:
        found = _result(problem, item[1]).cost
        return float("inf") if found is None else found

    name, taken = min(runs, key=cost)
    result = _result(problem, taken)
    if not is_portfolio:
        return result
    return replace(
        result,
        policy_calls=sum(item.statistics.evaluated for _, item in runs),
        seconds=time.monotonic() - runs[0][1].began,
        policy=name,
        members=tuple(
            MemberRun(
                member,
                item.run.outcome,
                item.run.cost if item.run.outcome is RunOutcome.SOLVED else None,
            )
            for member, item in runs
        ),
    )


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
