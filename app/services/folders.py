"""Folders: workspaces, examples, where files were saved last, and opening them on the desktop."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from app.services.messages import Messages
from app.services.settings import Settings
from engine.errors import WorkspaceError
from engine.files import resource
from engine.records.project import Project
from engine.workspace.workspace import Workspace

SUFFIX = ".plumb"
EXAMPLES = resource("examples")
FIRST_EXAMPLE = "parcel-delivery"


def workspaces_folder() -> Path:
    folder = Path(platformdirs.user_data_dir("plumbline", appauthor=False)) / "workspaces"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def untitled_workspace() -> Path:
    """Return a name that is not in use."""
    number = 1
    while (path := workspaces_folder() / f"untitled-{number}{SUFFIX}").exists():
        number += 1
    return path


def is_untitled(path: Path) -> bool:
    return path.parent == workspaces_folder().resolve() and path.name.startswith("untitled-")


def example_names() -> list[str]:
    return sorted(folder.parent.name for folder in EXAMPLES.glob("*/campaign.toml"))


def example_title(name: str) -> str:
    return name.replace("-", " ").capitalize()


def example_workspace(name: str) -> Path:
    """Return the workspace of an example; create it, ready to run, if it does not exist.

    One that cannot be opened, such as that of version 0.1, stays as it is beside a new one.
    """
    path = workspaces_folder() / f"{name}{SUFFIX}"
    try:
        _prepare_example(path, name)
    except WorkspaceError:
        path = path.with_stem(f"{name}-2")
        _prepare_example(path, name)
    return path


def _prepare_example(path: Path, name: str) -> None:
    """Its files are those of this installation when those of another one are gone."""
    with Workspace.create(path) as store:
        project = store.project()
        if project.is_empty or (project.domain and not os.path.exists(project.domain)):
            store.set_project(example_project(name))


def example_project(name: str) -> Project:
    from engine.campaign.config_reader import read_config  # not every start makes an example

    config = read_config(EXAMPLES / name / "campaign.toml")
    return Project(
        domain=config.domain,
        problems=tuple(config.problems),
        policies=tuple(config.policies),
        portfolio=tuple(config.portfolio),
        unit_costs=config.unit_costs,
        draft=config,
    )


def show_in_desktop(path: Path, messages: Messages) -> None:
    """Open a folder in the file manager, or a file in its program."""
    if not os.path.exists(path):
        messages.warning(f"{path} no longer exists")
    elif not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))):
        messages.warning(f"No program found to open {path}")


def last_folder(settings: Settings, key: str, workspace: Path) -> Path:
    """Return the last folder for a kind of file; at first that of the workspace, unless hidden."""
    hidden = workspace.resolve().parent == workspaces_folder().resolve()
    beside = Path.home() if hidden else workspace.parent
    last = Path(settings.get(key, str(beside)))
    return last if os.path.isdir(last) else beside


def short_path(path: Path) -> str:
    """Return a path with ~ for the user's own folder."""
    home = Path.home()
    return str(Path("~") / path.relative_to(home)) if path.is_relative_to(home) else str(path)
