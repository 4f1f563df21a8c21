"""Bug states as PDDL problems in files, and how to see a bug again on the command line."""

from __future__ import annotations

import shlex
from pathlib import Path

from engine.campaign.bundle import reproduce_commands, task_files
from engine.campaign.reading import Reading
from engine.campaign.rows import Bug
from engine.files import disk_error, write_text
from engine.task.task import Task


def write_problem(store: Reading, bug: Bug, task: Task, path: Path) -> Path:
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


def reproduce_command(store: Reading, bug: Bug, task: Task) -> str:
    """One line for a shell: writes the bundle of the bug, and runs the policy in it."""
    policy = store.policy(bug.policy_id)
    run, *_ = reproduce_commands(bug, task, policy, bug.evidence.is_plan)
    workspace = shlex.quote(str(store.path.resolve()))
    return (
        f"plumbline export {workspace} --bug {bug.row.id} --out . && cd bug-{bug.row.id} && {run}"
    )
