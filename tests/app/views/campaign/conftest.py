"""Campaign screens on small workspaces."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot
from reference.campaign_screen import STATES, prepared, small
from reference.screens import PATIENCE
from reference.slow_policy import write_slow_policy

from app.services.context import Context
from app.services.settings import grant
from app.views.campaign.page import CampaignPage
from engine.records.project import Project
from engine.usecases.campaign import run
from engine.workspace.workspace import Workspace


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return prepared(tmp_path / "files")


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with two finished campaigns of different policies."""
    folder = prepared(tmp_path_factory.mktemp("finished") / "files")
    path = folder / "w.plumb"
    config = small(folder)
    with Workspace.create(path) as store:
        store.set_project(Project(config.domain, config.problems, config.policies, draft=config))
        run(config, store)
        run(small(folder, "builtin:optimal"), store)
    return path


@pytest.fixture
def open_page(qtbot: QtBot, make_context: Callable[..., Context]) -> Callable[[Path], CampaignPage]:
    def make(workspace: Path) -> CampaignPage:
        page = CampaignPage(make_context(workspace))
        qtbot.addWidget(page)
        page.resize(1196, 750)
        for action in page.page_actions():
            page.addAction(action)  # as the window's menu does
        with qtbot.waitExposed(page, timeout=PATIENCE):
            page.show()
        page.activateWindow()  # shortcuts are for the active window
        qtbot.waitUntil(page.isActiveWindow, timeout=PATIENCE)
        fatal = QAbstractItemModelTester.FailureReportingMode.Fatal
        QAbstractItemModelTester(page.list.lines, fatal, page)
        return page

    return make


@pytest.fixture
def page(open_page: Callable[[Path], CampaignPage], tmp_path: Path, folder: Path) -> CampaignPage:
    config = small(folder)
    with Workspace.create(tmp_path / "w.plumb") as store:
        store.set_project(Project(config.domain, config.problems, config.policies, draft=config))
    return open_page(tmp_path / "w.plumb")


@pytest.fixture
def endless(page: CampaignPage, folder: Path) -> Callable[[], None]:
    """A campaign that does not come to its end before it is let go."""
    hold, file = folder / "hold", folder / "slow.py"
    hold.touch()
    write_slow_policy(file, hold)
    config = small(folder, f"{file}:factory", size=STATES)
    project = Project(config.domain, config.problems, config.policies)
    grant(page.context.settings, f"{file}:factory")
    page.context.document.store.set_project(replace(project, draft=config))
    page.context.document.notify("project")
    page.form.show_config(config)
    return hold.unlink
