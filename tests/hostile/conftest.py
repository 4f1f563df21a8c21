"""Inputs for all: the same every time, so that a failure today is one tomorrow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from reference.bug_workspace import CONFIG, make_workspace
from reference.hostile_readers import FERRY, Read, ferry_task, readers

from engine.campaign.config import parse_config
from engine.campaign.inputs import read_file
from engine.campaign.localising import BugLocaliser
from engine.campaign.project import Project
from engine.campaign.store import Store
from engine.equivalence import compare_domains
from engine.pddl import parse_domain
from engine.task.task import Task

settings.register_profile(
    "hostile",
    settings.get_profile("plumbline"),
    derandomize=True,
    database=None,
    max_examples=40,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="package")
def task() -> Task:
    return ferry_task()


@pytest.fixture(scope="package")
def reading(tmp_path_factory: pytest.TempPathFactory, task: Task) -> dict[str, Read]:
    return readers(tmp_path_factory.mktemp("hostile"), task)


@pytest.fixture(scope="package")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with something in every table."""
    folder = tmp_path_factory.mktemp("sound")
    path = make_workspace(folder, CONFIG.replace("size = 30", "size = 4"))
    with Store.open(path) as store:
        bug = store.bug(store.bugs()[0].id)
        localiser = BugLocaliser(store)
        localiser.keep(bug, localiser.localise(bug))
        domain = str(folder / "domain.pddl")
        config = parse_config((FERRY / "campaign.toml").read_text(), FERRY / "campaign.toml")
        store.set_project(
            Project(domain, (str(folder / "p2.pddl"),), ("builtin:gc",), draft=config)
        )
        file = read_file(domain)
        model = parse_domain(file.content.decode())
        store.add_comparison(file, file, {}, compare_domains(model, model).to_json())
        store.save_training(str(folder / "training"), {"plan": {}, "epochs": []})
        store.connection.execute("PRAGMA journal_mode = DELETE")
    return path


@pytest.fixture
def changed(sound: Path, tmp_path: Path) -> Callable[..., Path]:
    """A copy of the sound workspace after some statements."""
    from reference.hostile_workspaces import altered

    def change(*statements: str) -> Path:
        return altered(sound, tmp_path / "stranger.plumb", *statements)

    return change
