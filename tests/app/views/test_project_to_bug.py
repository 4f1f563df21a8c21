"""The first minutes: a project is there, one key runs a campaign, a click leads to a bug."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from reference.screens import PATIENCE

from app.models.campaign_settings import default_config
from app.services.document import Document
from app.services.settings import Settings
from app.services.theme import Theme
from app.shell.main_window import MainWindow
from app.views.bugs.page import BugsPage
from app.views.campaign.campaign_view import CampaignView
from app.views.campaign.page import CampaignPage
from engine.records.project import Project
from engine.workspace.workspace import Workspace

FERRY = Path(__file__).resolve().parents[3] / "resources" / "examples" / "ferry"


def workspace(folder: Path) -> Path:
    for file in ("domain.pddl", "problems/p03.pddl"):
        shutil.copy(FERRY / file, folder)
    problems = (str(folder / "p03.pddl"),)
    project = Project(str(folder / "domain.pddl"), problems, ("builtin:gc",))
    config = default_config(project)
    config = replace(config, fuzzing=replace(config.fuzzing, size=8))
    with Workspace.create(folder / "w.plumb") as store:
        store.set_project(replace(project, draft=config))
    return folder / "w.plumb"


@pytest.mark.processes
def test_from_the_project_to_a_bug(
    qtbot: QtBot, theme: Theme, settings: Settings, tmp_path: Path
) -> None:
    window = MainWindow(Document.open(workspace(tmp_path)), settings, theme)
    qtbot.addWidget(window)
    with qtbot.waitExposed(window, timeout=PATIENCE):
        window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow, timeout=PATIENCE)
    window.show_page("project")
    QTest.keyClick(window, Qt.Key.Key_F5)  # even before the files have been checked
    page = window.current_page
    assert isinstance(page, CampaignPage)
    qtbot.waitUntil(lambda: page.list.lines.rowCount() == 1, timeout=PATIENCE)
    qtbot.waitUntil(lambda: not page.controller.is_busy, timeout=PATIENCE)
    qtbot.waitUntil(lambda: page.monitor.is_complete, timeout=PATIENCE)
    assert len(page.monitor.points)
    view = page.stack.currentWidget()
    assert isinstance(view, CampaignView)
    view.tabs.setCurrentWidget(view.oracles)
    scatter = view.oracles.scatter
    qtbot.waitUntil(lambda: not scatter.is_empty, timeout=PATIENCE)
    scatter.setFocus()
    QTest.keyClick(scatter, Qt.Key.Key_Right)
    QTest.keyClick(scatter, Qt.Key.Key_Return)
    bugs = window.current_page
    assert isinstance(bugs, BugsPage)
    qtbot.waitUntil(lambda: bugs.view.current_bug() is not None, timeout=PATIENCE)
    bugs.filter.focus()
    window.show_page("campaign")
    window.show_page("bugs")
    assert window.focusWidget() is bugs.view, "letters decide rather than filter"
    assert not [m for m in window.context.messages.history if m.level == "error"]
    window.context.jobs.stop_all(wait=True)
    qtbot.waitUntil(lambda: not window.context.jobs.running, timeout=PATIENCE)
    window.close()
