"""Where workspaces lie that nobody has given a place: new ones, and those of the examples."""

from __future__ import annotations

from pathlib import Path

import platformdirs

from engine.campaign.config import read_config
from engine.campaign.project import Project
from engine.campaign.store import Store

SUFFIX = ".plumb"
EXAMPLES = Path(__file__).resolve().parent.parent / "resources" / "examples"
FIRST_EXAMPLE = "parcel-delivery"


def workspaces_folder() -> Path:
    folder = Path(platformdirs.user_data_dir("plumbline", appauthor=False)) / "workspaces"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def untitled_workspace() -> Path:
    """A name that is free."""
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
    """The workspace of an example, made ready to run when it is not there yet."""
    path = workspaces_folder() / f"{name}{SUFFIX}"
    with Store.create(path) as store:
        if store.project().is_empty:
            store.set_project(example_project(name))
    return path


def example_project(name: str) -> Project:
    config = read_config(EXAMPLES / name / "campaign.toml")
    return Project(
        domain=config.domain,
        problems=tuple(config.problems),
        policies=tuple(config.policies),
        portfolio=tuple(config.portfolio),
        unit_costs=config.unit_costs,
        draft=config,
    )
