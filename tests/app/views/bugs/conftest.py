"""The bug browser on a copy of a workspace with real bugs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from reference.screens import PATIENCE

from app.services.context import Context
from app.views.bugs.page import BugsPage


@pytest.fixture
def make_page(
    qtbot: QtBot, make_context: Callable[..., Context]
) -> Iterator[Callable[[Path], BugsPage]]:
    pages: list[BugsPage] = []

    def make(path: Path) -> BugsPage:
        page = BugsPage(make_context(path))
        page.resize(1180, 760)
        pages.append(page)
        with qtbot.waitActive(page, timeout=PATIENCE):
            page.show()
            page.activateWindow()
        qtbot.waitUntil(lambda: page.feed.complete, timeout=PATIENCE)
        return page

    yield make
    for page in pages:
        page.close()
        page.deleteLater()


@pytest.fixture
def page(qtbot: QtBot, make_page: Callable[[Path], BugsPage], workspace: Path) -> BugsPage:
    """The browser, with everything read and the first bug shown."""
    page = make_page(workspace)
    qtbot.waitUntil(lambda: page.detail.known is not None, timeout=PATIENCE)
    page.view.setFocus()
    return page
