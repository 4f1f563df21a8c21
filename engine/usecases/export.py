"""Writes bundles of bugs, and files for other tools, in the background."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from engine.campaign.bundle import Bundle, reproduce_commands, task_files, write_bundle
from engine.campaign.exchange import Exported, export_unit, unit_called
from engine.errors import CancelledError
from engine.files import disk_error, write_text
from engine.task.task import Task
from engine.workers.link import Link
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import Bug
from engine.workspace.workspace import Workspace


def export_bundles(
    link: Link, workspace: Path, bugs: Sequence[int], folder: Path
) -> tuple[Bundle, ...]:
    """A folder per bug below `folder`."""
    bundles: list[Bundle] = []
    with Workspace.open(workspace) as store:
        tasks: dict[int, Task] = {}
        for number in bugs:
            link.progress(len(bundles), len(bugs), f"bug {number}")
            if link.cancelled():
                raise CancelledError
            problem = store.bug(number).problem_id
            if problem not in tasks:
                tasks[problem] = store.task(problem)
            bundles.append(write_bundle(store, number, folder, tasks[problem]))
    return tuple(bundles)


def export_for_others(link: Link, workspace: Path, unit: int, name: str, path: Path) -> Exported:
    """What a unit holds, as a file of the reference tools; `name` is that of the format."""
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
    write_text(path, files[name])
    return path


def problems_folder(workspace: Path) -> Path:
    """Where bug states become problems of the project: beside the workspace."""
    return workspace.with_name(f"{workspace.stem}-bugs")


def reproduce_command(store: WorkspaceReader, bug: Bug, task: Task) -> str:
    """One line for a shell: writes the bundle of the bug, and runs the policy in it."""
    policy = store.policy(bug.policy_id)
    run, *_ = reproduce_commands(bug, task, policy, bug.evidence.is_plan)
    workspace = shlex.quote(str(store.path.resolve()))
    return (
        f"plumbline export {workspace} --bug {bug.row.id} --out . && cd bug-{bug.row.id} && {run}"
    )
