"""Writes bugs as bundles or problems, and units as files for other tools."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from engine.campaign.bundle import Bundle, reproduce_commands, task_files, write_bundle
from engine.campaign.exchange import Exported, export_unit, unit_called
from engine.files import disk_error, write_text
from engine.policies.consent import NO_CONSENT, Consent
from engine.task.task import Task
from engine.usecases.reproduce import Reproducer
from engine.workers.link import Link
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import Bug
from engine.workspace.workspace import Workspace


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
