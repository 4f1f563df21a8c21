"""Tasks that others bring, as files: of a policy server, or out of a bugs file."""

from __future__ import annotations

from pathlib import Path

from app.work.link import Link
from engine.campaign.given_pool import task_of
from engine.campaign.inputs import read_file
from engine.files import disk_error, write_text
from engine.task.sas import write_sas
from engine.task.task import Task


def task_of_server(link: Link, address: str, path: Path) -> Path:
    """For projects without the problem that a server serves."""
    from engine.policies.remote import open_remote  # gRPC is slow to import

    link.progress(0, None, address)
    with open_remote(address) as policy:
        return _written(policy.task, path)


def task_of_bugs(link: Link, bugs: str, path: Path) -> Path:
    """For projects without the problem that a bugs file belongs to."""
    link.progress(0, None, Path(bugs).name)
    return _written(task_of(read_file(bugs)), path)


def _written(task: Task, path: Path) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise disk_error(error, path.parent) from error
    write_text(path, write_sas(task))
    return path
