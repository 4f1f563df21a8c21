"""Looks at the files of a project before anything runs: PDDL with positions, policies, pools.

Nothing of the user's is executed here: networks are loaded as weights, plug-ins are only read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from engine.campaign.inputs import read_file
from engine.errors import CancelledError, PlumblineError
from engine.oracles.obstacle import describe_obstacle
from engine.pddl import Diagnostic, Report, check_files, check_problem_file
from engine.policies.consent import Consent
from engine.policies.policy import Policy, close_policy, open_policy
from engine.records.finding import RunOutcome
from engine.records.project import (
    DomainChecked,
    PolicyRan,
    PoolChecked,
    PoolTried,
    ProblemChecked,
    Project,
    ProjectChecked,
    TaskMeasured,
    is_grounded,
)
from engine.task.load import load_sas, load_task_files
from engine.task.task import Task
from engine.task.translate import Limits, warm_translator
from engine.task.translation_cache import TranslationCache
from engine.workers.link import Link
from engine.workers.translator import Translator


def check_project(link: Link, project: Project, consent: Consent) -> ProjectChecked:
    """Emits one result per file, the domain first, and at the end what is good to run."""
    from engine.usecases.policy import check_policy

    total = 1 + len(project.problems) + len(project.policies) + len(project.pools)
    report = (
        None if project.domain is None else _check_domain(link, project.domain, project.unit_costs)
    )
    domain = None
    if report is not None and all(
        project.unit_costs and item.about_costs for item in report.errors
    ):
        domain = report.domain
    problems, policies, pools = [], [], []
    for done, path in enumerate(project.problems, start=1):
        _go_on(link, done, total, path)
        problem = _check_problem(report, path, project.unit_costs)
        link.emit(problem)
        if not problem.is_broken and (domain is not None or is_grounded(path)):
            problems.append(path)
    for done, spec in enumerate(project.policies, start=1 + len(project.problems)):
        _go_on(link, done, total, spec)
        policy = check_policy(spec, domain, consent)
        link.emit(policy)
        if policy.fits and not consent.objection(spec):
            policies.append(spec)
    for done, path in enumerate(project.pools, start=total - len(project.pools)):
        _go_on(link, done, total, path)
        pool = _check_pool(path)
        link.emit(pool)
        if not pool.error:
            pools.append(path)
    result = ProjectChecked(tuple(problems), tuple(policies), tuple(pools))
    link.emit(result)
    return result


def _go_on(link: Link, done: int, total: int, name: str) -> None:
    if link.cancelled():
        raise CancelledError
    link.progress(done, total, Path(name).name)


def _check_domain(link: Link, path: str, unit_costs: bool) -> Report:
    report = check_files(path)
    domain = report.domain
    counts = (0, 0, 0)
    if domain is not None:
        counts = len(domain.types), len(domain.predicates), len(domain.actions)
    name = domain.name if domain is not None else Path(path).name
    own = tuple(item for item in report.diagnostics if not (unit_costs and item.about_costs))
    link.emit(DomainChecked(path, name, *counts, own))
    return report


def _check_problem(domain: Report | None, path: str, unit_costs: bool) -> ProblemChecked:
    """Report what is wrong with a problem; errors of the domain are reported with the domain."""
    if is_grounded(path):
        try:
            load_sas(path)
        except PlumblineError as error:
            return ProblemChecked(path, Path(path).name, None, (Diagnostic.of_error(error),))
        return ProblemChecked(path, Path(path).name, None, ())
    if domain is None:
        hint = "add its domain"
        missing = Diagnostic.of_error(PlumblineError("no domain", hint=hint))
        return ProblemChecked(path, Path(path).name, None, (missing,))
    report = check_problem_file(domain, path)
    own = tuple(item for item in report.diagnostics if not (unit_costs and item.about_costs))
    if report.problem is None:
        return ProblemChecked(path, Path(path).name, None, own)
    return ProblemChecked(path, report.problem.name, len(report.problem.objects), own)


def _check_pool(path: str) -> PoolChecked:
    from engine.fuzzing.imported_pool import contents

    try:
        return PoolChecked(path, contents(read_file(path)))
    except PlumblineError as error:
        return PoolChecked(path, error=str(error))


SECONDS = 60.0
"""For the translation of a problem, and again for each run on it."""
MEGABYTES = 4000
"""For the translation, because a stranger's workspace is checked as soon as it is opened."""


def look_at_project(
    link: Link, project: Project, known: Collection[tuple[str, str]], consent: Consent
) -> None:
    """Check the files, then run every policy that may run on every good problem.

    Emits a `TaskMeasured` per problem, a `PolicyRan` per run and a `PoolTried` per pool, except for
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
    translator = warm_translator()
    try:
        for done, (problem, specs) in enumerate(wanted.items()):
            link.progress(done, len(wanted), f"trying {Path(problem).name}")
            policies = {spec: opened[spec] for spec in specs if spec in opened}
            pools = [path for path in specs if path in good.pools]
            _run_problem(
                link, project, problem, policies=policies, pools=pools, translator=translator
            )
    finally:
        translator.close()
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
    *,
    policies: dict[str, Policy | PlumblineError],
    pools: Sequence[str],
    translator: Translator,
) -> None:
    files = [problem] if is_grounded(problem) else [project.domain or "", problem]
    try:
        task = load_task_files(
            files,
            unit_costs=project.unit_costs,
            limits=Limits(seconds=SECONDS, megabytes=MEGABYTES),
            cancelled=link.cancelled,
            cache=TranslationCache.of_user(),
            translator=translator,
        )
    except CancelledError:
        raise
    except PlumblineError as error:
        link.emit(TaskMeasured(problem, 0, 0, str(error)))
        return
    size = sum(task.domain_sizes), len(task.operators)
    link.emit(TaskMeasured(problem, *size, no_dominance=describe_obstacle(task)))
    for pool in pools:
        link.emit(_tried(problem, pool, task))
    for spec, policy in policies.items():
        link.emit(_ran(problem, spec, policy, task, link.cancelled))


def _tried(problem: str, pool: str, task: Task) -> PoolTried:
    from engine.fuzzing.imported_pool import ImportedPool

    try:
        return PoolTried(problem, pool, len(ImportedPool(read_file(pool), task).entries))
    except PlumblineError as error:
        return PoolTried(problem, pool, error=_said(error, pool))


def _said(error: PlumblineError, name: str) -> str:
    """Return sentences without the name of the subject, which is shown beside them."""
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
    from engine.usecases.run import take_run

    if isinstance(policy, PlumblineError):
        return PolicyRan(problem, spec, None, _said(policy, spec))
    deadline = time.monotonic() + SECONDS
    try:
        taken = take_run(policy, task, cancelled=lambda: cancelled() or time.monotonic() > deadline)
    except CancelledError:
        raise
    except PlumblineError as error:
        return PolicyRan(problem, spec, None, _said(error, spec))
    if taken.stopped:
        if cancelled():
            raise CancelledError
        return PolicyRan(problem, spec, RunOutcome.ABORTED, f"time limit of {SECONDS:g} s reached")
    run, errors = taken.run, taken.statistics.errors
    reason = errors[0] if errors else str(run.reason)
    return PolicyRan(problem, spec, run.outcome, reason, run.cost, len(run.operators))
