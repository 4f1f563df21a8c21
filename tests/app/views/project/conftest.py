"""A small campaign, and all that it gives to other tools."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from reference.bug_workspace import DOMAIN, InThreads, problem_text
from reference.screens import PATIENCE

from app.services.context import Context
from app.views.project.page import ProjectPage
from engine.campaign.config_reader import read_config
from engine.campaign.exchange import FORMATS, export_unit, unit_called
from engine.records.project import Project
from engine.usecases.campaign import run
from engine.workspace.workspace import Workspace

CONFIG = """
domain = "domain.pddl"
problems = ["p2.pddl"]
policies = ["builtin:hadd"]
fuzzing.size = 24
testing.oracles = ["astar"]
testing.skip_known_bugs = false
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two problems, `w.plumb` with a campaign on the second, and `unit.*` with what it found."""
    folder = tmp_path_factory.mktemp("exchange")
    (folder / "domain.pddl").write_text(DOMAIN)
    for loads in (1, 2):
        (folder / f"p{loads}.pddl").write_text(problem_text(loads))
    (folder / "campaign.toml").write_text(CONFIG)
    config = read_config(folder / "campaign.toml")
    with Workspace.create(folder / "w.plumb") as store:
        store.set_project(Project(config.domain, config.problems, config.policies, draft=config))
        run(config, store, executor=InThreads(1))
        for name, form in FORMATS.items():
            export_unit(store, unit_called(store, None), name, folder / f"unit{form.suffix}")
    return folder


@pytest.fixture
def show(qtbot: QtBot) -> Callable[[QWidget], None]:
    def show(page: QWidget) -> None:
        qtbot.addWidget(page)
        page.resize(1196, 750)
        with qtbot.waitExposed(page, timeout=PATIENCE):
            page.show()

    return show


@pytest.fixture
def page(context: Context, show: Callable[[QWidget], None]) -> ProjectPage:
    page = ProjectPage(context)
    show(page)
    return page
