"""Writes bugs as bundles or problems, and units as files for other tools.

Policies can be run in the exported problems, to see whether they do the same there.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from engine.campaign.bundle import Bundle, reproduce_commands, task_files, write_bundle
from engine.campaign.exchange import Exported, export_unit, unit_called
from engine.campaign.reproduction import Reproduction, compare_runs
from engine.errors import CancelledError, PlumblineError
from engine.files import disk_error, scratch_errors, scratch_folder, write_text
from engine.policies.consent import NO_CONSENT, Consent
from engine.policies.policy import Policy, close_policy, open_policy
from engine.records.finding import EndReason
from engine.records.policy_spec import PolicySpec
from engine.task.load import load_task_files
from engine.task.task import Task
from engine.task.translate import Limits, warm_translator
from engine.task.translation_cache import TranslationCache
from engine.task.unpacked import unpack_inputs
from engine.usecases.run import TakenRun, take_run
from engine.workers.link import Link
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import Bug
from engine.workspace.workspace import Workspace

SECONDS = 30.0
"""Seconds for one bug; a policy that takes longer is abandoned."""


class Reproducer:
    """Opens every policy once; use it as a context manager."""

    def __init__(self, store: WorkspaceReader, link: Link, consent: Consent) -> None:
        self._store, self._link, self._consent = store, link, consent
        self._policies: dict[tuple[int, int, int], Policy] = {}
        self._opened = ExitStack()

    def __enter__(self) -> Reproducer:
        self._folder = self._opened.enter_context(scratch_folder("export"))
        self._translator = self._opened.enter_context(warm_translator())
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def run_exported(self, bug: Bug, task: Task, files: Mapping[str, str]) -> Reproduction:
        """Bind the policy to the exported task of a bug, and run it once."""
        try:
            if objection := self._objection(bug):
                return Reproduction(None, why_unknown=objection)
            policy = self._policy(bug, task)
            taken = self._take_run(bug, policy, self._load(files))
        except CancelledError:
            raise
        except PlumblineError as error:
            return Reproduction(None, why_unknown=str(error))
        if taken.stopped:
            self._link.check()
            reason = f"its run did not end within {SECONDS:g} seconds"
            return Reproduction(None, why_unknown=reason)
        run, finding = taken.run, bug.finding
        there = taken.actions
        if run.reason is EndReason.LOOP and taken.last_decision is not None:
            there += _closing(taken.last_decision, taken.table.task)
        here = tuple(f"({task.operators[number].name})" for number in finding.run.operators)
        if finding.run.reason is EndReason.LOOP:
            here += _closing(finding.run.last_decision, task)
        return compare_runs(finding, here, run, there)

    def _objection(self, bug: Bug) -> str:
        policy = self._store.policy(bug.policy_id)
        if PolicySpec.parse(policy.spec).path is not None and policy.file is None:
            return "the file of the policy is not in the workspace"
        return self._consent.objection(policy.spec)

    def _policy(self, bug: Bug, task: Task) -> Policy:
        key = bug.policy_id, bug.problem_id, bug.row.seed
        if key not in self._policies:
            store = self._store
            inputs = unpack_inputs(store.problem(bug.problem_id), store.policy(bug.policy_id))
            files = self._opened.enter_context(inputs)
            domain = task.source.domain if task.source else None
            policy = open_policy(files.policy_spec, domain, bug.row.seed)
            self._opened.callback(close_policy, policy)
            self._policies[key] = policy
        return self._policies[key]

    def _load(self, files: Mapping[str, str]) -> Task:
        names = ("domain.pddl", "problem.pddl") if "problem.pddl" in files else ("task.sas",)
        paths = [self._folder / name for name in names]
        with scratch_errors():
            for path in paths:
                Path(path).write_text(files[path.name], encoding="utf-8")
        return load_task_files(
            paths,
            limits=Limits(seconds=SECONDS),
            cancelled=self._link.cancelled,
            cache=TranslationCache(self._folder / "cache", max_bytes=0),
            translator=self._translator,
        )

    def _take_run(self, bug: Bug, policy: Policy, exported: Task) -> TakenRun:
        testing = self._store.campaign(bug.row.campaign).config.testing
        deadline = time.monotonic() + SECONDS
        return take_run(
            policy,
            exported,
            step_limit=testing.step_limit,
            cancelled=lambda: self._link.cancelled() or time.monotonic() > deadline,
        )


def _closing(decision: int, task: Task) -> tuple[str, ...]:
    """The action that closes a loop, if it is one."""
    return (f"({task.operators[decision].name})",) if decision >= 0 else ()


def export_bundles(
    link: Link,
    workspace: Path,
    bugs: Sequence[int],
    folder: Path,
    consent: Consent = NO_CONSENT,
) -> tuple[Bundle, ...]:
    """Write a folder per bug below `folder`; nothing if one of the bugs is unknown.

    Every policy is run once in the exported problem, if the user agrees to run it.
    """
    bundles: list[Bundle] = []
    with Workspace.open(workspace) as store, Reproducer(store, link, consent) as reproducer:
        problems = {number: store.bug(number).problem_id for number in bugs}
        tasks: dict[int, Task] = {}
        for number, problem in problems.items():
            link.check()
            link.progress(len(bundles), len(problems), f"bug {number}")
            if problem not in tasks:
                tasks[problem] = store.task(problem)
            bundles.append(
                write_bundle(store, number, folder, tasks[problem], reproducer.run_exported)
            )
    return tuple(bundles)


def export_unit_file(
    link: Link, workspace: Path, unit: int | None, name: str, path: Path
) -> Exported:
    """Write the data of a unit (None: the only one) as a file of the reference tools.

    `name` is that of the format.
    """
    link.progress(0, None, path.name)
    with Workspace.open(workspace) as store:
        return export_unit(store, unit_called(store, unit), name, path)


def write_problem(store: WorkspaceReader, bug: Bug, task: Task, path: Path) -> Path:
    """The bug state as a problem file, or as a `.sas` file where there is no PDDL."""
    files = task_files(store, bug, task)
    name = "problem.pddl" if "problem.pddl" in files else "task.sas"
    path = path.with_suffix(Path(name).suffix)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise disk_error(error, path.parent) from error
    write_text(path, files[name], own_folder=path.parent == problems_folder(store.path))
    return path


def problems_folder(workspace: Path) -> Path:
    """Where bug states become problems of the project: beside the workspace."""
    return workspace.with_name(f"{workspace.stem}-bugs")


def reproduce_command(store: WorkspaceReader, bug: Bug, task: Task) -> str:
    """One line for a shell: writes the bundle of the bug, and runs the policy as it was tested."""
    run, *_ = reproduce_commands(store, bug, task, bug.finding.evidence.is_plan)
    workspace = shlex.quote(str(store.path.resolve()))
    return (
        f"plumbline export {workspace} --bug {bug.row.id} --out . && cd bug-{bug.row.id} && {run}"
    )
