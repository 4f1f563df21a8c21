"""Lets policies act on the problems of a project: who solves what, at which cost.

Each problem is translated once, and given pools are held against the same task. A problem that
takes too long is left out with a word, so that the others get their turn.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.work.check_inputs import check_project, is_grounded
from app.work.link import Link
from engine.campaign.given_pool import GivenPool
from engine.campaign.inputs import read_file
from engine.campaign.project import Project
from engine.errors import CancelledError, LimitReachedError, PlumblineError
from engine.policies.consent import Consent
from engine.policies.policy import Policy, close_policy, open_policy
from engine.policies.runs import PolicyRuns
from engine.task.load import load_task_files
from engine.task.states import StateTable
from engine.task.task import Task
from engine.task.translate import Limits
from engine.task.translation_cache import TranslationCache

STEP_LIMIT = 10_000
SECONDS = 60.0
"""For the translation of a problem, and again for each run on it."""
MEGABYTES = 4000
"""For the translation: a workspace is looked at as soon as it is opened, whoever made it."""


@dataclass(frozen=True, slots=True)
class TaskMeasured:
    problem: str
    facts: int
    operators: int
    error: str = ""  # why there is no task


@dataclass(frozen=True, slots=True)
class PolicyRan:
    """`outcome` is solved, failed, aborted (by a limit) or error."""

    problem: str
    policy: str
    outcome: str
    reason: str
    cost: int | None = None
    steps: int | None = None


@dataclass(frozen=True, slots=True)
class PoolTried:
    """Whether the states of a pool or a bugs file are states of a problem's task."""

    problem: str
    pool: str
    states: int = 0  # different ones
    error: str = ""


def look_at_project(
    link: Link, project: Project, known: Collection[tuple[str, str]], consent: Consent
) -> None:
    """Check the files, then run every policy that may run on every good problem.

    Emits a `TaskMeasured` per problem, a `PolicyRan` per run and a `PoolTried` per pool, but for
    those that are `known` by problem and policy or pool; a problem alone with an empty policy is
    one that was measured.
    """
    good = check_project(link, project, consent)
    names = (*good.policies, *good.pools)
    wanted = {
        problem: [name for name in names if (problem, name) not in known]
        for problem in good.problems
    }
    wanted = {
        problem: specs for problem, specs in wanted.items() if specs or (problem, "") not in known
    }
    used = {spec for specs in wanted.values() for spec in specs}
    opened = {spec: _open(spec) for spec in good.policies if spec in used}
    try:
        for done, (problem, specs) in enumerate(wanted.items()):
            link.progress(done, len(wanted), f"trying {Path(problem).name}")
            policies = {spec: opened[spec] for spec in specs if spec in opened}
            pools = [path for path in specs if path in good.pools]
            _run_problem(link, project, problem, policies, pools)
    finally:
        for policy in opened.values():
            if not isinstance(policy, PlumblineError):
                close_policy(policy)


def _open(spec: str) -> Policy | PlumblineError:
    try:
        return open_policy(spec)
    except PlumblineError as error:
        return error


def _run_problem(
    link: Link,
    project: Project,
    problem: str,
    policies: dict[str, Policy | PlumblineError],
    pools: Sequence[str],
) -> None:
    files = [problem] if is_grounded(problem) else [project.domain or "", problem]
    try:
        task = load_task_files(
            files,
            unit_costs=project.unit_costs,
            limits=Limits(seconds=SECONDS, megabytes=MEGABYTES),
            cancelled=link.cancelled,
            cache=TranslationCache.of_user(),
        )
    except CancelledError:
        raise
    except PlumblineError as error:
        link.emit(TaskMeasured(problem, 0, 0, str(error)))
        return
    link.emit(TaskMeasured(problem, sum(task.domain_sizes), len(task.operators)))
    for pool in pools:
        link.emit(_tried(problem, pool, task))
    for spec, policy in policies.items():
        link.emit(_ran(problem, spec, policy, task, link.cancelled))


def _tried(problem: str, pool: str, task: Task) -> PoolTried:
    try:
        return PoolTried(problem, pool, len(GivenPool(read_file(pool), task).entries))
    except PlumblineError as error:
        return PoolTried(problem, pool, error=_said(error, pool))


def _said(error: PlumblineError, name: str) -> str:
    """In words; the name of what they are about stands beside them already."""
    place = error.location
    if place.file != name:
        return str(error)
    line = f"line {place.line}: " if place.line is not None else ""
    return f"{line}{error.message}; {error.hint}" if error.hint else f"{line}{error.message}"


def _ran(
    problem: str,
    spec: str,
    policy: Policy | PlumblineError,
    task: Task,
    cancelled: Callable[[], bool],
) -> PolicyRan:
    if isinstance(policy, PlumblineError):
        return PolicyRan(problem, spec, "error", _said(policy, spec))
    try:
        return _run(problem, spec, policy, task, cancelled)
    except CancelledError:
        raise
    except LimitReachedError:
        return PolicyRan(problem, spec, "aborted", f"it took more than {SECONDS:g} s")
    except PlumblineError as error:
        return PolicyRan(problem, spec, "error", _said(error, spec))


def _run(
    problem: str, spec: str, policy: Policy, task: Task, cancelled: Callable[[], bool]
) -> PolicyRan:
    deadline = time.monotonic() + SECONDS

    def late() -> bool:
        if time.monotonic() > deadline:
            raise LimitReachedError("the run took too long")
        return cancelled()

    bound = policy.bind(task)
    try:
        table = StateTable(task)
        runs = PolicyRuns(bound, table)
        start = int(table.add(task.init)[0])
        runs.run(start, STEP_LIMIT, late)
        run = runs.trace(start)
    finally:
        close_policy(bound)
    reason = runs.statistics.errors[0] if runs.statistics.errors else str(run.reason)
    return PolicyRan(problem, spec, str(run.outcome), reason, run.cost, len(run.operators))
