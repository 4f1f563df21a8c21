"""What tests of the campaign screen do alike: small campaigns, and waiting for them."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from app.models.campaign_settings import default_config
from app.services.folders import EXAMPLES
from app.views.campaign.campaign_view import CampaignView
from app.views.campaign.page import CampaignPage
from engine.records.config import CampaignConfig
from engine.records.project import Project
from reference.screens import PATIENCE

FERRY = EXAMPLES / "ferry"
STATES = 20
"""Of a campaign that waits until it is let go."""


def small(folder: Path, policy: str = "builtin:gc", size: int = 12) -> CampaignConfig:
    """A campaign of seconds, whose greedy policy has bugs."""
    project = Project(str(folder / "domain.pddl"), (str(folder / "p03.pddl"),), (policy,))
    config = default_config(project)
    testing = replace(config.testing, oracles=("lookahead:depth=1", "astar"), skip_known_bugs=False)
    return replace(config, fuzzing=replace(config.fuzzing, size=size), testing=testing)


def prepared(folder: Path) -> Path:
    folder.mkdir()
    shutil.copy(FERRY / "domain.pddl", folder)
    shutil.copy(FERRY / "problems" / "p03.pddl", folder)
    return folder


def copy(workspace: Path, target: Path) -> None:
    """With what has not been written into the main file yet."""
    with closing(sqlite3.connect(workspace)) as source, closing(sqlite3.connect(target)) as new:
        source.backup(new)


def checked(qtbot: QtBot, page: CampaignPage) -> None:
    qtbot.waitUntil(lambda: not page.files.is_checking, timeout=PATIENCE)


def ended(qtbot: QtBot, page: CampaignPage) -> None:
    qtbot.waitUntil(lambda: not page.controller.is_busy, timeout=PATIENCE)
    qtbot.waitUntil(lambda: page.monitor.is_complete, timeout=PATIENCE)


def view_of(page: CampaignPage) -> CampaignView:
    view = page.stack.currentWidget()
    assert isinstance(view, CampaignView)
    return view


def figures(page: CampaignPage) -> dict[str, str]:
    return {name: label.text() for name, label in view_of(page).figures.numbers.items()}


def started(qtbot: QtBot, page: CampaignPage) -> CampaignView:
    checked(qtbot, page)
    page.run()
    qtbot.waitUntil(
        lambda: page.monitor.progress is not None and page.monitor.progress.states > 0,
        timeout=PATIENCE,
    )
    return view_of(page)
